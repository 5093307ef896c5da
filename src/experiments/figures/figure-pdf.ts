/** Turns the SVG tree of a figure into PDF, with paths and selectable text. */
import PDFDocument from 'pdfkit';
import { joinedBytes } from '../../engine/bytes.js';
import type { Figure } from './figure.js';
import type { FigureFile } from './figure-file.js';
import { factLines } from './provenance.js';
import type { SvgNode } from './svg.js';

const PT_PER_MM = 72 / 25.4;
/** Bytes of TrueType or OpenType fonts to embed. */
export interface Fonts {
  readonly regular: Uint8Array;
  readonly bold: Uint8Array;
}

type Attributes = SvgNode['attributes'];
type Pen = PDFKit.PDFDocument;
type Gradients = Map<string, { readonly offset: number; readonly colour: string }[]>;

export async function pdfOf(
  { drawing, unitMm }: FigureFile,
  figure: Figure,
  fonts: Fonts,
): Promise<Uint8Array<ArrayBuffer>> {
  const [, , width, height] = drawing.attributes['viewBox']!.split(' ').map(Number);
  const unit = unitMm * PT_PER_MM;
  const pen = new PDFDocument({
    size: [width! * unit, height! * unit],
    margin: 0,
    // No default font: browsers do not have the one of the library.
    font: '',
    // Equal figures give equal files, so the file has no date.
    info: {
      Title: figure.title ?? figure.label,
      Subject: factLines(figure.metadata ?? {}).join('\n'),
      CreationDate: new Date(0),
    },
  });
  const pieces: Uint8Array[] = [];
  pen.on('data', (piece: Uint8Array) => pieces.push(piece));
  const ended = new Promise((resolve, reject) => pen.on('end', resolve).on('error', reject));
  pen.registerFont('regular', fonts.regular);
  pen.registerFont('bold', fonts.bold);
  pen.scale(unit);
  draw(pen, drawing, new Map());
  pen.end();
  await ended;
  return joinedBytes(pieces);
}

function draw(pen: Pen, { tag, attributes, children }: SvgNode, gradients: Gradients): void {
  if (tag === 'text') drawText(pen, attributes, children.join(''));
  else if (tag === 'linearGradient') gradients.set(attributes['id']!, stopsOf(children));
  else if (tag === 'g') transform(pen.save(), attributes['transform'] ?? '');
  else drawShape(pen, tag, attributes, gradients);
  for (const child of children) if (typeof child !== 'string') draw(pen, child, gradients);
  if (tag === 'g') pen.restore();
}

function stopsOf(stops: SvgNode['children']) {
  return stops.flatMap((stop) => {
    if (typeof stop === 'string') return [];
    const { offset, 'stop-color': colour } = stop.attributes;
    return [{ offset: Number.parseFloat(offset!) / 100, colour: colour! }];
  });
}

function drawShape(pen: Pen, tag: string, own: Attributes, gradients: Gradients): void {
  const number = (attribute: string) => Number(own[attribute] ?? 0);
  const outline = {
    rect: () => pen.rect(number('x'), number('y'), number('width'), number('height')),
    line: () => pen.moveTo(number('x1'), number('y1')).lineTo(number('x2'), number('y2')),
    path: () => pen.path(own['d']!),
    circle: () => pen.circle(number('cx'), number('cy'), number('r')),
    ellipse: () => pen.ellipse(number('cx'), number('cy'), number('rx'), number('ry')),
  }[tag];
  if (outline === undefined) return;
  const { fill = tag === 'line' ? 'none' : '#000000', stroke = 'none' } = own;
  pen.save();
  if (fill !== 'none') {
    const [, id] = /^url\(#(.*)\)$/.exec(fill) ?? [];
    pen.fillOpacity(Number(own['fill-opacity'] ?? 1));
    outline();
    if (id === undefined) pen.fill(hexOf(fill));
    else {
      const x = number('x');
      const colours = pen.linearGradient(x, 0, x + number('width'), 0);
      for (const { offset, colour } of gradients.get(id)!) colours.stop(offset, hexOf(colour));
      pen.fill(colours);
    }
  }
  if (stroke !== 'none') {
    pen.lineWidth(Number(own['stroke-width'] ?? 1)).strokeOpacity(Number(own['stroke-opacity'] ?? 1));
    const dash = own['stroke-dasharray'];
    // The library takes a list, but its types allow only one number.
    if (dash !== undefined) pen.dash(dash.split(' ').map(Number) as unknown as number, {});
    outline();
    pen.stroke(hexOf(stroke));
  }
  pen.restore();
}

function drawText(pen: Pen, own: Attributes, content: string): void {
  if (content === '') return;
  pen.font(own['font-weight'] === undefined ? 'regular' : 'bold').fontSize(Number(own['font-size'] ?? 12));
  const share = { middle: 0.5, end: 1 }[own['text-anchor'] ?? ''] ?? 0;
  const x = Number(own['x']) - share * pen.widthOfString(content);
  pen.fillOpacity(1).fillColor(hexOf(own['fill']!));
  pen.text(content, x, Number(own['y']), { lineBreak: false, baseline: 'alphabetic' });
}

function transform(pen: Pen, given: string): void {
  for (const [, name, values] of given.matchAll(/(\w+)\(([^)]*)\)/g)) {
    const [a = 0, b = 0] = values!.split(/[ ,]+/).map(Number);
    if (name === 'translate') pen.translate(a, b);
    else pen.rotate(a);
  }
}

/** @param colour `#rrggbb`, or `rgb(1, 2, 3)` from a scale of d3 */
function hexOf(colour: string): string {
  const channels = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour)?.slice(1);
  return channels === undefined
    ? colour
    : `#${channels.map((channel) => Number(channel).toString(16).padStart(2, '0')).join('')}`;
}
