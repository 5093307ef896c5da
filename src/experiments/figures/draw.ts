/** Draws a figure as SVG that stands on its own: the same text on the page, in its files and in those of the commands. */
import { max } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import {
  type Axis,
  type Cell,
  type Figure,
  type LegendEntry,
  type Mark,
  type Paint,
  type Panel,
  type Section,
} from './figure.js';
import { factLines } from './provenance.js';
import { element, groupAt, lineAt, pathOf, svgText, type SvgNode, textAt, titles } from './svg.js';

export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  /** One for each series, apart in hue and in lightness. */
  readonly series: readonly string[];
  /** Colours of a heat map, from 0 to the highest number. They change steadily in lightness, so a copy in grey reads the same. */
  readonly heat: readonly string[];
}

/** For paper: the colours of the light theme on white. */
export const PAPER: Palette = {
  background: '#ffffff',
  text: '#1c1e24',
  muted: '#59606c',
  line: '#dcd8cd',
  series: ['#b93c0a', '#0a5fa8', '#1f6b35', '#7a35b8', '#8a6d00', '#a81f6b'],
  heat: ['#fff4dd', '#fdc873', '#f08a30', '#c24a10', '#7a2010', '#32090f'],
};

const FONT_PX = 12;
/** Wide enough for most characters of the font; names of types have many capitals. */
const CHARACTER_PX = 7.6;
const TITLE_CHARACTER_PX = 9;
/** Digits are narrower. */
const DIGIT_PX = 6.4;
const GAP = 10;
const LINE = 18;
const MARGIN = { top: 26, right: 18, left: 50, axis: 44 };
const LARGEST_LABELS = 320;
/** Share of a panel that labels may take. */
const LABELS_SHARE = 0.42;
/** Lines across a panel at most, about. */
const GRID_TICKS = 6;
/** Height of an axis without a name. */
const UNNAMED_AXIS = 26;
/** Digits of a long id that are shown: the others are the same in all ids of a data set such as FlyWire's. */
const SHOWN_DIGITS = 9;
const LONG_ID = /\b\d{13,}\b/g;
const FONT = 'system-ui, Helvetica, Arial, sans-serif';
/** Where rows are thinner, a label needs a band of several. */
const SMALLEST_FONT_PX = 8;
/** A spike has to be seen where rows are thinner than a pixel. */
const SMALLEST_TICK_PX = 1.5;
const SCALE = { width: 200, height: 12, top: 26, total: 62 };
const GRADIENT = 'heat-scale';

type Scale = ((value: number) => number) & { ticks(count?: number): number[] };

