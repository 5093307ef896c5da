import { NodeSetResolver } from '../../../engine/connectome/node-set-resolver.js';
import { parseDocument } from '../../../experiments/document/parse-document.js';
import { planExperiment } from '../../../experiments/plan/plan.js';
import { runExperiment } from '../../../experiments/run/run-experiment.js';
import type { RunTrial } from '../../../experiments/run/condition-run.js';
import { trialTask } from '../../../experiments/plan/trial.js';
import { startTrialPool } from '../trial-pool.js';
import type { ReadConnectome } from '../read-connectome.js';
import { DOCUMENT_LIMITS } from './document.js';
import type { ExperimentSource } from './source.js';

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

/**
 * Runs an experiment on the cores of this machine, with the same code for document, plan and trials as the service.
 * @param from the first condition of the answer
 * @param maxWorkers largest number of threads
 * @throws CodedError if the document is refused
 */
export function localExperiment(
  { connectome, bytes }: ReadConnectome,
  request: unknown,
  from: number,
  maxWorkers: number,
): ExperimentSource {
  const channels = connectome.metadata.channels.map(({ id }) => id);
  const document = parseDocument(request, DOCUMENT_LIMITS, channels);
  const plan = planExperiment(connectome, document, new NodeSetResolver(connectome, document), LIMITS);
  plan.checkFrom(from);
  return {
    dryRun: async () => plan.dryRun(from),
    async *events(options) {
      const workers = Math.min(maxWorkers, plan.grid.size * plan.trials);
      const pool = await startTrialPool(bytes, workers);
      try {
        const runTrial: RunTrial = (task, trial, signal) => pool.runTrial(trialTask(task, trial), signal);
        const atOnce = { inFlight: pool.inFlight, wiringsAtOnce: () => workers };
        yield* runExperiment(plan, runTrial, { ...options, from, ...atOnce });
      } finally {
        await pool.close();
      }
    },
    neurons: async () => connectome,
  };
}
