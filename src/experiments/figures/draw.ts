/** Draws a figure as a self-contained SVG. The page, its saved files and the commands use the same drawing. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { type CellTexts, drawMark, type Place, roomInCells, type Scale } from './draw-marks.js';
import type { Axis, Figure, LegendEntry, Panel, Section } from './figure.js';
import { colourOf, type Palette, PAPER } from './palette.js';
import { factLines } from './provenance.js';
import { element, groupAt, lineAt, svgText, type SvgNode, textAt, titles } from './svg.js';
import { CHARACTER_PX, DIGIT_PX, FONT_PX, linesOf, longest, shortened } from './text-size.js';

const TITLE_CHARACTER_PX = 9;
const GAP = 10;
const LINE = 18;
const MARGIN = { top: 26, right: 18, left: 50, axis: 44 };
const MAX_LABELS = 320;
/** Maximum share of a panel's width for labels. */
const LABELS_SHARE = 0.42;
/** Approximate maximum number of grid lines. */
const GRID_TICKS = 6;
/** Height of an axis without a name, in pixels. */
const UNNAMED_AXIS = 26;
/** Labels show only the last digits of long ids. The first digits are the same in all ids of a data set such as FlyWire's. */
const SHOWN_DIGITS = 9;
const LONG_ID = /\b\d{13,}\b/g;
const FONT = 'system-ui, Helvetica, Arial, sans-serif';
/** A row that is thinner has no label of its own; a band of several rows may have one. */
const SMALLEST_FONT_PX = 8;
/** Maximum height of all panels, about a metre in print. Nobody reads more. */
const MAX_HEIGHT = 4000;
const SCALE = { width: 200, height: 12, top: 26, total: 62 };
const GRADIENT = 'heat-scale';

export interface DrawOptions {
  readonly palette?: Palette;
  /** Prefix of ids inside the SVG, because ids of several figures on a page must differ. */
  readonly idPrefix?: string;
  /** The font family, as in CSS. */
  readonly font?: string;
  /** Length of a unit of the figure in millimetres, for print. Without it a unit is a pixel. */
  readonly unitMm?: number;
}

/** @returns one svg element as text; equal figures give equal text */
export function drawSvg(figure: Figure, width: number, options: DrawOptions = {}): string {
  return svgText(drawFigure(figure, width, options));
}

/** @returns one svg element */
export function drawFigure(
  figure: Figure,
  width: number,
  { palette = PAPER, idPrefix = '', font = FONT, unitMm }: DrawOptions,
): SvgNode {
  const { title, subtitles = [], sections, label } = figure;
  const drawn: SvgNode[] = [];
  let top = 0;
  const write = (content: string, characterPx: number, colour: string, pen = {}) => {
    for (const line of linesOf(content, (width - 2 * GAP) / characterPx)) {
      drawn.push(textAt(line, GAP, top + 22, colour, pen));
      top += LINE;
    }
  };
  if (title !== undefined) {
    write(title, TITLE_CHARACTER_PX, palette.text, { 'font-size': 15, 'font-weight': 600 });
    for (const subtitle of subtitles) write(subtitle, CHARACTER_PX, palette.muted);
    top += LINE;
  }
  const hasCells = sections.some(({ scale }) => scale !== undefined);
  const gradient = `${idPrefix}${GRADIENT}`;
  if (hasCells) drawn.push(gradientOf(palette, gradient));
  const { nodes, height, omitted } = drawSections(sections, top, width, palette, gradient);
  drawn.push(...nodes);
  top += height;
  if (omitted !== '') {
    top -= GAP;
    write(omitted, DIGIT_PX, palette.text);
    top += LINE;
  }
  if (title !== undefined && figure.note !== '') {
    // A file needs the note inside, because no page around it shows it.
    top -= 8;
    write(figure.note, DIGIT_PX, palette.muted);
    top += LINE + 8 - GAP;
  }
  const millimetres = (units: number) => Math.round(100 * units * unitMm!) / 100;
  const size = { width: Math.round(width), height: Math.max(1, Math.ceil(top)) };
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      ...(unitMm === undefined
        ? size
        : { width: `${millimetres(size.width)}mm`, height: `${millimetres(size.height)}mm` }),
      viewBox: `0 0 ${size.width} ${size.height}`,
      // Assistive technology reads single cells of a group, but not of an image.
      role: hasCells ? 'group' : 'img',
      'aria-label': label,
      'font-family': font,
      'font-size': FONT_PX,
    },
    ...metadataOf(figure),
    element('rect', { ...size, fill: palette.background }),
    ...drawn,
  );
}

