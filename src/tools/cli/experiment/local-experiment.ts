import { NodeSetResolver } from '../../../engine/connectome/node-set-resolver.js';
import { parseDocument } from '../../../experiments/document/parse-document.js';
import { planExperiment, type ExperimentPlan } from '../../../experiments/plan/plan.js';
import type { DryRun, ExperimentEvent } from '../../../experiments/document/result.js';
import { runExperiment } from '../../../experiments/run/run-experiment.js';
import type { RunTrial } from '../../../experiments/run/condition-run.js';
import { trialTask } from '../../../experiments/plan/trial.js';
import { startTrialPool } from '../trial-pool.js';
import type { ReadConnectome } from '../read-connectome.js';
import { DOCUMENT_LIMITS } from './document.js';
import type { ExperimentSource, SourceOptions } from './source.js';

/** Only conditions are limited. Nobody else waits for this machine, and the user can end the command. */
const LIMITS = {
  conditions: DOCUMENT_LIMITS.conditions,
  selectedNeurons: Infinity,
  brainSeconds: Infinity,
  inputEventsPerTrial: Infinity,
  synapticEventsPerTrial: Infinity,
  tableRows: Infinity,
  samples: Infinity,
  groupNumbers: Infinity,
};

/** Runs an experiment on the cores of this machine, with the same code for document, plan and trials as the service. */
export class LocalExperiment implements ExperimentSource {
  readonly #plan: ExperimentPlan;

  /**
   * @param from the first condition of the answer
   * @param workers largest number of threads
   * @throws CodedError if the document is refused
   */
  constructor(
    private readonly model: ReadConnectome,
    request: unknown,
    private readonly from: number,
    private readonly workers: number,
  ) {
    const { connectome } = model;
    const channels = connectome.metadata.channels.map(({ id }) => id);
    const document = parseDocument(request, DOCUMENT_LIMITS, channels);
    this.#plan = planExperiment(connectome, document, new NodeSetResolver(connectome, document), LIMITS);
    this.#plan.checkFrom(from);
  }

  async dryRun(): Promise<DryRun> {
    return this.#plan.dryRun(this.from);
  }

  async *events(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const { from, model } = this;
    const workers = Math.min(this.workers, this.#plan.grid.size * this.#plan.trials);
    const pool = await startTrialPool(model.bytes, workers);
    try {
      const runTrial: RunTrial = (task, trial, signal) => pool.runTrial(trialTask(task, trial), signal);
      const atOnce = { inFlight: pool.inFlight, wiringsAtOnce: () => workers };
      yield* runExperiment(this.#plan, runTrial, { ...options, from, ...atOnce });
    } finally {
      await pool.close();
    }
  }

  async neurons(): Promise<ReadConnectome['connectome']> {
    return this.model.connectome;
  }
}
