/**
 * Writes a figure as PDF, with the same font as the command line. A separate file, because the PDF library is large.
 */
import regular from '@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf?url';
import bold from '@expo-google-fonts/arimo/600SemiBold/Arimo_600SemiBold.ttf?url';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import type { FigureFile } from '../../../src/experiments/figures/figure-file.js';
import { pdfOf } from '../../../src/experiments/figures/figure-pdf.js';

export async function pdfBlob(file: FigureFile, figure: Figure): Promise<Blob> {
  const [regularFont, boldFont] = await Promise.all([regular, bold].map(bytesOf));
  const pdf = await pdfOf(file, figure, { regular: regularFont!, bold: boldFont! });
  return new Blob([pdf], { type: 'application/pdf' });
}

async function bytesOf(url: string): Promise<Uint8Array> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`The font could not be loaded: status ${answer.status}.`);
  return new Uint8Array(await answer.arrayBuffer());
}
