/** Runs conditions one after another, trials of several at once, whatever decides which conditions there are. */
import type { Condition, ExperimentPlan } from './plan.js';
import { ConditionSummary, type ConditionCounts } from './summary.js';
import type { TrialReading, TrialTask } from './trial.js';
import { RUNAWAY_NEURONS } from './warnings.js';

/** Computes a trial. It ends its work, or rejects, when the signal is aborted. */
export type RunTrial = (task: TrialTask, signal: AbortSignal) => Promise<TrialReading>;

export interface ConditionRunOptions {
  /** Ends the run, which then throws the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Trials that are computed at once, at least 1; it may change while they are. */
  readonly inFlight: number;
  /** Called whenever a trial begins or ends. */
  readonly onProgress?: () => void;
}

export interface NextCondition {
  readonly condition: Condition;
  /** Whether the spikes of every neuron are wanted, because they decide on other conditions. */
  readonly countsAll: boolean;
}

/** A condition whose trials have all been run. */
export interface FinishedCondition {
  readonly condition: Condition;
  readonly inputEvents: number;
  readonly synapticEvents: number;
  /** Whether more neurons responded, in any trial, than a stimulus should excite. */
  readonly isRunaway: boolean;
  /** Spikes of every neuron in all trials, where they were wanted. */
  readonly spikesOfAll?: Uint32Array;
  counts(): ConditionCounts;
}

/** Trials that are begun before the oldest unfinished one, for each that is computed at once: bounds what waits. */
const AHEAD = 2;

interface OpenCondition {
  readonly condition: Condition;
  readonly summary: ConditionSummary;
  readonly spikesOfAll?: Uint32Array;
  inputEvents: number;
  synapticEvents: number;
}

interface OpenTrial {
  readonly open: OpenCondition;
  readonly trial: number;
  /** When it has ended. */
  reading?: TrialReading;
}

/**
 * Yields conditions in the order in which they were begun, which is not the order in which their trials end. Memory
 * holds the readings of a few trials and the sums of a few conditions.
 */
export class ConditionRun {
  readonly #stop = new AbortController();
  readonly #forwardAbort = () => this.#fail(this.options.signal!.reason);
  /** Trials that were begun and are not yet summed up, oldest first. */
  readonly #openTrials: OpenTrial[] = [];
  #running = 0;
  #failed = false;
  /** What it failed with. */
  #reason: unknown;
  /** Called when a trial ends or the run fails. */
  #wake = () => {};
  #current: { readonly open: OpenCondition; nextTrial: number } | undefined;
  #trialsDone = 0;
  #msBegun = 0;

  /** @param next the condition to begin; undefined where there is none, or none yet */
  constructor(
    private readonly plan: ExperimentPlan,
    private readonly runTrial: RunTrial,
    private readonly options: ConditionRunOptions,
    private readonly next: () => NextCondition | undefined,
  ) {
    const { signal } = options;
    if (signal?.aborted) this.#fail(signal.reason);
    else signal?.addEventListener('abort', this.#forwardAbort, { once: true });
  }

  get trialsDone(): number {
    return this.#trialsDone;
  }

  /** Simulated time of the trials that were begun. */
  get msBegun(): number {
    return this.#msBegun;
  }

  /**
   * Ends when no trial is under way and there is no next condition.
   * @throws what a trial rejects with; no further trial is begun then
   */
  async *finished(): AsyncGenerator<FinishedCondition, void, void> {
    for (;;) {
      this.begin();
      const oldest = this.#openTrials[0];
      // Trials under way are not waited for: any of them may be the one that failed.
      if (this.#failed) throw this.#reason;
      if (oldest === undefined) return;
      if (oldest.reading === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#openTrials.shift();
      if (this.#sumUp(oldest, oldest.reading)) yield finishedOf(oldest.open);
    }
  }

  /** Begins as many trials as may run; to be called when there may be a next condition again. */
  begin(): void {
    while (
      !this.#stop.signal.aborted &&
      this.#running < this.options.inFlight &&
      this.#openTrials.length < AHEAD * this.options.inFlight
    ) {
      this.#current ??= this.#open(this.next());
      if (this.#current === undefined) return;
      const { open, nextTrial } = this.#current;
      if (++this.#current.nextTrial === this.plan.trials) this.#current = undefined;
      const openTrial: OpenTrial = { open, trial: nextTrial };
      this.#openTrials.push(openTrial);
      void this.#run(openTrial);
    }
  }

  /** Trials that were not begun never are; those under way are told. */
  end(): void {
    this.options.signal?.removeEventListener('abort', this.#forwardAbort);
    this.#stop.abort();
  }

  #open(next: NextCondition | undefined): { readonly open: OpenCondition; nextTrial: number } | undefined {
    if (next === undefined) return undefined;
    const { plan } = this;
    const { condition, countsAll } = next;
    const summary = new ConditionSummary(condition, plan.reports, plan.trials, plan.inputNames);
    const spikesOfAll = countsAll ? new Uint32Array(plan.connectome.neuronCount) : undefined;
    const open = {
      condition,
      summary,
      inputEvents: 0,
      synapticEvents: 0,
      ...(spikesOfAll && { spikesOfAll }),
    };
    return { open, nextTrial: 0 };
  }

  /** Never rejects. */
  async #run(openTrial: OpenTrial): Promise<void> {
    const { condition, spikesOfAll } = openTrial.open;
    this.#running++;
    this.#msBegun += condition.durationMs;
    this.options.onProgress?.();
    try {
      const task = condition.task(openTrial.trial, spikesOfAll !== undefined);
      openTrial.reading = await this.runTrial(task, this.#stop.signal);
      this.#trialsDone++;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running--;
    }
    if (this.#failed) return;
    this.options.onProgress?.();
    this.begin();
    this.#wake();
  }

  /** @returns whether it was the last trial of its condition */
  #sumUp({ open, trial }: OpenTrial, reading: TrialReading): boolean {
    const { summary, spikesOfAll } = open;
    summary.add(reading);
    reading.counts?.neurons.forEach((neuron, at) => (spikesOfAll![neuron]! += reading.counts!.spikes[at]!));
    open.inputEvents += reading.inputEvents;
    open.synapticEvents += reading.synapticEvents;
    return trial === this.plan.trials - 1;
  }

  #fail(reason: unknown): void {
    if (!this.#failed) {
      this.#failed = true;
      this.#reason = reason;
    }
    this.#stop.abort(reason);
    this.#wake();
  }
}

function finishedOf({
  condition,
  summary,
  inputEvents,
  synapticEvents,
  spikesOfAll,
}: OpenCondition): FinishedCondition {
  return {
    condition,
    inputEvents,
    synapticEvents,
    isRunaway: summary.mostResponding > RUNAWAY_NEURONS,
    ...(spikesOfAll && { spikesOfAll }),
    counts: () => summary.counts(),
  };
}
