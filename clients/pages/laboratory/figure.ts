/** Figures on the page, and the files that are saved of them. */
import { PAPER, type Palette } from '../../../src/experiments/figures/draw.js';
import { readTheme } from '../theme.js';

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

/** @param source one svg element as text */
export function svgElement(source: string): SVGSVGElement {
  const { documentElement } = new DOMParser().parseFromString(source, 'image/svg+xml');
  return document.importNode(documentElement as unknown as SVGSVGElement, true);
}

export function svgFile(source: string): Blob {
  return new Blob([`<?xml version="1.0" encoding="UTF-8"?>\n${source}\n`], { type: 'image/svg+xml' });
}

/** @param scale pixels of the picture for each unit of the figure */
export async function pngFile(source: string, scale: number): Promise<Blob> {
  const image = new Image();
  // The policy of the page lets pictures come from data: addresses, not from blobs.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error('The browser made no PNG.')) : resolve(blob))),
  );
}
