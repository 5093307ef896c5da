/** Runs the conditions of a plan, whatever computes their trials. */
import { Baselines } from './baselines.js';
import type { Condition, ExperimentPlan } from './plan.js';
import type { ConditionParameters, ExperimentEvent, ExperimentTotals } from './result.js';
import { ConditionSummary } from './summary.js';
import type { TrialReading, TrialTask } from './trial.js';
import { RUNAWAY_NEURONS, runawayWarning } from './warnings.js';

/** Computes a trial. It ends its work, or rejects, when the signal is aborted. */
export type RunTrial = (task: TrialTask, signal: AbortSignal) => Promise<TrialReading>;

export interface RunOptions {
  /** The first condition of the answer; before it only baselines that decide on later ones are run. */
  readonly from?: number;
  /** Ends the experiment, which then throws the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Trials that are computed at once, at least 1. */
  readonly inFlight: number;
  /** Called whenever a trial begins or ends. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
}

export interface ExperimentProgress {
  /** Trials in all; fewer once it is known that lesions change nothing or that fewer groups responded. */
  readonly trials: number;
  readonly trialsDone: number;
  /** Of the trials that were begun. What the plan expected beyond them was not used when the experiment ends. */
  readonly brainSecondsBegun: number;
}

/** Trials that are begun before the oldest unfinished one, for each that is computed at once: bounds what waits. */
const AHEAD = 2;

/**
 * Yields the head, the conditions in the order of their index, and the totals. What it yields depends on the plan and
 * on `from` alone: neither on the order in which trials end nor on how many run at once. With `from` the conditions
 * are those of the whole experiment; the totals count what this answer ran and list what is unchanged from there on.
 * Memory holds the readings of a few trials and the sums of a few conditions.
 * @throws what a trial rejects with; no further trial is begun then
 */
export async function* runExperiment(
  plan: ExperimentPlan,
  runTrial: RunTrial,
  options: RunOptions,
): AsyncGenerator<ExperimentEvent, void, void> {
  yield { kind: 'head', head: plan.head };
  const run = new ExperimentRun(plan, runTrial, options);
  try {
    yield* run.conditions();
    yield { kind: 'totals', totals: run.totals() };
  } finally {
    run.end();
  }
}

/** A condition whose trials are under way. */
interface OpenCondition {
  readonly condition: Condition;
  readonly summary: ConditionSummary;
  /** Spikes of every neuron, where they decide on other conditions. */
  readonly counts?: Uint32Array;
  /** Whether the answer has it. */
  readonly isAnswered: boolean;
}

interface OpenTrial {
  readonly open: OpenCondition;
  readonly trial: number;
  /** When it has ended. */
  reading?: TrialReading;
}

class ExperimentRun {
  readonly #baselines: Baselines;
  readonly #needed: Uint8Array;
  readonly #from: number;
  readonly #stop = new AbortController();
  readonly #forwardAbort = () => this.#fail(this.options.signal!.reason);
  /** Trials that were begun and are not yet summed up, oldest first. */
  readonly #openTrials: OpenTrial[] = [];
  #running = 0;
  #failed = false;
  /** What it failed with. */
  #reason: unknown;
  /** Called when a trial ends or the experiment fails. */
  #wake = () => {};
  /** The next condition of the grid. */
  #index = 0;
  #current: { readonly open: OpenCondition; nextTrial: number } | undefined;

  #trials: number;
  #trialsDone = 0;
  #msBegun = 0;
  #msDone = 0;
  #inputEvents = 0;
  #synapticEvents = 0;
  readonly #unchanged: ConditionParameters['parameters'][] = [];
  readonly #runaways: number[] = [];

