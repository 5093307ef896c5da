/** A lesson: five figures, each with a slider, computed in this tab or by the service when they come into view. */
import type { ExperimentDocument } from '#client';
import { drawnFigures } from '../../../src/experiments/figures/experiment-figures.js';
import { describeModelLine } from '../about.js';
import { documentHash } from '../document-link.js';
import { byId, element } from '../dom.js';
import { findingsOf } from '../laboratory/findings.js';
import { FigureBox } from '../plots/figure-box.js';
import { asFailure, service } from '../service/client.js';
import type { WholeAnswer } from '../service/open-experiments.js';
import { onLoading, openWhenIdle, pageUrl, placeFromNow } from '../service/transport.js';

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
  readonly #box: FigureBox;
  /** The value that is drawn, or waits for its turn. */
  #asked: string | undefined;

  constructor(private readonly section: HTMLElement) {
    this.#slider = section.querySelector('input')!;
    this.#output = section.querySelector('output')!;
    this.#box = new FigureBox(this.#drawing, section.dataset['figure']!);
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
        const answer = (await service.runExperiment(this.#document).answer()) as unknown as WholeAnswer;
        if (value !== this.#asked) return;
        const [drawn] = drawnFigures(findingsOf(answer, answer.conditions, answer, undefined));
        this.#status.textContent = [drawn?.figure.note, place()].filter(Boolean).join(' ');
        this.#box.show(drawn?.figure);
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
