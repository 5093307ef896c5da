/** A lesson: five figures, each with a slider, computed in this tab or by the service when they come into view. */
import type { ExperimentDocument } from '#client';
import { drawSvg } from '../../../src/experiments/figures/draw.js';
import { drawnFigures } from '../../../src/experiments/figures/experiment-figures.js';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import { LESSON } from '../../../src/experiments/document/lesson.js';
import type { ExperimentHead, ExperimentTotals } from '../../../src/experiments/document/result.js';
import { describeModelLine } from '../about.js';
import { documentHash } from '../document-link.js';
import { byId, element } from '../dom.js';
import { screenPalette, svgElement } from '../laboratory/figure.js';
import { findingsOf } from '../laboratory/findings.js';
import { asFailure, service } from '../service/client.js';
import type { ConditionLine } from '../service/open-experiments.js';
import { openHere, pageUrl } from '../service/transport.js';
import { onThemeChange } from '../theme.js';

/** The first figure waits this long for the brain in this tab. Then the service computes it. */
const PATIENCE_MS = 4000;

type Answer = ExperimentHead & ExperimentTotals & { readonly conditions: readonly ConditionLine[] };

/** One experiment runs at a time, since all share the workers of the tab. */
let underWay: Promise<unknown> = prepare();

class LiveFigure {
  readonly #slider: HTMLInputElement;
  readonly #output: HTMLElement;
  readonly #drawing = element('div', { class: 'figure' });
  readonly #status = element('p', { class: 'hint', role: 'status' });
  readonly #link = element('a', {}, 'Open in the laboratory');
  #figure: Figure | undefined;
  /** The value that is drawn, or waits for its turn. */
  #asked: string | undefined;

  constructor(private readonly section: HTMLElement) {
    this.#slider = section.querySelector('input')!;
    this.#output = section.querySelector('output')!;
    section.append(element('p', {}, this.#link), this.#status, this.#drawing);
    this.#slider.addEventListener('input', () => this.#describe());
    this.#slider.addEventListener('change', () => this.#ask());
    this.#describe();
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry!.isIntersecting) return;
      observer.disconnect();
      this.#ask();
    });
    observer.observe(section);
    onThemeChange(() => this.#draw());
    let width = innerWidth;
    addEventListener('resize', () => {
      if (innerWidth === width) return;
      width = innerWidth;
      this.#draw();
    });
  }

  get #document(): ExperimentDocument {
    const { documentOf } = LESSON.get(this.section.dataset['figure']!)!;
    return documentOf(Number(this.#slider.value)) as ExperimentDocument;
  }

  #describe(): void {
    this.#output.textContent = this.#slider.value;
    this.#link.href = pageUrl('laboratory', documentHash(this.#document)!);
  }

  /** Computes the figure after those that wait, unless the slider has moved on by then. */
  #ask(): void {
    const { value } = this.#slider;
    if (value === this.#asked) return;
    this.#asked = value;
    this.#status.textContent = 'Simulating …';
    underWay = underWay.then(async () => {
      if (value !== this.#asked) return;
      try {
        const answer = (await service.runExperiment(this.#document).answer()) as unknown as Answer;
        if (value !== this.#asked) return;
        this.#figure = drawnFigures(findingsOf(answer, answer.conditions, answer, undefined))[0]?.figure;
        this.#status.textContent = this.#figure?.note ?? '';
        this.#draw();
      } catch (error) {
        this.#asked = undefined;
        this.#status.textContent = `${asFailure(error).message} Move the slider to try again.`;
      }
    });
  }

  #draw(): void {
    const width = this.#drawing.clientWidth;
    if (this.#figure === undefined || width === 0) return;
    const options = { palette: screenPalette(), idPrefix: `${this.section.dataset['figure']}-` };
    this.#drawing.replaceChildren(svgElement(drawSvg(this.#figure, width, options)));
  }
}

byId('unstarted').remove();
for (const section of document.querySelectorAll<HTMLElement>('[data-figure]')) new LiveFigure(section);

/** Waits for the brain in this tab, but not for long. */
async function prepare(): Promise<void> {
  try {
    const model = await service.model();
    describeModelLine(model);
    const brain = openHere(model.connectome_digest).catch(() => undefined);
    await Promise.race([brain, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  } catch {
    // Each figure says what fails.
  }
}
