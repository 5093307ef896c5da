/** Figures of the laboratory as SVG that stands on its own, so that what is seen is what is saved. */
import { HEAT_COLOURS } from '../../../plot/heat-map.js';
import { readTheme } from '../theme.js';

export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  /** One for each series, apart in hue and in lightness. */
  readonly series: readonly string[];
  /** Of a heat map, from silence to the highest rate. */
  readonly heat: readonly string[];
}

/** Dashes tell series apart as well, for those who do not see the hues. */
export const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '1 4'];
export const MOST_SERIES = DASHES.length;
export const FONT_PX = 12;
/** Wide enough for most characters of the font; names of types have many capitals. */
export const CHARACTER_PX = 7.6;

/** For paper: the colours of the light theme on white. */
export const PAPER: Palette = {
  background: '#ffffff',
  text: '#1c1e24',
  muted: '#59606c',
  line: '#dcd8cd',
  series: ['#b93c0a', '#0a5fa8', '#1f6b35', '#7a35b8', '#8a6d00', '#a81f6b'],
  heat: HEAT_COLOURS,
};
const ON_DARK = ['#ffb347', '#5cc8ff', '#7bd88f', '#c98bff', '#f2e15c', '#ff8fc2'];
const HEAT_ON_DARK = ['#1d2330', '#4f2a4a', '#96403f', '#dd7a2b', '#ffc05c', '#fff4d6'];

export function screenPalette(): Palette {
  const { dark, panel, text, muted, line } = readTheme();
  return {
    background: panel,
    text,
    muted,
    line,
    series: dark ? ON_DARK : PAPER.series,
    heat: dark ? HEAT_ON_DARK : PAPER.heat,
  };
}

type Attributes = Readonly<Record<string, string | number>>;

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const created = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) {
    created.setAttribute(name, typeof value === 'number' ? String(Math.round(100 * value) / 100) : value);
  }
  created.append(...children);
  return created;
}

/** The whole picture, with its ground. */
export function picture(
  width: number,
  height: number,
  label: string,
  { background }: Palette,
  children: readonly Node[],
): SVGSVGElement {
  return svg(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`,
      role: 'img',
      'aria-label': label,
      'font-family': 'system-ui, sans-serif',
      'font-size': FONT_PX,
    },
    svg('rect', { width, height, fill: background }),
    ...children,
  );
}

export function text(
  content: string,
  x: number,
  y: number,
  fill: string,
  attributes: Attributes = {},
): SVGTextElement {
  return svg('text', { x, y, fill, ...attributes }, content);
}

/** A text no wider than so many pixels, as far as the font is known. */
export function shortened(content: string, widthPx: number): string {
  const most = Math.max(3, Math.floor(widthPx / CHARACTER_PX));
  return content.length <= most ? content : `${content.slice(0, most - 1)}…`;
}

/** The file of a figure. */
export function svgFile(figure: SVGSVGElement): Blob {
  const source = new XMLSerializer().serializeToString(figure);
  return new Blob([`<?xml version="1.0" encoding="UTF-8"?>\n${source}\n`], { type: 'image/svg+xml' });
}

/** @param scale pixels of the picture for each unit of the figure */
export async function pngFile(figure: SVGSVGElement, scale: number): Promise<Blob> {
  const image = new Image();
  const source = new XMLSerializer().serializeToString(figure);
  // The policy of the page lets pictures come from data: addresses, not from blobs.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = figure.width.baseVal.value * scale;
  canvas.height = figure.height.baseVal.value * scale;
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error('The browser made no PNG.')) : resolve(blob))),
  );
}
