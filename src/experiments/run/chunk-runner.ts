/** Runs the cells of a plan in chunks, as jobs do. Chunks may run in different processes and in any order. */
import type { ExperimentPlan } from '../plan/plan.js';
import { Baselines } from './baselines.js';
import { ConditionRun, type RunOptions, type RunTrial } from './condition-run.js';
import type { ConditionResult } from './condition-result.js';
import { WholeConditions } from './pages.js';

/** Loads the result of a cell that has run before, perhaps in another process. */
export type LoadResult = (cell: number) => Promise<ConditionResult>;

/** Remembers the decisions of baselines between the chunks of one plan. */
export class ChunkRunner {
  readonly #baselines: Baselines;
  /** Deciders whose results the baselines know. */
  readonly #known = new Set<number>();

  constructor(private readonly plan: ExperimentPlan) {
    this.#baselines = new Baselines(plan);
  }

  /**
   * @param cells to run; their deciders (Grid.decidersOf) must have run before
   * @param load loads the results of deciders
   * @throws the error of `load` or of a trial
   */
  async *run(
    cells: readonly number[],
    load: LoadResult,
    runTrial: RunTrial,
    options: RunOptions,
  ): AsyncGenerator<readonly [cell: number, result: ConditionResult], void, void> {
    const { plan } = this;
    for (const cell of cells) {
      for (const decider of plan.grid.decidersOf(cell)) await this.#learn(decider, load);
    }
    const extent = { reports: plan.reports, rows: new WholeConditions(plan.tableRows) };
    yield* new ConditionRun(plan, this.#baselines, cells, runTrial, options, extent).results();
  }

  /** Call it for the deciders of a cell in ascending order. */
  async #learn(cell: number, load: LoadResult): Promise<void> {
    if (this.#known.has(cell)) return;
    const result = await load(cell);
    if (this.#known.has(cell)) return;
    this.#known.add(cell);
    const { kind } = this.#baselines.decide(cell);
    if ((kind !== 'run' && kind !== 'undrawn') || result.kind !== 'run' || result.spikesOfAll === undefined)
      return;
    this.#baselines.conclude(cell, result);
  }
}