export interface DrawOptions {
  readonly palette?: Palette;
  /** Begins the ids inside, for pages with several figures. */
  readonly idPrefix?: string;
  /** Family of the font, as CSS has it. */
  readonly font?: string;
  /** Millimetres of a unit of the figure, for files that are printed; without it a unit is a pixel. */
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
  for (const section of sections) {
    const { smallestWidth, largestWidth = width, scale, sharesX = false } = section;
    const panels = section.panels.map(withShortIds);
    if (scale !== undefined) {
      drawn.push(groupAt(0, top, scaleOf(scale, palette, gradient)));
      top += SCALE.total;
    }
    const columns = Math.max(1, Math.min(panels.length, Math.floor(width / smallestWidth)));
    const panelWidth = Math.min(largestWidth, width / columns);
    // Axes below each other begin at one place.
    const room: Room = {
      labels: Math.max(...panels.map(({ y }) => labelWidthOf(y))),
      notes: sharesX ? Math.max(...panels.map(notesOf)) : undefined,
      sharesX,
    };
    for (let first = 0; first < panels.length; first += columns) {
      const row = panels
        .slice(first, first + columns)
        .map((panel) => drawPanel(panel, panelWidth, room, palette));
      drawn.push(...row.map(({ nodes }, column) => groupAt(Math.round(column * panelWidth), top, nodes)));
      top += Math.max(...row.map(({ height }) => height));
    }
  }
  if (title !== undefined && figure.note !== '') {
    // A file has no page around it that could say this.
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
      // Cells are read one by one, which those of an image are not.
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

/** Title and facts for those who read a file, not its picture. */
function metadataOf({ title, metadata }: Figure): SvgNode[] {
  if (title === undefined || metadata === undefined) return [];
  return [...titles(title), element('metadata', {}, factLines(metadata).join('\n'))];
}

/** A panel whose ids are their last digits; titles of marks have them whole. */
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
  return name + Math.min(LARGEST_LABELS, longest(axis.bands.map(({ label }) => label)) * CHARACTER_PX + GAP);
}

function notesOf({ y }: Panel): number {
  return 'bands' in y ? longest(y.bands.map(({ note = '' }) => note)) : 0;
}

/** Room for labels of bands, in pixels, and for notes, in characters, of the panels of a section. */
interface Room {
  readonly labels: number;
  readonly notes: number | undefined;
  readonly sharesX: boolean;
}

function drawPanel(panel: Panel, width: number, room: Room, palette: Palette): Drawn {
  const { title, x: xAxis, y: yAxis, marks, legend = [] } = panel;
  const notes = room.notes ?? notesOf(panel);
  const labelled = GAP + Math.min(LABELS_SHARE * width, room.labels);
  const left =
    'bands' in yAxis && !room.sharesX
      ? labelled
      : room.sharesX
        ? Math.max(MARGIN.left, labelled)
        : MARGIN.left;
  const right = width - (notes === 0 ? MARGIN.right : notes * DIGIT_PX + 2 * GAP);
  const top = title === '' ? GAP : MARGIN.top;
  const bottom = top + panel.height;
  const axisPx = room.sharesX && xAxis.label === '' ? UNNAMED_AXIS : MARGIN.axis;
  const place: Place = {
    x: numberScale(xAxis, left, right),
    y: 'bands' in yAxis ? numberScale(yAxis, top, bottom) : numberScale(yAxis, bottom, top),
    left,
    right,
    top,
    bottom,
    width,
    palette,
  };
  const key = legendOf(legend, width, bottom + axisPx, palette);
  const heading = shortened(title, right);
  const nodes = [
    ...(title === '' ? [] : [textAt(heading, Math.min(left, GAP), 15, palette.text, { 'font-weight': 600 })]),
    ...xAxisOf(xAxis, place),
    ...yAxisOf(yAxis, place),
    ...marks.flatMap((mark) => drawMark(mark, place)),
    ...key.nodes,
  ];
  return { nodes, height: bottom + axisPx + key.height };
}

interface Drawn {
  readonly nodes: readonly SvgNode[];
  readonly height: number;
}

interface Place {
  readonly x: Scale;
  readonly y: Scale;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly width: number;
  readonly palette: Palette;
}

function numberScale(axis: Axis, from: number, to: number): Scale {
  if ('bands' in axis) {
    const rows = axis.bands.reduce((before, { size = 1 }) => before + size, 0);
    return scaleLinear([0, Math.max(1, rows)], [from, to]);
  }
  if (axis.isLog) return scaleLog(axis.domain, [from, to]);
  const [low, high] = axis.domain;
  // A single value stands in the middle.
  const scale = scaleLinear(low === high ? [low - 1, high + 1] : axis.domain, [from, to]);
  return axis.hasGrid ? scale.nice(4) : scale;
}

function xAxisOf(
  axis: Axis,
  { x, left, right, top, bottom, width, palette: { muted, line } }: Place,
): SvgNode[] {
  const middle = { 'text-anchor': 'middle' };
  const centre = (left + right) / 2;
  // It may be longer than the axis.
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
    textAt(tickText(tick), x(tick), bottom + 17, muted, middle),
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
  // One size for all labels: that of a row, or where rows are thin the usual one, for the bands that have room.
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
    // A label that has to be seen takes the room of its neighbours.
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

function drawMark(mark: Mark, place: Place): SvgNode[] {
  const { x, y, palette } = place;
  if (mark.mark === 'cells') return cellsOf(mark.name, mark.cells, place);
  const colour = colourOf(mark.paint, palette);
  switch (mark.mark) {
    case 'rect': {
      const [x1, x2] = [x(mark.x[0]), x(mark.x[1])];
      const [y1, y2] = [y(mark.y[0]), y(mark.y[1])];
      const box = { class: mark.name, x: x1, y: Math.min(y1, y2), width: x2 - x1, height: Math.abs(y2 - y1) };
      const fill =
        mark.paint === 'none'
          ? { fill: 'none', 'pointer-events': 'all' }
          : { fill: colour, 'fill-opacity': 0.75 };
      return [element('rect', { ...box, ...fill }, ...titles(mark.title))];
    }
    case 'line':
      return [
        element('path', {
          class: mark.name,
          d: pathOf(mark.points.map(([px, py]) => [x(px), y(py)])),
          fill: 'none',
          stroke: colour,
          'stroke-width': mark.name === undefined ? 1.2 : 1.8,
          'stroke-dasharray': mark.dash || undefined,
          'pointer-events': 'none',
        }),
      ];
    case 'area': {
      const upper = mark.points.map(([px, , high]) => [x(px), y(high)] as const);
      const lower = mark.points.map(([px, low]) => [x(px), y(low)] as const).reverse();
      const d = `${pathOf([...upper, ...lower])}Z`;
      return [element('path', { class: 'band', d, fill: colour, 'fill-opacity': 0.2 })];
    }
    case 'dots': {
      // With more points the marks would hide the line.
      const r = mark.isRing ? 2 : mark.points.length > 25 ? 1.5 : 3;
      const fill = mark.isRing ? { fill: 'none', stroke: colour, 'stroke-opacity': 0.7 } : { fill: colour };
      return mark.points.map(([px, py, title], at) => {
        const dot = { cx: x(px), cy: y(py), r: r + 2.2 * (mark.below?.[at] ?? 0) };
        return element('circle', { ...dot, ...fill }, ...titles(title));
      });
    }
    case 'ticks': {
      const height = Math.max(SMALLEST_TICK_PX, 0.8 * (y(1) - y(0)));
      const strokes = mark.rows.map(
        (row, at) =>
          `M${x(mark.x[at]!).toFixed(1)} ${(y(row + 0.5) - height / 2).toFixed(1)}v${height.toFixed(1)}`,
      );
      const pen = { stroke: colour, 'stroke-width': 1.3, 'pointer-events': 'none' };
      return strokes.length === 0 ? [] : [element('path', { class: 'spikes', d: strokes.join(''), ...pen })];
    }
  }
}

/** Rows and cells, as assistive technology knows a grid. */
function cellsOf(name: string, cells: readonly Cell[], { x, y, palette }: Place): SvgNode[] {
  const { heat, muted } = palette;
  const shares = heat.map((_, at) => at / (heat.length - 1));
  const fillOf = scaleLinear<string>(shares, [...heat]);
  const [width, height] = [x(1) - x(0), y(1) - y(0)];
  const hasRoom = height >= FONT_PX + 2 && width >= DIGIT_PX * longest(cells.map((cell) => cell.text));
  const rows = [...new Set(cells.map((cell) => cell.y))].sort((a, b) => a - b);
  const drawn = rows.map((row) => {
    const own = cells.filter((cell) => cell.y === row).sort((a, b) => a.x - b.x);
    const boxes = own.map(({ x: column, share, title }) => {
      // A cell without a number has an edge alone.
      const look =
        share === null ? { fill: 'none', stroke: muted, 'stroke-dasharray': '2 2' } : { fill: fillOf(share) };
      const box = { x: x(column), y: y(row), width: width - 1, height: height - 1 };
      return element('rect', { class: 'cell', ...box, ...look }, ...titles(title));
    });
    return element('g', { class: 'row' }, ...boxes);
  });
  const hasDetails =
    hasRoom && height >= 3 * FONT_PX && width >= DIGIT_PX * longest(cells.map(({ detail = '' }) => detail));
  const numbers = cells.flatMap(({ x: column, y: row, share, text: number, detail }) => {
    if (share === null || !hasRoom) return [];
    const [centre, middle] = [x(column) + (width - 1) / 2, y(row) + height / 2 + 3.5];
    const pen = { 'text-anchor': 'middle', 'font-size': 10, 'pointer-events': 'none' };
    const write = (content: string, dy: number) =>
      textAt(content, centre, middle + dy, readableOn(fillOf(share)), pen);
    return detail === undefined || !hasDetails ? [write(number, 0)] : [write(number, -6), write(detail, 7)];
  });
  return [element('g', { class: 'map', 'aria-label': name }, ...drawn), ...numbers];
}

/** Black or white, whichever has the higher contrast. @param colour as scales of d3 give it: `rgb(1, 2, 3)` */
function readableOn(colour: string): string {
  const [red, green, blue] = (colour.match(/\d+/g) ?? []).map((channel) => {
    const share = Number(channel) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  // Both have the same contrast at this luminance, after WCAG 2.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
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
  // Where all is 0 there is one colour.
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

/** @param y the middle of the line of text */
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

function colourOf(paint: Paint, palette: Palette): string {
  if (typeof paint === 'number') return palette.series[paint % palette.series.length]!;
  return paint === 'none' ? 'none' : palette[paint];
}

function longest(texts: readonly string[]): number {
  return max(texts, ({ length }) => length) ?? 0;
}

/** A text no wider than so many pixels, as far as the font is known. */
function shortened(content: string, widthPx: number): string {
  const most = Math.max(3, Math.floor(widthPx / CHARACTER_PX));
  return content.length <= most ? content : `${content.slice(0, most - 1)}…`;
}

/** Lines of whole words. @param most characters of a line */
function linesOf(content: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of content.split(' ')) {
    const line = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (lines.length > 0 && line.length <= most) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}
