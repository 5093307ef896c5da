/** Runs some conditions of a plan apart from the others: in chunks, in any process, in any order. */
import type { ExperimentPlan } from '../plan/plan.js';
import { Baselines } from './baselines.js';
import { ConditionRun, type RunOptions, type RunTrial } from './condition-run.js';
import type { ConditionOutcome } from './outcomes.js';
import { WholeConditions } from './pages.js';

/** Gives the outcome of a condition that was run before, maybe elsewhere. */
export type LoadOutcome = (index: number) => Promise<ConditionOutcome>;

/** The conditions of one plan. What baselines decide is kept between the chunks. */
export class ChunkRunner {
  readonly #baselines: Baselines;
  /** Deciders whose outcome the baselines have. */
  readonly #known = new Set<number>();

  constructor(private readonly plan: ExperimentPlan) {
    this.#baselines = new Baselines(plan);
  }

  /**
   * @param indices of conditions whose deciders have been run; see Grid.levelOf
   * @param load gives the outcomes of deciders
   * @throws what load or a trial rejects with
   */
  async *run(
    indices: readonly number[],
    load: LoadOutcome,
    runTrial: RunTrial,
    options: RunOptions,
  ): AsyncGenerator<readonly [index: number, outcome: ConditionOutcome], void, void> {
    const { plan } = this;
    for (const index of indices) {
      for (const decider of plan.grid.decidersOf(index)) await this.#learn(decider, load);
    }
    const extent = { reports: plan.reports, rows: new WholeConditions(plan.tableRows) };
    yield* new ConditionRun(plan, this.#baselines, indices, runTrial, options, extent).outcomes();
  }

  /** To be called in ascending order of the deciders of a condition. */
  async #learn(index: number, load: LoadOutcome): Promise<void> {
    if (this.#known.has(index)) return;
    const outcome = await load(index);
    if (this.#known.has(index)) return;
    this.#known.add(index);
    const decision = this.#baselines.decide(index);
    if (decision.kind !== 'run' || outcome.kind !== 'run' || outcome.spikesOfAll === undefined) return;
    this.#baselines.conclude(index, outcome.spikesOfAll);
  }
}
