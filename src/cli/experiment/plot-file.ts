/** Figures as files: SVG, PNG and PDF, in a size, a font and colours of one's choice. Equal figures give equal bytes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describeValue } from '../../errors.js';
import { drawSvg, PAPER, type Palette } from '../../experiments/figures/draw.js';
import type { Figure } from '../../experiments/figures/figure.js';
import { UsageError } from '../command.js';
import { attempt } from '../atomic-file.js';
import { extensionOf, GREY } from './options.js';

/** Width of a figure where none is given, in units of 1/96 inch, and the text of such a figure. */
const WIDTH = 900;
const TEXT_UNITS = 12;
const USUAL_TEXT_PT = 9;
const MM_PER_INCH = 25.4;
const PT_PER_INCH = 72;
const MOST_PIXELS = 100_000_000;

export interface PlotOptions {
  /** In mm. */
  readonly 'plot-width'?: number | undefined;
  /** Size of the text in points. */
  readonly 'font-size'?: number | undefined;
  /** Name of a family in SVG; in PNG and PDF the file of a font. */
  readonly font?: string | undefined;
  readonly colours?: string | undefined;
  readonly dpi?: number | undefined;
}

export type Plotter = (figure: Figure) => Promise<string | Uint8Array>;

/**
 * Prepares a file, before anything is computed.
 * @param path whose extension says the format
 * @throws CodedError USAGE for a font that cannot be read, UsageError for one that is none
 */
export function plotter(path: string, options: PlotOptions): Plotter {
  const { 'plot-width': widthMm, 'font-size': textPt = USUAL_TEXT_PT, font, dpi = 300 } = options;
  const unitMm = (textPt * MM_PER_INCH) / PT_PER_INCH / TEXT_UNITS;
  const width = widthMm === undefined ? WIDTH : widthMm / unitMm;
  const palette = paletteOf(options.colours);
  const format = extensionOf(path);
  if (format === 'svg') {
    const isSized = widthMm !== undefined || textPt !== USUAL_TEXT_PT;
    const own = { palette, ...(font !== undefined && { font }), ...(isSized && { unitMm }) };
    return async (figure) => `${drawSvg(figure, width, own)}\n`;
  }
  const fonts = fontsOf(font);
  return async (figure) => {
    const svg = drawSvg(figure, width, { palette, font: 'sans-serif', unitMm });
    if (format === 'png') return pngOf(svg, dpi, width * unitMm, fonts);
    return (await import('./plot-pdf.js')).pdfOf(svg, figure, unitMm, fonts);
  };
}

/** Bytes of fonts, which the package brings along unless there is one of one's own. */
export interface Fonts {
  readonly regular: Uint8Array;
  readonly bold: Uint8Array;
}

function fontsOf(file: string | undefined): Fonts {
  const read = (path: string) => attempt(`The font ${path} cannot be read`, () => readFileSync(path));
  const { resolve } = createRequire(import.meta.url);
  if (file === undefined) {
    const [regular, bold] = ['400Regular/Arimo_400Regular.ttf', '600SemiBold/Arimo_600SemiBold.ttf'];
    return {
      regular: read(resolve(`@expo-google-fonts/arimo/${regular}`)),
      bold: read(resolve(`@expo-google-fonts/arimo/${bold}`)),
    };
  }
  const own = read(file);
  const isFont = ['\0\x01\0\0', 'OTTO', 'true'].includes(own.subarray(0, 4).toString('latin1'));
  if (!isFont) {
    throw new UsageError(
      `--font should be a file of a TrueType or OpenType font for PNG and PDF, found ${describeValue(file)}`,
    );
  }
  return { regular: own, bold: own };
}

let renderer: Promise<typeof import('@resvg/resvg-wasm')> | undefined;

async function pngOf(svg: string, dpi: number, widthMm: number, fonts: Fonts): Promise<Uint8Array> {
  renderer ??= import('@resvg/resvg-wasm').then(async (module) => {
    await module.initWasm(
      readFileSync(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')),
    );
    return module;
  });
  const { Resvg } = await renderer;
  const value = Math.round((widthMm / MM_PER_INCH) * dpi);
  const image = new Resvg(svg, {
    fitTo: { mode: 'width', value },
    font: { fontBuffers: [fonts.regular, fonts.bold] },
  });
  try {
    const pixels = value * value * (image.height / image.width);
    if (pixels > MOST_PIXELS) {
      throw new UsageError(
        `--dpi ${dpi} makes ${Math.round(pixels / 1e6)} million pixels, at most ${MOST_PIXELS / 1e6} million are allowed`,
      );
    }
    return image.render().asPng();
  } finally {
    image.free();
  }
}

/** @param given `grey`, or colours of series that commas separate */
function paletteOf(given: string | undefined): Palette {
  if (given === undefined) return PAPER;
  if (given !== GREY) return { ...PAPER, series: given.split(',') };
  const text = '#000000';
  return {
    ...PAPER,
    text,
    muted: '#4d4d4d',
    line: '#d9d9d9',
    series: ['#1a1a1a', '#767676', '#474747', '#8c8c8c', '#333333', '#5e5e5e'],
    heat: ['#ffffff', '#d0d0d0', '#a0a0a0', '#707070', '#404040', '#101010'],
  };
}
