import { Logger } from '@nestjs/common';
import { protocolOf, trialExperiment } from '../../experiments/presets/experiment.js';
import type { Environment } from '../config/environment.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { modelId } from '../../engine/connectome/model-id.js';
import type { CodedError } from '../../engine/errors.js';
import { ExperimentThread } from '../../workers/thread/experiment-thread.js';
import type { Limits } from '../limits/limits.js';
import type { Degradations } from '../health/degradations.js';
import type { LoadedModel } from '../health/model-health.js';
import { ExperimentPool } from '../../workers/pool/experiment-pool.js';
import { ExperimentQueue } from '../../workers/queue/experiment-queue.js';
import type { GpuStage } from '../../workers/gpu/gpu-stage.js';
import { gpuBeside, gpuRefusal } from './gpu-beside.js';
import { WorkerWatch } from './worker-watch.js';

/** Arguments for opening a model. */
interface Opening {
  readonly environment: Environment;
  readonly limits: Limits;
  readonly workerFile: URL;
  readonly degradations: Degradations;
  readonly earlierRestarts: number;
  /** Called when this model can no longer be served. */
  readonly onLost: (model: ServedModel, error: CodedError) => void;
}

/** A connectome with its workers, the GPU, the queue before both, and the experiment thread. */
export interface ServedModel extends LoadedModel {
  readonly watch: WorkerWatch;
  readonly gpuStage: GpuStage | undefined;
  /** Ends the workers and the GPU at once; unfinished tasks are rejected. */
  close(): Promise<void>;
}

/**
 * Loads the connectome file and starts the workers.
 * @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID, WORKER_LOST, DEADLINE_PASSED
 */
export async function openModel(options: Opening): Promise<ServedModel> {
  const { environment, limits, workerFile } = options;
  const buffer = await readConnectomeFile(environment.CONNECTOME_FILE);
  const connectome = openConnectome(buffer);
  // Workers may report changes before the model exists.
  let model: ServedModel | undefined;
  const starting = [
    ExperimentPool.start({
      workers: environment.WORKERS,
      workerData: { connectome: buffer },
      workerFile,
      onStrayError: (error) => {
        new Logger('ServedModel').error(`A worker failed outside of any run: ${error.stack}`);
        if (model !== undefined) model.watch.lastStrayError = error.message;
      },
      onChange: () => model?.watch.count(),
    }),
    ExperimentThread.start({
      connectome: buffer,
      documents: { ofAll: limits.waitingDocuments, ofClient: limits.waitingDocumentsPerClient },
    }),
  ] as const;
  try {
    const [pool, experiments] = await Promise.all(starting);
    model = await modelOn(pool, experiments, connectome, options);
    return model;
  } catch (error) {
    // Ends both before the failure is reported, so that no thread is left.
    const started = await Promise.allSettled<{ close(): Promise<void> }>(starting);
    for (const part of started) if (part.status === 'fulfilled') await part.value.close();
    throw error;
  }
}

async function modelOn(
  pool: ExperimentPool,
  experiments: ExperimentThread,
  connectome: Connectome,
  { environment, degradations, earlierRestarts, onLost }: Opening,
): Promise<ServedModel> {
  const { RUN_TIMEOUT_MS } = environment;
  const gpuStage = gpuBeside(connectome, environment, degradations, () => queue.dispatch());
  const queue = new ExperimentQueue(pool.members, {
    limit: environment.QUEUE_LIMIT,
    runTimeoutMs: RUN_TIMEOUT_MS,
    keepsWorkerForRuns: environment.ROLE === 'service',
    ...(gpuStage && {
      batches: { stage: gpuStage, protocolOf: ({ experiment }) => protocolOf(connectome, experiment) },
    }),
  });
  const experiment = trialExperiment(connectome.metadata);
  const tryOut = () =>
    pool.tryOut({ kind: 'v1-run', experiment, view: 'drive', gzip: false }, RUN_TIMEOUT_MS);
  // Workers that start but end with every run are not ready.
  await tryOut();
  const lost = (error: CodedError) => onLost(served, error);
  const served: ServedModel = {
    id: modelId(connectome),
    connectome,
    queue,
    experiments,
    atlas: await pool.run({ kind: 'atlas' }),
    gpuStage,
    watch: new WorkerWatch(pool, queue, tryOut, RUN_TIMEOUT_MS, degradations, lost),
    get workers() {
      const { workers, ready, restarts } = pool;
      return { configured: workers, ready, restarts: earlierRestarts + restarts + experiments.restarts };
    },
    get gpu() {
      return gpuStage?.state ?? { name: 'off', reason: gpuRefusal(environment, connectome) ?? '' };
    },
    async close() {
      served.watch.end();
      await pool.close();
      await experiments.close();
      await gpuStage?.close();
    },
  };
  return served;
}
