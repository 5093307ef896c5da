/** Mean rates over two swept parameters as heat maps: one for each group, with the scale of its report. */
import { scaleLinear } from 'd3-scale';
import type { HeatAxis, HeatCell, HeatMap, HeatMaps } from '../../../plot/heat-map.js';
import { settingText } from '../../../plot/condition-labels.js';
import { CHARACTER_PX, type Palette, picture, shortened, svg, text } from './figure.js';
import { rounded } from './rounded-rate.js';

const NARROWEST_MAP = 340;
const WIDEST_MAP = 560;
const CELL = { lowest: 16, highest: 40, gap: 1 };
/** Of a map with few values, in pixels: there is room for the names of its axes. */
const SMALLEST_SIDE = 150;
const MARGIN = { top: 24, right: 12, bottom: 46, left: 52 };
const SCALE = { width: 200, height: 12, above: 26, total: 62 };
const RATE_PX = 10;
const DIGIT_PX = 6.2;
/** Between the numbers along an axis. */
const TICK_GAP = 8;
const GRADIENT = 'heat-scale';

/** @param all reports, each with a scale of its own */
export function heatMapFigure(all: readonly HeatMaps[], width: number, palette: Palette): SVGSVGElement {
  const most = Math.max(...all.map(({ maps }) => maps.length));
  const columns = Math.max(1, Math.min(most, Math.floor(width / NARROWEST_MAP)));
  const mapWidth = Math.min(WIDEST_MAP, width / columns);
  const children: Node[] = [gradientOf(palette)];
  let top = 0;
  for (const maps of all) {
    const mapHeight = MARGIN.top + cellSize(maps, mapWidth).height * maps.y.values.length + MARGIN.bottom;
    children.push(svg('g', { transform: `translate(0 ${top})` }, ...scaleOf(maps, palette)));
    top += SCALE.total;
    maps.maps.forEach((map, at) => {
      const [column, row] = [at % columns, Math.floor(at / columns)];
      const place = `translate(${Math.round(column * mapWidth)} ${Math.round(top + row * mapHeight)})`;
      children.push(svg('g', { transform: place }, ...mapOf(map, maps, mapWidth, palette)));
    });
    top += mapHeight * Math.ceil(maps.maps.length / columns);
  }
  const names = all.flatMap(({ maps }) => maps.map(({ name }) => name)).join(', ');
  const [{ x, y }] = all as [HeatMaps];
  const label = `Mean rates of ${names} over ${x.label} and ${y.label}.`;
  const figure = picture(columns * mapWidth, top, label, palette, children);
  // Its cells are read one by one, which those of an image are not.
  figure.setAttribute('role', 'group');
  return figure;
}

/** Of a cell, in pixels. */
function cellSize({ x, y }: HeatMaps, mapWidth: number): { readonly width: number; readonly height: number } {
  const room = (mapWidth - MARGIN.left - MARGIN.right) / x.values.length;
  const square = Math.min(CELL.highest, Math.max(CELL.lowest, room));
  return {
    width: Math.min(room, Math.max(2 * CELL.highest, SMALLEST_SIDE / x.values.length)),
    height: Math.max(square, SMALLEST_SIDE / y.values.length),
  };
}

function gradientOf({ heat }: Palette): Node {
  const stops = heat.map((colour, at) =>
    svg('stop', { offset: `${(100 * at) / (heat.length - 1)}%`, 'stop-color': colour }),
  );
  return svg('defs', {}, svg('linearGradient', { id: GRADIENT }, ...stops));
}

function scaleOf({ report, highestHz }: HeatMaps, palette: Palette): Node[] {
  const { width, height, above } = SCALE;
  const { left } = MARGIN;
  // Of a silent report there is one colour.
  const ticks = highestHz === 0 ? [0] : scaleLinear([0, highestHz], [0, width]).ticks(4);
  const x = scaleLinear([0, highestHz || 1], [left, left + width]);
  return [
    text(`Mean rate of ${report} (Hz)`, left, 16, palette.text, { 'font-weight': 600 }),
    svg('rect', {
      class: 'scale',
      x: left,
      y: above,
      width,
      height,
      fill: highestHz === 0 ? palette.heat[0]! : `url(#${GRADIENT})`,
      stroke: palette.line,
    }),
    ...ticks.flatMap((tick) => [
      svg('line', {
        x1: x(tick),
        x2: x(tick),
        y1: above + height,
        y2: above + height + 4,
        stroke: palette.muted,
      }),
      text(String(tick), x(tick), above + height + 16, palette.muted, { 'text-anchor': 'middle' }),
    ]),
  ];
}

