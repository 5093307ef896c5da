/** Writes figures as SVG, PNG or PDF, with a chosen size, font and colours. Equal figures give equal bytes. */
import type { Font } from 'fontkit';
import { readFileSync } from 'node:fs';
import { describeValue } from '../../../engine/errors.js';
import type { Figure } from '../../../experiments/figures/figure.js';
import { figureFile, MM_PER_INCH, USUAL_DPI } from '../../../experiments/figures/figure-file.js';
import type { Fonts } from '../../../experiments/figures/figure-pdf.js';
import type { SvgNode } from '../../../experiments/figures/svg.js';
import { pngWith } from '../../../experiments/figures/provenance.js';
import { pngOf, usualFonts } from '../../../workers/figures/png.js';
import { attempt } from '../atomic-file.js';
import { UsageError } from '../command.js';
import { type ExperimentOptions, extensionOf } from './options.js';

const MAX_PIXELS = 100_000_000;

/** The font is the name of a family for SVG, and the path of a file for PNG and PDF. */
type PlotOptions = Partial<Pick<ExperimentOptions, 'plot-width' | 'font-size' | 'font' | 'colours' | 'dpi'>>;

/** @param onNote receives a sentence if the plot is not what it should be */
type Plotter = (figure: Figure, onNote: (sentence: string) => void) => Promise<string | Uint8Array>;

/**
 * Checks the options before the experiment runs.
 * @param path its extension decides the format
 * @throws CodedError USAGE if the font cannot be read
 * @throws UsageError if it is not a font
 */
export function plotter(path: string, options: PlotOptions): Plotter {
  const { 'plot-width': widthMm, 'font-size': textPt, font, colours, dpi = USUAL_DPI } = options;
  const format = extensionOf(path);
  if (format === 'svg') {
    return async (figure) => `${figureFile(figure, { widthMm, textPt, colours, font }).svg}\n`;
  }
  const fonts = fontsOf(font);
  return async (figure, onNote) => {
    const file = figureFile(figure, { widthMm, textPt, colours, font: 'sans-serif' });
    const missing = await missingGlyphs(file.drawing, fonts.regular);
    if (missing !== '') {
      onNote(
        `The font lacks ${describeValue(missing)}, so the plot has boxes there: --font FILE takes another font.`,
      );
    }
    if (format === 'png') {
      const widthPx = Math.round((file.widthMm / MM_PER_INCH) * dpi);
      const png = await pngOf({ svg: file.svg, widthPx }, fonts, (pixels) => checkPixels(pixels, dpi));
      return pngWith(png, figure.metadata!, dpi);
    }
    const { pdfOf } = await import('../../../experiments/figures/figure-pdf.js');
    return pdfOf(file, figure, fonts);
  };
}

function fontsOf(file: string | undefined): Fonts {
  const read = (path: string) => attempt(`The font ${path} cannot be read`, () => readFileSync(path));
  if (file === undefined) return usualFonts(read);
  const own = read(file);
  const isFont = ['\0\x01\0\0', 'OTTO', 'true'].includes(own.subarray(0, 4).toString('latin1'));
  if (!isFont) {
    throw new UsageError(
      `--font should be a file of a TrueType or OpenType font for PNG and PDF, found ${describeValue(file)}`,
    );
  }
  return { regular: own, bold: own };
}

/** @returns the characters of a drawing's text that a font lacks, each once: they would be drawn as empty boxes */
async function missingGlyphs(drawing: SvgNode, font: Uint8Array): Promise<string> {
  const { create } = await import('fontkit');
  // A file of one font; collections are refused as --font.
  const { characterSet } = create(Buffer.from(font)) as Font;
  const known = new Set(characterSet);
  const missing = [...new Set(textOf(drawing))].filter((character) => !known.has(character.codePointAt(0)!));
  return missing.join('');
}

/** The characters that are drawn, of nodes within text as well. */
function textOf({ tag, children }: SvgNode): string {
  return children
    .map((child) => (typeof child !== 'string' ? textOf(child) : /^(text|tspan)$/.test(tag) ? child : ''))
    .join('');
}

/** @throws UsageError */
function checkPixels(pixels: number, dpi: number): void {
  if (pixels <= MAX_PIXELS) return;
  throw new UsageError(
    `--dpi ${dpi} makes ${Math.round(pixels / 1e6)} million pixels, at most ${MAX_PIXELS / 1e6} million are allowed`,
  );
}