/** Leaves out the last panels if they would make the figure too high. @param top y of the first section in the figure */
function drawSections(
  sections: readonly Section[],
  top: number,
  width: number,
  palette: Palette,
  gradient: string,
): Drawn & { readonly omitted: string } {
  const arranged = sections.map((section) => arrangementOf(section, width));
  const rooms = arranged.flatMap(({ panels, panelWidth, room }) =>
    panels.map((panel) => roomInCells(panel.marks, placeOf(panel, panelWidth, room, palette))),
  );
  const cellTexts = Math.min(2, ...rooms) as CellTexts;
  const drawn: SvgNode[] = [];
  let y = top;
  let omitted = 0;
  for (const { scale, panels, columns, panelWidth, room } of arranged) {
    for (let first = 0; first < panels.length; first += columns) {
      if (omitted > 0) {
        omitted += panels.length - first;
        break;
      }
      const row = panels
        .slice(first, first + columns)
        .map((panel) => drawPanel(panel, placeOf(panel, panelWidth, room, palette), room, cellTexts));
      const height = Math.max(...row.map((each) => each.height));
      const scaleHeight = first === 0 && scale !== undefined ? SCALE.total : 0;
      // The first row is drawn in any case.
      if (y > top && y + scaleHeight + height - top > MAX_HEIGHT) {
        omitted = panels.length - first;
        break;
      }
      if (scaleHeight > 0) drawn.push(groupAt(0, y, scaleOf(scale!, palette, gradient)));
      y += scaleHeight;
      drawn.push(...row.map(({ nodes }, column) => groupAt(Math.round(column * panelWidth), y, nodes)));
      y += height;
    }
  }
  const all = sections.reduce((sum, { panels }) => sum + panels.length, 0);
  const note = `${omitted} of ${all} panels are left out, because the figure would be too high. The data files have all numbers.`;
  return { nodes: drawn, height: y - top, omitted: omitted > 0 ? note : '' };
}

/** The panels of a section, their width, and the room that they share. */
function arrangementOf(section: Section, width: number) {
  const { smallestWidth, largestWidth = width, scale, sharesX = false } = section;
  const panels = section.panels.map(withShortIds);
  const columns = Math.max(1, Math.min(panels.length, Math.floor(width / smallestWidth)));
  const panelWidth = Math.min(largestWidth, width / columns);
  // Panels below each other have aligned axes.
  const room: Room = {
    labels: Math.max(...panels.map(({ y }) => labelWidthOf(y))),
    notes: sharesX ? Math.max(...panels.map(notesOf)) : undefined,
    sharesX,
  };
  return { scale, panels, columns, panelWidth, room };
}

/** Title and facts as metadata of the file. */
function metadataOf({ title, metadata }: Figure): SvgNode[] {
  if (title === undefined || metadata === undefined) return [];
  return [...titles(title), element('metadata', {}, factLines(metadata).join('\n'))];
}

/** Copies a panel with shortened ids in labels. The titles of marks keep whole ids. */
function withShortIds(panel: Panel): Panel {
  const short = (content: string) => content.replace(LONG_ID, (id) => `…${id.slice(-SHOWN_DIGITS)}`);
  const ofAxis = (axis: Axis): Axis =>
    'bands' in axis
      ? { ...axis, bands: axis.bands.map((band) => ({ ...band, label: short(band.label) })) }
      : axis;
  return {
    ...panel,
    title: short(panel.title),
    x: ofAxis(panel.x),
    y: ofAxis(panel.y),
    ...(panel.legend && { legend: panel.legend.map((entry) => ({ ...entry, label: short(entry.label) })) }),
  };
}

function labelWidthOf(axis: Axis): number {
  if (!('bands' in axis)) return 0;
  const name = axis.label === '' ? 0 : LINE;
  return name + Math.min(MAX_LABELS, longest(axis.bands.map(({ label }) => label)) * CHARACTER_PX + GAP);
}

function notesOf({ y }: Panel): number {
  return 'bands' in y ? longest(y.bands.map(({ note = '' }) => note)) : 0;
}

/** The common space for labels (in pixels) and for notes (in characters) of the panels of a section. */
interface Room {
  readonly labels: number;
  readonly notes: number | undefined;
  readonly sharesX: boolean;
}

function placeOf(panel: Panel, width: number, room: Room, palette: Palette): Place {
  const { title, numbers, x: xAxis, y: yAxis } = panel;
  const notes = room.notes ?? notesOf(panel);
  const labelled = GAP + Math.min(LABELS_SHARE * width, room.labels);
  const ofBands = 'bands' in yAxis ? labelled : MARGIN.left;
  const left = room.sharesX ? Math.max(MARGIN.left, labelled) : ofBands;
  const right = width - (notes === 0 ? MARGIN.right : notes * DIGIT_PX + 2 * GAP);
  const top = (title === '' ? GAP : MARGIN.top) + (numbers === undefined ? 0 : LINE);
  const bottom = top + panel.height;
  return {
    x: numberScale(xAxis, left, right),
    y: 'bands' in yAxis ? numberScale(yAxis, top, bottom) : numberScale(yAxis, bottom, top),
    left,
    right,
    top,
    bottom,
    width,
    palette,
  };
}

