/** Writes figures as files. */
import regular from '@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf?url';
import bold from '@expo-google-fonts/arimo/600SemiBold/Arimo_600SemiBold.ttf?url';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import {
  type FigureFile,
  figureFile,
  type Look,
  MM_PER_INCH,
  USUAL_DPI,
} from '../../../src/experiments/figures/figure-file.js';
import { pngWith } from '../../../src/experiments/figures/provenance.js';

/** A figure as a file, in the user's size and colours. PDF and its fonts are loaded on demand. */
export async function figureBlob(format: 'svg' | 'png' | 'pdf', figure: Figure, look: Look): Promise<Blob> {
  const file = figureFile(figure, look);
  const { svg } = file;
  if (format === 'svg') {
    return new Blob([`<?xml version="1.0" encoding="UTF-8"?>\n${svg}\n`], { type: 'image/svg+xml' });
  }
  if (format === 'pdf') {
    const [{ pdfOf }, regularFont, boldFont] = await Promise.all([
      import('../../../src/experiments/figures/figure-pdf.js'),
      bytesOf(regular),
      bytesOf(bold),
    ]);
    // The font is that of the command line.
    const pdf = await pdfOf(file, figure, { regular: regularFont, bold: boldFont });
    return new Blob([pdf], { type: 'application/pdf' });
  }
  const png = new Uint8Array(await (await pictureOf(file)).arrayBuffer());
  return new Blob([pngWith(png, figure.metadata!, USUAL_DPI)], { type: 'image/png' });
}

async function pictureOf({ svg, widthMm }: FigureFile): Promise<Blob> {
  const image = new Image();
  // The content security policy allows images from data: URLs, but not from blobs.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const width = Math.round((widthMm / MM_PER_INCH) * USUAL_DPI);
  const height = Math.round(width * (image.naturalHeight / image.naturalWidth));
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')!.drawImage(image, 0, 0, width, height);
  return canvas.convertToBlob();
}

async function bytesOf(url: string): Promise<Uint8Array> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`The font could not be loaded: status ${answer.status}.`);
  return new Uint8Array(await answer.arrayBuffer());
}
