/** Runs what is dragged: few trials while a control moves, all of them once it has been let go. */
import type { DryRun } from '../../../src/experiments/run/result.js';
import type { ServiceFailure } from '../service/client.js';
import type { Members } from './json.js';

const PREVIEW_TRIALS = 2;
/** Brain seconds of a preview, and of all trials that run by themselves, at most. */
const PREVIEW_BRAIN_SECONDS = 60;
const WHOLE_BRAIN_SECONDS = 120;

export class Live {
  /** The latest document that a preview is wanted of. */
  #next: Members | undefined;
  #isRunning = false;
  /** Ends the pause that the service has asked for. */
  #pause: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param run shows what a document gives; ends with the failure, if there is one, or when another takes its place
   * @param say tells the reader why nothing moves; empty where it does
   */
  constructor(
    private readonly run: (document: Members, note: string) => Promise<ServiceFailure | undefined>,
    private readonly say: (sentence: string) => void,
  ) {}

  /**
   * A few trials of a document, after those that are under way; a later one takes its place.
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
    this.#next = { ...rest, trials };
    void this.#go();
  }

  /** All trials of a document that has been let go and checked, unless they are too many to run unasked. */
  whole(document: Members, { cost, experiment }: DryRun): void {
    this.#next = undefined;
    if (cost.brain_seconds > WHOLE_BRAIN_SECONDS) {
      this.say(`Press Run experiment for all ${experiment.trials} trials.`);
    } else if (this.#pause === undefined) void this.run(document, '').then((failure) => this.#heed(failure));
  }

  /** Forgets what is wanted, as something else is run. */
  drop(): void {
    this.#next = undefined;
    this.say('');
  }

  async #go(): Promise<void> {
    if (this.#isRunning || this.#pause !== undefined) return;
    this.#isRunning = true;
    while (this.#next !== undefined && this.#pause === undefined) {
      const document = this.#next;
      this.#next = undefined;
      this.say('');
      const { trials } = document;
      this.#heed(await this.run(document, `A preview of ${String(trials)} trials.`));
    }
    this.#isRunning = false;
  }

  /**
   * Waits as long as the service asks for where the brain seconds of the minute are spent or the service is
   * unavailable.
   */
  #heed(failure: ServiceFailure | undefined): void {
    if (failure?.kind !== 'limited' && failure?.kind !== 'unavailable') return;
    this.say(
      `The brain seconds of this minute are spent: the figure follows again in ${failure.retryAfterS} s.`,
    );
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.say('');
      void this.#go();
    }, 1000 * failure.retryAfterS);
  }
}
