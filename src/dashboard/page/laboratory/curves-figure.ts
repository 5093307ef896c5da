/** Curves: a panel for each report, a line for each group, and a band of one standard deviation to either side. */
import { scaleLinear } from 'd3-scale';
import { rounded } from './rounded-rate.js';
import { DASHES, MOST_SERIES, type Palette, picture, shortened, svg, text } from './figure.js';
import type { Point, Series } from './readings.js';

export interface CurvesPanel {
  readonly report: string;
  readonly series: readonly Series[];
}

const PANEL_WIDTH = 420;
const PLOT_HEIGHT = 190;
const MARGIN = { top: 26, right: 14, bottom: 42, left: 50 };
const LEGEND_LINE = 18;
/** With more points the marks would hide the line. */
const MOST_MARKED = 25;

/** @param xLabel what is swept, with its unit */
export function curvesFigure(
  panels: readonly CurvesPanel[],
  xLabel: string,
  width: number,
  palette: Palette,
): SVGSVGElement {
  const columns = Math.max(1, Math.min(panels.length, Math.floor(width / PANEL_WIDTH)));
  const panelWidth = panels.length === 1 ? Math.min(width, 2 * PANEL_WIDTH) : width / columns;
  const children: Node[] = [];
  let top = 0;
  for (let first = 0; first < panels.length; first += columns) {
    const row = panels.slice(first, first + columns);
    const legendLines = Math.max(...row.map(({ series }) => legendOf(series, panelWidth).length));
    const height = MARGIN.top + LEGEND_LINE * legendLines + PLOT_HEIGHT + MARGIN.bottom;
    row.forEach((panel, column) => {
      const place = `translate(${Math.round(column * panelWidth)} ${top})`;
      children.push(
        svg(
          'g',
          { transform: place },
          ...panelOf(panel, xLabel, panelWidth, LEGEND_LINE * legendLines, palette),
        ),
      );
    });
    top += height;
  }
  const names = panels.map(({ report }) => report).join(', ');
  return picture(
    columns === 1 ? panelWidth : width,
    Math.max(top, 1),
    `Rates of ${names} over ${xLabel}; the table has the mean rates.`,
    palette,
    children,
  );
}

function panelOf(
  { report, series }: CurvesPanel,
  xLabel: string,
  width: number,
  legendHeight: number,
  palette: Palette,
): Node[] {
  const shown = series.slice(0, MOST_SERIES);
  const points = shown.flatMap((each) => each.points);
  const xs = points.map(({ x }) => x);
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const top = MARGIN.top + legendHeight;
  const [left, right] = [MARGIN.left, width - MARGIN.right];
  const bottom = top + PLOT_HEIGHT;
  // A single dose stands in the middle.
  const x = scaleLinear(low === high ? [low - 1, high + 1] : [low, high], [left, right]);
  const highest = Math.max(1, ...points.map(({ mean, sd = 0 }) => mean + sd));
  const y = scaleLinear([0, highest], [bottom, top]).nice(4);
  const middle = (left + right) / 2;
  return [
    text(`${report} (Hz)`, left, 16, palette.text, { 'font-weight': 600 }),
    ...legend(shown, width, palette),
    ...y
      .ticks(4)
      .flatMap((tick) => [
        svg('line', { x1: left, x2: right, y1: y(tick), y2: y(tick), stroke: palette.line }),
        text(String(tick), left - 6, y(tick) + 4, palette.muted, { 'text-anchor': 'end' }),
      ]),
    ...x
      .ticks(Math.max(2, Math.floor((right - left) / 60)))
      .flatMap((tick) => [
        svg('line', { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4, stroke: palette.muted }),
        text(String(tick), x(tick), bottom + 17, palette.muted, { 'text-anchor': 'middle' }),
      ]),
    text(shortened(xLabel, right - left), middle, bottom + 34, palette.muted, { 'text-anchor': 'middle' }),
    ...shown.flatMap((each, at) => lineOf(each, at, x, y, palette)),
  ];
}

function lineOf(
  { label, points }: Series,
  at: number,
  x: (value: number) => number,
  y: (value: number) => number,
  palette: Palette,
): Node[] {
  const colour = palette.series[at]!;
  const path = (heights: readonly (readonly [number, number])[]): string =>
    heights.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join('L');
  const upper = points.map((point) => [x(point.x), y(point.mean + (point.sd ?? 0))] as const);
  const lower = points.map((point) => [x(point.x), y(Math.max(0, point.mean - (point.sd ?? 0)))] as const);
  const hasSpread = points.some(({ sd = 0 }) => sd > 0);
  return [
    ...(hasSpread
      ? [
          svg('path', {
            class: 'band',
            d: `M${path([...upper, ...lower.reverse()])}Z`,
            fill: colour,
            'fill-opacity': 0.2,
          }),
        ]
      : []),
    svg('path', {
      class: 'mean',
      d: `M${path(points.map((point) => [x(point.x), y(point.mean)]))}`,
      fill: 'none',
      stroke: colour,
      'stroke-width': 1.8,
      'stroke-dasharray': DASHES[at]!,
    }),
    ...points.map((point) =>
      svg(
        'circle',
        { cx: x(point.x), cy: y(point.mean), r: points.length > MOST_MARKED ? 1.5 : 3, fill: colour },
        svg('title', {}, `${label} at ${point.x}: ${numbersOf(point)} Hz`),
      ),
    ),
  ];
}

function numbersOf({ mean, sd }: Point): string {
  return sd === undefined ? rounded(mean) : `${rounded(mean)} ± ${rounded(sd)}`;
}

interface LegendEntry {
  readonly at: number;
  readonly label: string;
  readonly x: number;
}

const SAMPLE_WIDTH = 26;

/** Lines of the key; a panel with one group that has no name needs none. */
function legendOf(series: readonly Series[], width: number): LegendEntry[][] {
  if (series.length === 1 && series[0]!.label === 'all') return [];
  const lines: LegendEntry[][] = [[]];
  let x = MARGIN.left;
  for (const [at, { label }] of series.slice(0, MOST_SERIES).entries()) {
    const room = width - MARGIN.right - MARGIN.left - SAMPLE_WIDTH;
    const shown = shortened(label, room);
    const needed = SAMPLE_WIDTH + shown.length * 7 + 14;
    if (x > MARGIN.left && x + needed > width - MARGIN.right) {
      lines.push([]);
      x = MARGIN.left;
    }
    lines.at(-1)!.push({ at, label: shown, x });
    x += needed;
  }
  return lines;
}

function legend(series: readonly Series[], width: number, palette: Palette): Node[] {
  return legendOf(series, width).flatMap((line, row) =>
    line.flatMap(({ at, label, x }) => {
      const y = MARGIN.top + LEGEND_LINE * row + 8;
      return [
        svg('line', {
          x1: x,
          x2: x + SAMPLE_WIDTH - 6,
          y1: y,
          y2: y,
          stroke: palette.series[at]!,
          'stroke-width': 2,
          'stroke-dasharray': DASHES[at]!,
        }),
        text(label, x + SAMPLE_WIDTH, y + 4, palette.text),
      ];
    }),
  );
}
