/** Draws the marks of a panel: lines, areas, dots, strokes, and the cells of a heat map. */
import { scaleLinear } from 'd3-scale';
import type { Cell, Mark } from './figure.js';
import { colourOf, type Palette } from './palette.js';
import { element, pathOf, type SvgNode, textAt, titles } from './svg.js';
import { DIGIT_PX, FONT_PX, longest } from './text-size.js';

/** Minimum height of a stroke, so that spikes are visible in rows thinner than a pixel. */
const SMALLEST_TICK_PX = 1.5;

export type Scale = ((value: number) => number) & { ticks(count?: number): number[] };

/** The scales and edges of a panel, in pixels. */
export interface Place {
  readonly x: Scale;
  readonly y: Scale;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly width: number;
  readonly palette: Palette;
}

/** The text in the cells of heat maps: none, the number, or the number with its detail. */
export type CellTexts = 0 | 1 | 2;

/** The most text for which the cells of a panel have room. A figure has the least of its panels in all of them. */
export function roomInCells(marks: readonly Mark[], { x, y }: Place): CellTexts {
  const cells = marks.flatMap((mark) => (mark.mark === 'cells' ? mark.cells : []));
  if (cells.length === 0) return 2;
  const [width, height] = [x(1) - x(0), y(1) - y(0)];
  const takes = (texts: readonly string[]) => width >= DIGIT_PX * longest(texts);
  if (height < FONT_PX + 2 || !takes(cells.map(({ text }) => text))) return 0;
  return height >= 3 * FONT_PX && takes(cells.map(({ detail = '' }) => detail)) ? 2 : 1;
}

export function drawMark(mark: Mark, place: Place, cellTexts: CellTexts): SvgNode[] {
  const { x, y, palette } = place;
  if (mark.mark === 'cells') return cellsOf(mark.name, mark.cells, place, cellTexts);
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
      // Large dots of many points would hide the line.
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

/** Rows and cells with the roles that assistive technology expects of a table. */
function cellsOf(
  name: string,
  cells: readonly Cell[],
  { x, y, palette }: Place,
  cellTexts: CellTexts,
): SvgNode[] {
  const { heat, muted } = palette;
  const shares = heat.map((_, at) => at / (heat.length - 1));
  const fillOf = scaleLinear<string>(shares, [...heat]);
  const [width, height] = [x(1) - x(0), y(1) - y(0)];
  const rows = [...new Set(cells.map((cell) => cell.y))].sort((a, b) => a - b);
  const drawn = rows.map((row) => {
    const cellsOfRow = cells.filter((cell) => cell.y === row).sort((a, b) => a.x - b.x);
    const boxes = cellsOfRow.map(({ x: column, share, title }) => {
      // A cell without a number is only an outline.
      const look =
        share === null ? { fill: 'none', stroke: muted, 'stroke-dasharray': '2 2' } : { fill: fillOf(share) };
      const box = { x: x(column), y: y(row), width: width - 1, height: height - 1 };
      return element('rect', { class: 'cell', ...box, ...look }, ...titles(title));
    });
    return element('g', { class: 'row' }, ...boxes);
  });
  const numbers = cells.flatMap(({ x: column, y: row, share, text: number, detail }) => {
    if (share === null || cellTexts === 0) return [];
    const [centre, middle] = [x(column) + (width - 1) / 2, y(row) + height / 2 + 3.5];
    const pen = { 'text-anchor': 'middle', 'font-size': 10, 'pointer-events': 'none' };
    const write = (content: string, dy: number) =>
      textAt(content, centre, middle + dy, readableOn(fillOf(share)), pen);
    return detail === undefined || cellTexts === 1
      ? [write(number, 0)]
      : [write(number, -6), write(detail, 7)];
  });
  return [element('g', { class: 'map', 'aria-label': name }, ...drawn), ...numbers];
}

/** Black or white, whichever has the higher contrast. @param colour `rgb(1, 2, 3)`, from a scale of d3 */
function readableOn(colour: string): string {
  const [red, green, blue] = (colour.match(/\d+/g) ?? []).map((channel) => {
    const share = Number(channel) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  // At this luminance both have the same contrast (WCAG 2).
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}
