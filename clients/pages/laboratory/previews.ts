/** Runs experiments while the user drags a control: few trials while it moves, all of them after it is released. */
import type { DryRun } from '../../../src/experiments/document/result.js';
import type { ServiceFailure } from '../service/client.js';
import type { Members } from './json.js';

const PREVIEW_TRIALS = 2;
/** Largest number of brain seconds of a preview, and of a whole experiment that runs without being asked. */
const PREVIEW_BRAIN_SECONDS = 60;
const WHOLE_BRAIN_SECONDS = 120;

/** A run that was asked for without a press of its button. */
export interface LiveRun {
  readonly document: Members;
  /** The document of the form. A preview runs only some of its trials. */
  readonly asked: Members;
  /** Stands beside the results. */
  readonly note: string;
}

export class Previews {
  /** The latest document that waits for its run. */
  #next: LiveRun | undefined;
  /** Number of calls of `drop`. They tell whether a run began before the last one. */
  #drops = 0;
  #isRunning = false;
  /** Timer of the pause that the service has asked for. */
  #pause: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param run runs and shows a document; resolves with the failure, if any, also if another document replaces it
   * @param say shows the reason for a pause; empty if there is none
   */
  constructor(
    private readonly run: (run: LiveRun) => Promise<ServiceFailure | undefined>,
    private readonly say: (sentence: string) => void,
  ) {}

  /**
   * Runs a few trials of a document after the current ones. A later document replaces it.
   * @param price of the last check
   */
  preview(document: Members, price: DryRun | undefined): void {
    const trials = Math.min(PREVIEW_TRIALS, price?.experiment.trials ?? PREVIEW_TRIALS);
    const seconds = price && price.cost.brain_seconds * (trials / price.experiment.trials);
    if (seconds !== undefined && seconds > PREVIEW_BRAIN_SECONDS) {
      this.say('Too large to follow the control: press Run experiment.');
      return;
    }
    const { controls: _, ...rest } = document;
    this.#next = {
      document: { ...rest, trials },
      asked: document,
      note: `A preview of ${String(trials)} trials.`,
    };
    void this.#go();
  }

  /** Runs all trials of a checked document after release, unless that is too expensive to do without being asked. */
  whole(document: Members, { cost, experiment }: DryRun): void {
    this.#next = undefined;
    if (cost.brain_seconds > WHOLE_BRAIN_SECONDS) {
      this.say(`Press Run experiment for all ${experiment.trials} trials.`);
      return;
    }
    const whole = { document, asked: document, note: '' };
    if (this.#pause === undefined) void this.#run(whole);
    else this.#next = whole;
  }

  /** Forgets the waiting document, because another one is in the form or is run. The current run is not repeated. */
  drop(): void {
    this.#drops++;
    this.#next = undefined;
    if (this.#pause === undefined) this.say('');
  }

  async #go(): Promise<void> {
    if (this.#isRunning || this.#pause !== undefined) return;
    this.#isRunning = true;
    while (this.#next !== undefined && this.#pause === undefined) {
      const next = this.#next;
      this.#next = undefined;
      this.say('');
      await this.#run(next);
    }
    this.#isRunning = false;
  }

  /** Runs a document. If the service has no room for it, it waits as long as the service asks, unless another follows. */
  async #run(run: LiveRun): Promise<void> {
    const drops = this.#drops;
    const failure = await this.run(run);
    if (failure === undefined) return;
    const isDropped = drops !== this.#drops;
    if (failure.kind !== 'limited' && failure.kind !== 'unavailable') {
      if (!isDropped) this.say(failure.message);
      return;
    }
    if (!isDropped) this.#next ??= run;
    const reason =
      failure.kind === 'limited' ? 'The brain seconds of this minute are spent.' : failure.message;
    this.say(`${reason} The figure follows again in ${failure.retryAfterS} s.`);
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.say('');
      void this.#go();
    }, 1000 * failure.retryAfterS);
  }
}
