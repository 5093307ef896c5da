/** A lesson: five figures, each with a slider, computed in this tab or by the service when they come into view. */
import type { ExperimentDocument } from '#client';
import { drawnFigures } from '../../../src/experiments/figures/experiment-figures.js';
import { LESSON } from '../../../src/experiments/document/lesson.js';
import { describeModelLine } from '../about.js';
import { byId, element } from '../dom.js';
import { findingsOf } from '../laboratory/findings.js';
import { FigureBox } from '../plots/figure-box.js';
import { asFailure, service } from '../service/client.js';
import type { WholeAnswer } from '../service/open-experiments.js';
import { laboratoryUrl, onLoading, openWhenIdle, placeFromNow } from '../service/transport.js';

const SIMULATING = 'Simulating …';

let digest: string | undefined;
let isFirstFigureDone = false;
/** One experiment runs at a time, since all share the workers of the tab. */
let underWay: Promise<unknown> = Promise.resolve();
/** The status of the figure that is computed. */
let statusUnderWay: HTMLElement | undefined;

class LiveFigure {
  readonly #slider: HTMLInputElement;
  readonly #output: HTMLElement;
  readonly #drawing = element('div', { class: 'figure' });
  readonly #status = element('p', { class: 'hint', role: 'status' });
  readonly #link = element('a', {}, 'Open in the laboratory');
  readonly #box: FigureBox;
  /** The value that is drawn, or waits for its turn. */
  #asked: string | undefined;

  constructor(private readonly section: HTMLElement) {
    this.#slider = section.querySelector('input')!;
    this.#output = section.querySelector('output')!;
    // The slider says its value itself.
    this.#output.ariaHidden = 'true';
    this.#box = new FigureBox(this.#drawing, section.dataset['figure']!);
    section.append(element('p', {}, this.#link), this.#status, this.#drawing);
    this.#slider.addEventListener('input', () => this.#describe());
    this.#slider.addEventListener('change', () => this.ask());
    this.#describe();
  }

  #documentOf(value: string): ExperimentDocument {
    const { documentOf } = LESSON.get(this.section.dataset['figure']!)!;
    return documentOf(Number(value)) as ExperimentDocument;
  }

  #describe(): void {
    const { value } = this.#slider;
    const text = value + (this.#output.dataset['unit'] ?? '');
    this.#output.textContent = text;
    this.#slider.setAttribute('aria-valuetext', text);
    this.#link.href = laboratoryUrl(this.#documentOf(value))!;
  }

  /** Computes the figure after those that wait, unless the slider has moved on by then. */
  ask(): void {
    const { value } = this.#slider;
    if (value === this.#asked) return;
    this.#asked = value;
    this.#status.textContent = SIMULATING;
    underWay = underWay.then(async () => {
      if (value !== this.#asked) return;
      statusUnderWay = this.#status;
      const place = placeFromNow();
      try {
        const answer = (await service
          .runExperiment(this.#documentOf(value))
          .answer()) as unknown as WholeAnswer;
        if (value !== this.#asked) return;
        const [drawn] = drawnFigures(findingsOf(answer, answer.conditions, answer, undefined));
        this.#status.textContent = [drawn?.figure.note, place()].filter(Boolean).join(' ');
        this.#box.show(drawn?.figure);
      } catch (error) {
        if (value !== this.#asked) return;
        this.#asked = undefined;
        this.#status.textContent = `${asFailure(error).message} Move the slider to try again.`;
      } finally {
        statusUnderWay = undefined;
        isFirstFigureDone = true;
        openBrain();
      }
    });
  }
}

byId('unstarted').remove();
void prepare();
onLoading((sentence) => {
  if (statusUnderWay !== undefined) statusUnderWay.textContent = sentence || SIMULATING;
});
const figures = new Map(
  Array.from(document.querySelectorAll<HTMLElement>('[data-figure]'), (section) => [
    section as Element,
    new LiveFigure(section),
  ]),
);
// One observer for all reports those that are in view at once in the order of the page.
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    figures.get(target)!.ask();
  }
});
for (const section of figures.keys()) observer.observe(section);

async function prepare(): Promise<void> {
  try {
    const model = await service.model();
    describeModelLine(model);
    digest = model.connectome_digest;
    openBrain();
  } catch {
    // Each figure says what fails.
  }
}

/** Loads the brain into this tab once the model is known and the first figure no longer needs the connection. */
function openBrain(): void {
  if (digest !== undefined && isFirstFigureDone) openWhenIdle(digest);
}
