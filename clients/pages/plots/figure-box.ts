/** Draws figures into the page, in its colours and as wide as their element. */
import { drawSvg } from '../../../src/experiments/figures/draw.js';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import { ON_DARK, PAPER, type Palette } from '../../../src/experiments/figures/palette.js';
import { onThemeChange, readTheme } from '../theme.js';
import { onWidth } from '../window.js';

function screenPalette(): Palette {
  const { dark, panel, text, muted, line } = readTheme();
  return { ...(dark ? ON_DARK : PAPER), background: panel, text, muted, line };
}

/** @param source one svg element as text */
function svgElement(source: string): SVGSVGElement {
  const { documentElement } = new DOMParser().parseFromString(source, 'image/svg+xml');
  return document.importNode(documentElement as unknown as SVGSVGElement, true);
}

/** @param idPrefix prefix of ids inside the figure, which differ on a page */
export function drawnIn(container: HTMLElement, figure: Figure, idPrefix = ''): SVGSVGElement {
  return svgElement(drawSvg(figure, container.clientWidth, { palette: screenPalette(), idPrefix }));
}

/** An element with a figure, which is drawn again if the width or the colours change. */
export class FigureBox {
  readonly #idPrefix: string;
  #figure: Figure | undefined;

  /** @param name begins the ids inside the figure, which must differ on a page */
  constructor(
    private readonly container: HTMLElement,
    name: string,
  ) {
    this.#idPrefix = `${name}-`;
    onThemeChange(() => this.#draw());
    onWidth(() => this.#draw());
  }

  /** @param figure undefined to show none */
  show(figure: Figure | undefined): void {
    this.#figure = figure;
    if (figure === undefined) this.container.replaceChildren();
    this.#draw();
  }

  #draw(): void {
    // An element that is hidden has no width.
    if (this.#figure === undefined || this.container.clientWidth === 0) return;
    this.container.replaceChildren(drawnIn(this.container, this.#figure, this.#idPrefix));
  }
}
