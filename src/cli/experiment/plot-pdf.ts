/** PDF of a figure: the marks of its SVG as draw.ts writes it, as paths and text that can be selected. */
import PDFDocument from 'pdfkit';
import type { Figure } from '../../experiments/figures/figure.js';
import type { Fonts } from './plot-file.js';

const PT_PER_MM = 72 / 25.4;
const TOKEN = /<(\/?)([a-zA-Z]+)([^>]*)>|([^<]+)/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
/** Elements whose content is not drawn. */
const SILENT = ['title', 'metadata'];

type Attributes = Readonly<Record<string, string | undefined>>;
type Pen = PDFDocument;
type Gradients = Map<string, { readonly offset: number; readonly colour: string }[]>;

/** @param svg of drawSvg, whose units are so many mm wide */
export async function pdfOf(svg: string, figure: Figure, unitMm: number, fonts: Fonts): Promise<Uint8Array> {
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number) as [number, number, number];
  const unit = unitMm * PT_PER_MM;
  const pen = new PDFDocument({
    size: [width * unit, height * unit],
    margin: 0,
    // A file is a function of its figure: it has no date of its own.
    info: { Title: figure.title ?? figure.label, Subject: figure.metadata ?? '', CreationDate: new Date(0) },
  });
  const pieces: Uint8Array[] = [];
  pen.on('data', (piece: Uint8Array) => pieces.push(piece));
  const ended = new Promise((resolve, reject) => pen.on('end', resolve).on('error', reject));
  pen.registerFont('regular', Buffer.from(fonts.regular));
  pen.registerFont('bold', Buffer.from(fonts.bold));
  pen.scale(unit);
  draw(pen, svg);
  pen.end();
  await ended;
  return Buffer.concat(pieces);
}

function draw(pen: Pen, svg: string): void {
  const gradients: Gradients = new Map();
  let gradient = '';
  let text: Attributes | undefined;
  let silent = 0;
  for (const [, slash, tag = '', given = '', content] of svg.matchAll(TOKEN)) {
    if (SILENT.includes(tag)) silent += slash === '' ? 1 : -1;
    if (silent > 0) continue;
    if (content !== undefined) {
      if (text !== undefined) drawText(pen, text, unescaped(content));
    } else if (slash !== '') {
      if (tag === 'g') pen.restore();
      if (tag === 'text') text = undefined;
    } else {
      const own = attributesOf(given);
      if (tag === 'g') transform(pen.save(), own['transform'] ?? '');
      else if (tag === 'text') text = own;
      else if (tag === 'linearGradient') gradients.set((gradient = own['id']!), []);
      else if (tag === 'stop') {
        const offset = Number.parseFloat(own['offset']!) / 100;
        gradients.get(gradient)!.push({ offset, colour: own['stop-color']! });
      } else drawShape(pen, tag, own, gradients);
    }
  }
}

function drawShape(pen: Pen, tag: string, own: Attributes, gradients: Gradients): void {
  const number = (name: string) => Number(own[name] ?? 0);
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
    if (dash !== undefined) pen.dash(dash.split(' ').map(Number), {});
    outline();
    pen.stroke(hexOf(stroke));
  }
  pen.restore();
}

function drawText(pen: Pen, own: Attributes, content: string): void {
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

/** @param colour `#rrggbb`, or as scales of d3 give it: `rgb(1, 2, 3)` */
function hexOf(colour: string): string {
  const channels = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour)?.slice(1);
  return channels === undefined
    ? colour
    : `#${channels.map((channel) => Number(channel).toString(16).padStart(2, '0')).join('')}`;
}

function attributesOf(given: string): Attributes {
  return Object.fromEntries(
    [...given.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name, value]) => [name!, unescaped(value!)]),
  );
}

function unescaped(text: string): string {
  return text.replace(/&(\w+);/g, (_, name: string) => ENTITIES[name]!);
}