  constructor(
    private readonly plan: ExperimentPlan,
    private readonly runTrial: RunTrial,
    private readonly options: RunOptions,
  ) {
    this.#from = options.from ?? 0;
    this.#baselines = new Baselines(plan.connectome, plan.grid);
    this.#needed = plan.grid.neededFrom(this.#from);
    this.#trials = plan.trials * this.#needed.reduce((sum, each) => sum + each, 0);
    const { signal } = options;
    if (signal?.aborted) this.#fail(signal.reason);
    else signal?.addEventListener('abort', this.#forwardAbort, { once: true });
  }

  async *conditions(): AsyncGenerator<ExperimentEvent, void, void> {
    for (;;) {
      this.#begin();
      const oldest = this.#openTrials[0];
      // Trials under way are not waited for: any of them may be the one that failed.
      if (this.#failed) throw this.#reason;
      if (oldest === undefined) return;
      if (oldest.reading === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#openTrials.shift();
      if (!this.#sumUp(oldest, oldest.reading)) continue;
      const { summary, isAnswered } = oldest.open;
      if (isAnswered) {
        this.#begin();
        yield { kind: 'condition', condition: summary.result() };
      }
    }
  }

  totals(): ExperimentTotals {
    const warnings = [...this.plan.warnings];
    if (this.#runaways.length > 0) warnings.push(runawayWarning(this.#runaways));
    return {
      unchanged: this.#unchanged,
      cost: {
        brain_seconds: this.#msDone / 1000,
        input_events: this.#inputEvents,
        synaptic_events: this.#synapticEvents,
      },
      warnings,
      cite: this.plan.cite,
    };
  }

  /** Trials that were not begun never are; those under way are told. */
  end(): void {
    this.options.signal?.removeEventListener('abort', this.#forwardAbort);
    this.#stop.abort();
  }

  /** Begins as many trials as may run. */
  #begin(): void {
    const { inFlight } = this.options;
    while (
      !this.#stop.signal.aborted &&
      this.#running < inFlight &&
      this.#openTrials.length < AHEAD * inFlight
    ) {
      this.#current ??= this.#nextCondition();
      if (this.#current === undefined) return;
      const { open, nextTrial } = this.#current;
      if (++this.#current.nextTrial === this.plan.trials) this.#current = undefined;
      const openTrial: OpenTrial = { open, trial: nextTrial };
      this.#openTrials.push(openTrial);
      void this.#run(openTrial);
    }
  }

  /** Never rejects. */
  async #run(openTrial: OpenTrial): Promise<void> {
    const { condition, counts } = openTrial.open;
    this.#running++;
    this.#msBegun += condition.durationMs;
    this.#report();
    try {
      const task = condition.task(openTrial.trial, counts !== undefined);
      openTrial.reading = await this.runTrial(task, this.#stop.signal);
      this.#trialsDone++;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running--;
    }
    if (this.#failed) return;
    this.#report();
    this.#begin();
    this.#wake();
  }

  /** @returns undefined where there is none, or where it depends on a baseline that is under way */
  #nextCondition(): { readonly open: OpenCondition; nextTrial: number } | undefined {
    const { plan } = this;
    for (; this.#index < plan.grid.size; this.#index++) {
      const index = this.#index;
      if (this.#needed[index] === 0) continue;
      const decision = this.#baselines.decide(index);
      if (decision.kind === 'undecided') return undefined;
      const isAnswered = index >= this.#from;
      if (decision.kind === 'run') {
        this.#index++;
        const condition = plan.condition(index, decision.values);
        const summary = new ConditionSummary(condition, plan.reports, plan.trials, plan.inputNames);
        const decides = this.#baselines.decidesOthers(index);
        const counts = decides ? new Uint32Array(plan.connectome.neuronCount) : undefined;
        return { open: { condition, summary, isAnswered, ...(counts && { counts }) }, nextTrial: 0 };
      }
      this.#trials -= plan.trials;
      if (decision.kind === 'unchanged' && isAnswered) {
        this.#unchanged.push(plan.parametersOf(decision.values));
      }
    }
    return undefined;
  }

  /** @returns whether it was the last trial of its condition */
  #sumUp({ open, trial }: OpenTrial, reading: TrialReading): boolean {
    const { condition, summary, counts } = open;
    summary.add(reading);
    reading.counts?.neurons.forEach((neuron, at) => (counts![neuron]! += reading.counts!.spikes[at]!));
    this.#msDone += condition.durationMs;
    this.#inputEvents += reading.inputEvents;
    this.#synapticEvents += reading.synapticEvents;
    if (trial < this.plan.trials - 1) return false;
    if (counts !== undefined) this.#baselines.conclude(condition.index, counts);
    if (open.isAnswered && summary.mostResponding > RUNAWAY_NEURONS) this.#runaways.push(condition.index);
    return true;
  }

  #report(): void {
    this.options.onProgress?.({
      trials: this.#trials,
      trialsDone: this.#trialsDone,
      brainSecondsBegun: this.#msBegun / 1000,
    });
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
