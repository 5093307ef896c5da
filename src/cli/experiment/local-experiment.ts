import { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import { parseDocument } from '../../answers/v2/parse-document.js';
import { planExperiment, type ExperimentPlan } from '../../answers/v2/plan.js';
import type { DryRun, ExperimentEvent } from '../../answers/v2/result.js';
import { runExperiment } from '../../answers/v2/run-experiment.js';
import { TrialPool } from '../../pool/trial-pool.js';
import type { ReadConnectome } from '../read-connectome.js';
import { DOCUMENT_LIMITS, MAXIMUM_CONDITIONS } from './document-source.js';
import type { ExperimentSource, SourceOptions } from './source.js';

/** Nobody but the caller waits, and may end the command. */
const LIMITS = {
  conditions: MAXIMUM_CONDITIONS,
  selectedNeurons: Infinity,
  brainSeconds: Infinity,
  inputEventsPerTrial: Infinity,
  synapticEventsPerTrial: Infinity,
  tableRows: Infinity,
  rates: Infinity,
};

/** Runs an experiment on the cores of this machine: the document, plan and trials are those of the service. */
export class LocalExperiment implements ExperimentSource {
  readonly #plan: ExperimentPlan;

  /**
   * @param from the first condition of the answer
   * @param workers threads at most
   * @throws CodedError for a document that is refused
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

  dryRun(): Promise<DryRun> {
    return Promise.resolve(this.#plan.dryRun(this.from));
  }

  async *events(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void> {
    const { from, model } = this;
    const workers = Math.min(this.workers, this.#plan.conditions * this.#plan.trials);
    const pool = await TrialPool.start({ connectome: model.bytes, workers });
    try {
      yield* runExperiment(this.#plan, pool.runTrial, { ...options, from, inFlight: pool.inFlight });
    } finally {
      await pool.close();
    }
  }

  neurons(): Promise<ReadConnectome['connectome']> {
    return Promise.resolve(this.model.connectome);
  }
}