function mapOf({ name, cells }: HeatMap, maps: HeatMaps, width: number, palette: Palette): Node[] {
  const { x, y, highestHz } = maps;
  const { top, left, right } = MARGIN;
  const { width: cellWidth, height } = cellSize(maps, width);
  const [columns, rows] = [x.values.length, y.values.length];
  const bottom = top + height * rows;
  const colourOf = scaleLinear<string>(
    palette.heat.map((_, at) => ((highestHz || 1) * at) / (palette.heat.length - 1)),
    [...palette.heat],
  );
  const leftOf = (column: number): number => left + column * cellWidth;
  // The highest value is on top.
  const topOf = (row: number): number => bottom - (row + 1) * height;
  const hasRoom = height >= RATE_PX + 4 && cellWidth >= DIGIT_PX * longestRate(cells);
  const placed = y.values
    .map((_, row) => ({ row, inRow: cells.filter((cell) => cell.y === row) }))
    .filter(({ inRow }) => inRow.length > 0)
    .reverse();
  return [
    text(shortened(name, width - left - right), left, 15, palette.text),
    svg(
      'g',
      { class: 'map', 'aria-label': `${name}, mean rates` },
      ...placed.map(({ row, inRow }) =>
        svg(
          'g',
          { class: 'row' },
          ...inRow
            .sort((a, b) => a.x - b.x)
            .map((cell) =>
              svg(
                'rect',
                {
                  class: 'cell',
                  x: leftOf(cell.x),
                  y: topOf(row),
                  width: cellWidth - CELL.gap,
                  height: height - CELL.gap,
                  fill: cell.rate === null ? 'none' : colourOf(cell.rate.mean),
                  // What was stopped has an edge alone.
                  ...(cell.rate === null && { stroke: palette.muted, 'stroke-dasharray': '2 2' }),
                },
                svg('title', {}, `${name}: ${rateText(cell)} (${placeText(cell, x, y)})`),
              ),
            ),
        ),
      ),
    ),
    ...(hasRoom
      ? cells.flatMap(({ x: column, y: row, rate }) =>
          rate === null
            ? []
            : [
                text(
                  shortRate(rate.mean),
                  leftOf(column) + (cellWidth - CELL.gap) / 2,
                  topOf(row) + height / 2 + 3.5,
                  readableOn(colourOf(rate.mean)),
                  { 'text-anchor': 'middle', 'font-size': RATE_PX, 'pointer-events': 'none' },
                ),
              ],
        )
      : []),
    ...ticksOf(x, cellWidth, true).map(([at, value]) =>
      text(value, leftOf(at) + cellWidth / 2, bottom + 15, palette.muted, { 'text-anchor': 'middle' }),
    ),
    ...ticksOf(y, height, false).map(([at, value]) =>
      text(value, left - 6, topOf(at) + height / 2 + 4, palette.muted, { 'text-anchor': 'end' }),
    ),
    text(shortened(x.label, width - right), leftOf(columns / 2), bottom + 34, palette.muted, {
      'text-anchor': 'middle',
    }),
    svg(
      'g',
      { transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)` },
      text(shortened(y.label, height * rows), 0, 0, palette.muted, { 'text-anchor': 'middle' }),
    ),
  ];
}

/** The values that are written along an axis: as many as have room, at equal distances. */
function ticksOf({ values }: HeatAxis, cellPx: number, isAlong: boolean): [number, string][] {
  const longest = Math.max(...values.map((value) => String(value).length));
  const needed = isAlong ? longest * CHARACTER_PX + TICK_GAP : CELL.lowest;
  const step = Math.max(1, Math.ceil(needed / cellPx));
  return values.flatMap((value, at): [number, string][] => (at % step === 0 ? [[at, String(value)]] : []));
}

function rateText({ rate }: HeatCell): string {
  return rate === null ? 'stopped' : `${rounded(rate.mean)} ± ${rounded(rate.sd)} Hz`;
}

function placeText(cell: HeatCell, x: HeatAxis, y: HeatAxis): string {
  return [settingText(x.parameter, x.values[cell.x]!), settingText(y.parameter, y.values[cell.y]!)].join(
    ', ',
  );
}

/** Three digits at most, as long as rates have no more. */
function shortRate(rateHz: number): string {
  return rateHz < 9.95 ? rounded(rateHz) : rateHz.toFixed(0);
}

function longestRate(cells: readonly HeatCell[]): number {
  return Math.max(...cells.map(({ rate }) => (rate === null ? 0 : shortRate(rate.mean).length)));
}

/** Black or white, whichever has the higher contrast. @param colour as scales of d3 give it: `rgb(1, 2, 3)` */
function readableOn(colour: string): string {
  const [red, green, blue] = (colour.match(/\d+/g) ?? []).map((channel) => {
    const share = Number(channel) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  // Where both have the same contrast, after WCAG 2.
  return luminance > 0.179 ? '#000000' : '#ffffff';
}
