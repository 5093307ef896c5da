/** Spikes and input events: a short line for each, time along, neurons down. */
import { scaleLinear, type ScaleLinear } from 'd3-scale';
import { CHARACTER_PX, FONT_PX, type Palette, picture, shortened, svg, text } from './figure.js';

/** Rows that stand together. */
export interface RasterBand {
  /** Empty where it has no name. */
  readonly label: string;
  readonly rows: number;
}

export interface RasterMarks {
  /** Empty where there is nothing to tell apart. */
  readonly label: string;
  readonly timesMs: readonly number[];
  /** Row of each, from the top. */
  readonly rows: readonly number[];
}

export interface RasterPanel {
  readonly title: string;
  readonly bands: readonly RasterBand[];
  /** Each in a colour of its own. */
  readonly marks: readonly RasterMarks[];
}

const MARGIN = { top: 24, right: 14, bottom: 42, left: 14 };
const PANEL = { lowest: 40, highest: 560, gap: 14 };
const ROW = 14;
const LEGEND_LINE = 18;
const SMALLEST_FONT_PX = 8;
const WIDEST_LABEL = 130;
const GAP = 6;
/** A mark has to be seen where rows are thinner than a pixel. */
const LOWEST_MARK = 1.5;

/** @param durationMs of the trial, which the panels share */
export function rasterFigure(
  panels: readonly RasterPanel[],
  durationMs: number,
  label: string,
  width: number,
  palette: Palette,
): SVGSVGElement {
  const labels = panels.flatMap(({ bands }) => bands.map((band) => band.label.length));
  const labelWidth = Math.min(WIDEST_LABEL, 0.3 * width, Math.max(0, ...labels) * CHARACTER_PX + GAP);
  const left = MARGIN.left + labelWidth;
  const x = scaleLinear([0, durationMs], [left, width - MARGIN.right]);
  const children: Node[] = [];
  let top = 0;
  for (const panel of panels) {
    const { nodes, height } = panelOf(panel, x, labelWidth, palette);
    children.push(svg('g', { transform: `translate(0 ${top})` }, ...nodes));
    top += height + PANEL.gap;
  }
  const bottom = top - PANEL.gap;
  children.push(
    svg('line', { x1: left, x2: width - MARGIN.right, y1: bottom, y2: bottom, stroke: palette.muted }),
    ...x
      .ticks(Math.max(2, Math.floor((width - left) / 70)))
      .flatMap((tick) => [
        svg('line', { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4, stroke: palette.muted }),
        text(String(tick), x(tick), bottom + 17, palette.muted, { 'text-anchor': 'middle' }),
      ]),
    text('Time (ms)', (left + width) / 2, bottom + 34, palette.muted, { 'text-anchor': 'middle' }),
  );
  return picture(width, bottom + MARGIN.bottom, label, palette, children);
}

function panelOf(
  { title, bands, marks }: RasterPanel,
  x: ScaleLinear<number, number>,
  labelWidth: number,
  palette: Palette,
): { readonly nodes: Node[]; readonly height: number } {
  const named = marks.filter(({ label }) => label !== '');
  const top = MARGIN.top + (named.length > 0 ? LEGEND_LINE : 0);
  const count = Math.max(
    1,
    bands.reduce((sum, { rows }) => sum + rows, 0),
  );
  const height = Math.min(PANEL.highest, Math.max(PANEL.lowest, ROW * count));
  const row = height / count;
  const markHeight = Math.max(LOWEST_MARK, 0.8 * row);
  const nodes: Node[] = [text(title, MARGIN.left, 15, palette.text, { 'font-weight': 600 })];
  let legendX = MARGIN.left;
  named.forEach(({ label }, at) => {
    nodes.push(
      svg('rect', {
        x: legendX,
        y: MARGIN.top,
        width: 10,
        height: 10,
        fill: colourOf(marks, at, palette),
      }),
      text(label, legendX + 15, MARGIN.top + 9, palette.text),
    );
    legendX += 15 + label.length * CHARACTER_PX + 14;
  });
  const right = x.range()[1]!;
  // One size for all names: that of a row, or where rows are thin the usual one, for the bands that have room.
  const size = row < SMALLEST_FONT_PX ? FONT_PX : Math.min(FONT_PX, row);
  let above = 0;
  for (const { label, rows } of bands) {
    const from = top + above * row;
    above += rows;
    const height = rows * row;
    if (label !== '') {
      // Where there is no room for its name, a band tells it to those who point at it.
      const ground = { x: 0, y: from, width: right, height, fill: 'none', 'pointer-events': 'all' };
      nodes.push(svg('rect', ground, svg('title', {}, label)));
    }
    if (height < size) continue;
    nodes.push(svg('line', { x1: MARGIN.left, x2: right, y1: from, y2: from, stroke: palette.line }));
    if (label === '') continue;
    nodes.push(
      text(shortened(label, labelWidth), MARGIN.left, from + height / 2 + 0.35 * size, palette.muted, {
        'font-size': size,
        'pointer-events': 'none',
      }),
    );
  }
  marks.forEach(({ timesMs, rows }, at) => {
    if (rows.length === 0) return;
    const lines = rows.map(
      (each, mark) =>
        `M${x(timesMs[mark]!).toFixed(1)} ${(top + (each + 0.5) * row - markHeight / 2).toFixed(1)}v${markHeight.toFixed(1)}`,
    );
    nodes.push(
      svg('path', {
        class: 'spikes',
        'pointer-events': 'none',
        d: lines.join(''),
        stroke: colourOf(marks, at, palette),
        'stroke-width': 1.3,
      }),
    );
  });
  return { nodes, height: top + height };
}

function colourOf(marks: readonly RasterMarks[], at: number, { series, text: ink }: Palette): string {
  return marks.length === 1 && marks[0]!.label === '' ? ink : series[at % series.length]!;
}
