/** Runs some conditions of a plan apart from the others: in chunks, in any process, in any order. */
import { Baselines } from './baselines.js';
import { sparseSpikes, type ConditionOutcome } from './outcomes.js';
import type { ExperimentPlan } from './plan.js';
import {
  ConditionRun,
  type ConditionRunOptions,
  type NextCondition,
  type RunTrial,
} from './run-conditions.js';

/** Gives the outcome of a condition that was run before, maybe elsewhere. */
export type LoadOutcome = (index: number) => Promise<ConditionOutcome>;

/** The conditions of one plan. What baselines decide is kept between the chunks. */
export class ConditionsApart {
  readonly #baselines: Baselines;
  /** Deciders whose outcome the baselines have. */
  readonly #known = new Set<number>();

  constructor(
    private readonly plan: ExperimentPlan,
    private readonly load: LoadOutcome,
  ) {
    this.#baselines = new Baselines(plan.connectome, plan.grid);
  }

  /**
   * @param indices of conditions whose deciders have been run; see Grid.levelOf
   * @throws what load or a trial rejects with
   */
  async *run(
    indices: readonly number[],
    runTrial: RunTrial,
    options: ConditionRunOptions,
  ): AsyncGenerator<readonly [index: number, outcome: ConditionOutcome], void, void> {
    const { plan } = this;
    const toRun: NextCondition[] = [];
    for (const index of indices) {
      for (const decider of plan.grid.decidersOf(index)) await this.#learn(decider);
      const decision = this.#baselines.decide(index);
      switch (decision.kind) {
        case 'run': {
          const condition = plan.condition(index, decision.values);
          toRun.push({ condition, countsAll: plan.grid.decidesOthers(index) });
          break;
        }
        case 'unchanged':
          yield [index, { kind: 'unchanged', parameters: plan.parametersOf(decision.values) }];
          break;
        case 'absent':
          yield [index, { kind: 'absent' }];
          break;
        case 'undecided':
          throw new Error(`condition ${index} was to be run before those that decide on it`);
      }
    }
    const run = new ConditionRun(plan, runTrial, options, () => toRun.shift());
    try {
      for await (const finished of run.finished()) {
        const { condition, inputEvents, synapticEvents, isRunaway, spikesOfAll } = finished;
        const brainMs = condition.durationMs * plan.trials;
        yield [
          condition.index,
          {
            kind: 'run',
            counts: finished.counts(),
            cost: { brainMs, inputEvents, synapticEvents, isRunaway },
            ...(spikesOfAll !== undefined && { spikesOfAll: sparseSpikes(spikesOfAll) }),
          },
        ];
      }
    } finally {
      run.end();
    }
  }

  /** To be called in ascending order of the deciders of a condition. */
  async #learn(index: number): Promise<void> {
    if (this.#known.has(index)) return;
    const outcome = await this.load(index);
    if (this.#known.has(index)) return;
    this.#known.add(index);
    const decision = this.#baselines.decide(index);
    if (decision.kind !== 'run' || outcome.kind !== 'run' || outcome.spikesOfAll === undefined) return;
    const counts = new Uint32Array(this.plan.connectome.neuronCount);
    const { neurons, spikes } = outcome.spikesOfAll;
    neurons.forEach((neuron, at) => (counts[neuron] = spikes[at]!));
    this.#baselines.conclude(index, counts);
  }
}
