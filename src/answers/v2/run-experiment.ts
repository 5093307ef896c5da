/** Runs the conditions of a plan, whatever computes their trials. */
import { Baselines } from './baselines.js';
import { conditionResult } from './condition-result.js';
import { TotalsSum } from './totals.js';
import type { ExperimentPlan } from './plan.js';
import type { ExperimentEvent, ExperimentTotals } from './result.js';
import { ConditionRun, type FinishedCondition, type NextCondition, type RunTrial } from './run-conditions.js';

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

/**
 * Yields the head, the conditions in the order of their index, and the totals. What it yields depends on the plan and
 * on `from` alone: neither on the order in which trials end nor on how many run at once. With `from` the conditions
 * are those of the whole experiment; the totals count what this answer ran and list what is unchanged from there on.
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

class ExperimentRun {
  readonly #baselines: Baselines;
  readonly #needed: Uint8Array;
  readonly #from: number;
  readonly #run: ConditionRun;
  readonly #totals: TotalsSum;
  /** The next condition of the grid. */
  #index = 0;
  #trials: number;

  constructor(
    private readonly plan: ExperimentPlan,
    runTrial: RunTrial,
    { from = 0, onProgress, ...options }: RunOptions,
  ) {
    this.#from = from;
    this.#baselines = new Baselines(plan.connectome, plan.grid);
    this.#needed = plan.grid.neededFrom(from);
    this.#trials = plan.trials * this.#needed.reduce((sum, each) => sum + each, 0);
    this.#totals = new TotalsSum(plan);
    this.#run = new ConditionRun(
      plan,
      runTrial,
      {
        ...options,
        onProgress: () =>
          onProgress?.({
            trials: this.#trials,
            trialsDone: this.#run.trialsDone,
            brainSecondsBegun: this.#run.msBegun / 1000,
          }),
      },
      () => this.#nextCondition(),
    );
  }

  async *conditions(): AsyncGenerator<ExperimentEvent, void, void> {
    for await (const finished of this.#run.finished()) {
      const { index } = finished.condition;
      const isAnswered = index >= this.#from;
      this.#count(finished, isAnswered);
      if (isAnswered) {
        this.#run.begin();
        yield { kind: 'condition', condition: conditionResult(finished.counts(), this.plan.reports) };
      }
    }
  }

  totals(): ExperimentTotals {
    return this.#totals.totals();
  }

  end(): void {
    this.#run.end();
  }

  #count(finished: FinishedCondition, isAnswered: boolean): void {
    const { condition, spikesOfAll } = finished;
    if (spikesOfAll !== undefined) this.#baselines.conclude(condition.index, spikesOfAll);
    this.#totals.addRun({
      ...finished,
      index: condition.index,
      isRunaway: finished.isRunaway && isAnswered,
      brainMs: condition.durationMs * this.plan.trials,
    });
  }

  /** @returns undefined where there is none, or where it depends on a baseline that is under way */
  #nextCondition(): NextCondition | undefined {
    const { plan } = this;
    for (; this.#index < plan.grid.size; this.#index++) {
      const index = this.#index;
      if (this.#needed[index] === 0) continue;
      const decision = this.#baselines.decide(index);
      if (decision.kind === 'undecided') return undefined;
      if (decision.kind === 'run') {
        this.#index++;
        return {
          condition: plan.condition(index, decision.values),
          countsAll: plan.grid.decidesOthers(index),
        };
      }
      this.#trials -= plan.trials;
      if (decision.kind === 'unchanged' && index >= this.#from) {
        this.#totals.addUnchanged(plan.parametersOf(decision.values));
      }
    }
    return undefined;
  }
}