function drawPanel(
  { title, numbers, x: xAxis, y: yAxis, marks, legend = [] }: Panel,
  place: Place,
  room: Room,
  cellTexts: CellTexts,
): Drawn {
  const { left, right, bottom, width, palette } = place;
  const axisPx = room.sharesX && xAxis.label === '' ? UNNAMED_AXIS : MARGIN.axis;
  const key = legendOf(legend, width, bottom + axisPx, palette);
  const heading = shortened(title, right);
  const nodes = [
    ...(title === '' ? [] : [textAt(heading, Math.min(left, GAP), 15, palette.text, { 'font-weight': 600 })]),
    ...(numbers === undefined ? [] : [textAt(numbers, Math.min(left, GAP), 15 + LINE, palette.text)]),
    ...xAxisOf(xAxis, place),
    ...yAxisOf(yAxis, place),
    ...marks.flatMap((mark) => drawMark(mark, place, cellTexts)),
    ...key.nodes,
  ];
  return { nodes, height: bottom + axisPx + key.height };
}

interface Drawn {
  readonly nodes: readonly SvgNode[];
  readonly height: number;
}

function numberScale(axis: Axis, from: number, to: number): Scale {
  if ('bands' in axis) {
    const rows = axis.bands.reduce((before, { size = 1 }) => before + size, 0);
    return scaleLinear([0, Math.max(1, rows)], [from, to]);
  }
  if (axis.isLog) return scaleLog(axis.domain, [from, to]);
  const [low, high] = axis.domain;
  // A single value is drawn in the middle.
  const scale = scaleLinear(low === high ? [low - 1, high + 1] : axis.domain, [from, to]);
  return axis.hasGrid ? scale.nice(4) : scale;
}

function xAxisOf(
  axis: Axis,
  { x, left, right, top, bottom, width, palette: { muted, line } }: Place,
): SvgNode[] {
  const middle = { 'text-anchor': 'middle' };
  const centre = (left + right) / 2;
  // The name may be longer than the axis.
  const room = 2 * Math.min(centre, width - centre) - GAP;
  const name = textAt(shortened(axis.label, room), centre, bottom + 34, muted, middle);
  if ('bands' in axis) {
    const needed = longest(axis.bands.map(({ label }) => label)) * CHARACTER_PX + GAP;
    const step = Math.max(1, Math.ceil(needed / (x(1) - x(0))));
    const labels = axis.bands.flatMap(({ label }, at) =>
      at % step === 0 ? [textAt(label, x(at + 0.5), bottom + 15, muted, middle)] : [],
    );
    return [...labels, name];
  }
  const count = Math.max(2, Math.floor((right - left) / 70));
  const most = axis.hasGrid ? Math.min(GRID_TICKS, count) : count;
  const given = axis.ticks?.filter((tick) => tick >= axis.domain[0] && tick <= axis.domain[1]);
  const ticks = (given && fits(given, x) ? given : ticksOf(axis, x, most)).flatMap((tick) => [
    axis.hasGrid
      ? lineAt([x(tick), top], [x(tick), bottom], line)
      : lineAt([x(tick), bottom], [x(tick), bottom + 4], muted),
    // The text of the last tick ends at the edge of the panel at the latest.
    textAt(
      tickText(tick),
      Math.min(x(tick), width - (DIGIT_PX * tickText(tick).length) / 2),
      bottom + 17,
      muted,
      middle,
    ),
  ]);
  return [...(axis.hasGrid ? [] : [lineAt([left, bottom], [right, bottom], muted)]), ...ticks, name];
}

