/** Size and colours of a figure in a file: the same for `--plot` and for files that the laboratory saves. */
import { drawFigure } from './draw.js';
import { GREYS, PAPER, type Palette } from './palette.js';
import type { Figure } from './figure.js';
import { svgText } from './svg.js';

/** Two columns of most journals, as on the page. */
export const USUAL_WIDTH_MM = 183;
/** Size of the text in units of the figure. */
const TEXT_UNITS = 12;
const USUAL_TEXT_PT = 9;
export const USUAL_DPI = 300;
export const MM_PER_INCH = 25.4;
const PT_PER_INCH = 72;
/** The name of a palette without hues. */
export const GREY = 'grey';

export interface Look {
  readonly widthMm?: number | undefined;
  readonly textPt?: number | undefined;
  /** `grey`, or a list of colours `#rrggbb` for the series, separated by commas. */
  readonly colours?: string | undefined;
  /** The font family, as in CSS. */
  readonly font?: string | undefined;
}

/**
 * @returns a figure as SVG; the same as a tree, from which PDF is made; its width, and the length of its unit, in
 *   millimetres
 */
export function figureFile(
  figure: Figure,
  { widthMm = USUAL_WIDTH_MM, textPt = USUAL_TEXT_PT, colours, font }: Look,
) {
  const unitMm = (textPt * MM_PER_INCH) / PT_PER_INCH / TEXT_UNITS;
  const width = widthMm / unitMm;
  const drawing = drawFigure(figure, width, {
    palette: paletteOf(colours),
    unitMm,
    ...(font !== undefined && { font }),
  });
  return { svg: svgText(drawing), drawing, unitMm, widthMm: width * unitMm };
}

export type FigureFile = ReturnType<typeof figureFile>;

function paletteOf(colours: string | undefined): Palette {
  if (colours === undefined) return PAPER;
  return colours === GREY ? GREYS : { ...PAPER, series: colours.split(',') };
}
