/** A lesson: five figures, each with a slider, computed in this tab or by the service when they come into view. */
import type { ExperimentDocument } from '#client';
import { drawSvg } from '../../../src/experiments/figures/draw.js';
import { drawnFigures } from '../../../src/experiments/figures/experiment-figures.js';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import type { ExperimentHead, ExperimentTotals } from '../../../src/experiments/document/result.js';
import { describeModelLine } from '../about.js';
import { documentHash } from '../document-link.js';
import { byId, element } from '../dom.js';
import { screenPalette, svgElement } from '../laboratory/figure.js';
import { findingsOf } from '../laboratory/findings.js';
import { asFailure, service } from '../service/client.js';
import type { ConditionLine } from '../service/open-experiments.js';
import { onLoading, openWhenIdle, pageUrl, placeFromNow } from '../service/transport.js';
import { onThemeChange } from '../theme.js';

const SUGAR = { node_set: '@sugar', rate_hz: 100 };
const MN9 = { MN9: { node_set: '@MN9' } };
const DOSES = { set: 'inputs.sugar.rate_hz', values: [0, 40, 80, 120, 160, 200] };
const BIN_MS = 100;
const SIMULATING = 'Simulating …';

/** The document of each figure, by the value of its slider. */
const DOCUMENTS: Readonly<Record<string, (value: number) => ExperimentDocument>> = {
  sugar: (highestHz) => ({
    name: 'Sugar to MN9',
    inputs: { sugar: SUGAR },
    reports: MN9,
    sweep: [{ set: DOSES.set, values: [0, 0.25, 0.5, 0.75, 1].map((share) => share * highestHz) }],
    trials: 3,
  }),
  bitter: (rateHz) => ({
    name: 'Sugar to MN9, with bitter',
    inputs: { sugar: SUGAR, bitter: { node_set: '@bitter', rate_hz: rateHz } },
    reports: MN9,
    sweep: [DOSES],
    trials: 3,
  }),
  lesion: (top) => ({
    name: 'Which types MN9 needs',
    inputs: { sugar: SUGAR },
    reports: MN9,
    sweep: [{ each: { responders_of: 'baseline', top }, group_by: ['type'], as: 'silence' }],
    trials: 3,
  }),
  shuffled: (seed) => ({
    name: 'Sugar to MN9 in a shuffled brain',
    inputs: { sugar: SUGAR },
    reports: MN9,
    sweep: [DOSES],
    trials: 3,
    ...(seed > 0 && { wiring: { shuffle: 'targets' as const, seed } }),
  }),
  tired: (durationMs) => ({
    name: 'Sugar for long',
    inputs: { sugar: SUGAR },
    reports: { MN9: { ...MN9.MN9, type: 'histogram', bin_ms: BIN_MS } },
    duration_ms: durationMs,
    trials: 3,
  }),
};

type Answer = ExperimentHead & ExperimentTotals & { readonly conditions: readonly ConditionLine[] };

let digest: string | undefined;
/** One experiment runs at a time, since all share the workers of the tab. */
let underWay: Promise<unknown> = prepare();
/** The status of the figure that is computed. */
let statusUnderWay: HTMLElement | undefined;

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
    return DOCUMENTS[this.section.dataset['figure']!]!(Number(this.#slider.value));
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
    this.#status.textContent = SIMULATING;
    underWay = underWay.then(async () => {
      if (value !== this.#asked) return;
      statusUnderWay = this.#status;
      const place = placeFromNow();
      try {
        const answer = (await service.runExperiment(this.#document).answer()) as unknown as Answer;
        if (value !== this.#asked) return;
        this.#figure = drawnFigures(findingsOf(answer, answer.conditions, answer, undefined))[0]?.figure;
        this.#status.textContent = [this.#figure?.note, place()].filter(Boolean).join(' ');
        this.#draw();
      } catch (error) {
        this.#asked = undefined;
        this.#status.textContent = `${asFailure(error).message} Move the slider to try again.`;
      } finally {
        statusUnderWay = undefined;
        // The first figure does not share the connection with the brain.
        if (digest !== undefined) openWhenIdle(digest);
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
onLoading((sentence) => {
  if (statusUnderWay !== undefined) statusUnderWay.textContent = sentence || SIMULATING;
});
for (const section of document.querySelectorAll<HTMLElement>('[data-figure]')) new LiveFigure(section);

async function prepare(): Promise<void> {
  try {
    const model = await service.model();
    describeModelLine(model);
    digest = model.connectome_digest;
  } catch {
    // Each figure says what fails.
  }
}