function yAxisOf(axis: Axis, { y, left, right, top, bottom, palette }: Place): SvgNode[] {
  const { muted, line } = palette;
  const end = { 'text-anchor': 'end' };
  if (!('bands' in axis)) {
    return ticksOf(axis, y, 4).flatMap((tick) => [
      lineAt([left, y(tick)], [right, y(tick)], line),
      textAt(tickText(tick), left - 6, y(tick) + 4, muted, end),
    ]);
  }
  const rowPx = y(1) - y(0);
  // All labels have one size: the height of a row or, if rows are thin, the usual size; then only bands with room get one.
  const fontPx = rowPx < SMALLEST_FONT_PX ? FONT_PX : Math.min(FONT_PX, rowPx);
  let from = 0;
  const placed = axis.bands.map(({ label, note = '', size = 1, isMarked = false }) => {
    const [above, below] = [y(from), y((from += size))];
    const isThick = below - above >= fontPx;
    const base = (above + below) / 2 + 0.35 * fontPx;
    return { label, note, above, base, isThick, isMarked, isRow: size === 1 && rowPx >= fontPx };
  });
  const marked = placed.filter(({ isMarked }) => isMarked).map(({ base }) => base);
  let last = -Infinity;
  const bands = placed.flatMap(({ label, note, above, base, isThick, isMarked, isRow }) => {
    // A marked label may use the room of its neighbours.
    const isFree = isMarked
      ? base - last >= fontPx
      : isThick && !marked.some((each) => Math.abs(each - base) < fontPx);
    if (!isFree) return [];
    if (isMarked) last = base;
    const pen = { ...end, 'font-size': fontPx, 'font-weight': isMarked ? 600 : undefined };
    return [
      ...(isRow || !isThick ? [] : [lineAt([GAP, above], [right, above], line)]),
      textAt(shortened(label, left - GAP), left - 6, base, palette.text, pen),
      ...(note === '' ? [] : [textAt(note, right + GAP, base, muted)]),
    ];
  });
  if (axis.label === '') return bands;
  const name = textAt(shortened(axis.label, bottom - top + MARGIN.axis), 0, 0, muted, {
    'text-anchor': 'middle',
  });
  const turned = `translate(13 ${Math.round((top + bottom) / 2)}) rotate(-90)`;
  return [...bands, element('g', { transform: turned }, name)];
}

function tickText(tick: number): string {
  return String(tick).replace('-', '−');
}

/** @param ticks ascending */
function fits(ticks: readonly number[], x: Scale): boolean {
  return ticks.every((tick, at) => {
    const before = ticks[at - 1];
    const needed = (CHARACTER_PX * (String(tick).length + String(before).length)) / 2 + GAP;
    return before === undefined || x(tick) - x(before) >= needed;
  });
}

function ticksOf(axis: Axis, scale: Scale, count: number): number[] {
  const isLog = !('bands' in axis) && axis.isLog;
  return scale.ticks(count).filter((tick) => !isLog || Number.isInteger(Math.log10(tick)));
}

function gradientOf({ heat }: Palette, id: string): SvgNode {
  const stops = heat.map((colour, at) =>
    element('stop', { offset: `${(100 * at) / (heat.length - 1)}%`, 'stop-color': colour }),
  );
  return element('defs', {}, element('linearGradient', { id }, ...stops));
}

function scaleOf(
  { label, highest }: NonNullable<Section['scale']>,
  palette: Palette,
  gradient: string,
): SvgNode[] {
  const { width, height, top } = SCALE;
  const x = scaleLinear([0, highest || 1], [GAP, GAP + width]);
  // If all numbers are 0, the scale has one colour.
  const fill = highest === 0 ? palette.heat[0]! : `url(#${gradient})`;
  const ticks = (highest === 0 ? [0] : x.ticks(4)).flatMap((tick) => [
    lineAt([x(tick), top + height], [x(tick), top + height + 4], palette.muted),
    textAt(String(tick), x(tick), top + height + 16, palette.muted, { 'text-anchor': 'middle' }),
  ]);
  return [
    textAt(label, GAP, 16, palette.text, { 'font-weight': 600 }),
    element('rect', { class: 'scale', x: GAP, y: top, width, height, fill, stroke: palette.line }),
    ...ticks,
  ];
}

function legendOf(legend: NonNullable<Panel['legend']>, width: number, top: number, palette: Palette): Drawn {
  let [x, y] = [GAP, top];
  const nodes = legend.flatMap((entry) => {
    const shown = shortened(entry.label, width - 26 - 2 * GAP);
    const needed = 26 + shown.length * 7 + 14;
    if (x > GAP && x + needed > width) [x, y] = [GAP, y + LINE];
    const drawn = [sampleOf(entry, x, y + 8, palette), textAt(shown, x + 26, y + 12, palette.text)];
    x += needed;
    return drawn;
  });
  return { nodes, height: legend.length === 0 ? 0 : y - top + LINE + GAP };
}

/** The sample of a legend entry. @param y the middle of its line of text */
function sampleOf(
  { paint, dash, sample = 'line' }: LegendEntry,
  x: number,
  y: number,
  palette: Palette,
): SvgNode {
  const colour = colourOf(paint, palette);
  switch (sample) {
    case 'line':
      return lineAt([x, y], [x + 20, y], colour, {
        'stroke-width': 2,
        'stroke-dasharray': dash || undefined,
      });
    case 'ring': {
      const ring = { cx: x + 10, cy: y, rx: 2, ry: 2, fill: 'none', stroke: colour, 'stroke-opacity': 0.7 };
      return element('ellipse', ring);
    }
    default:
      return element('rect', {
        x,
        y: y - 5,
        width: 20,
        height: 10,
        fill: colour,
        'fill-opacity': sample === 'band' ? 0.2 : 0.75,
      });
  }
}
