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
import type { LoadedModel, WorkerCounts } from '../health/model-health.js';
import { ExperimentPool } from '../../workers/pool/experiment-pool.js';
import { ExperimentQueue } from '../../workers/queue/experiment-queue.js';
import type { GpuStage, GpuState } from '../../workers/gpu/gpu-stage.js';
import type { AtlasResult } from '../../workers/pool/task.js';
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
export class ServedModel implements LoadedModel {
  readonly id: string;
  readonly watch: WorkerWatch;

  private constructor(
    private readonly options: Opening,
    readonly connectome: Connectome,
    private readonly pool: ExperimentPool,
    readonly gpuStage: GpuStage | undefined,
    readonly queue: ExperimentQueue,
    readonly experiments: ExperimentThread,
    readonly atlas: AtlasResult,
  ) {
    this.id = modelId(connectome);
    const { environment, degradations, onLost } = options;
    const trial = trialExperiment(connectome.metadata);
    this.watch = new WorkerWatch(pool, queue, trial, environment.RUN_TIMEOUT_MS, degradations, (error) =>
      onLost(this, error),
    );
  }

  /**
   * Loads the connectome file and starts the workers.
   * @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID, WORKER_LOST, DEADLINE_PASSED
   */
  static async open(options: Opening): Promise<ServedModel> {
    const { environment, limits, workerFile, degradations } = options;
    const buffer = await readConnectomeFile(environment.CONNECTOME_FILE);
    const connectome = openConnectome(buffer);
    // Workers may report changes before the model exists.
    let model = undefined as ServedModel | undefined;
    const starting = [
      ExperimentPool.start({
        workers: environment.WORKERS,
        workerData: { connectome: buffer },
        workerFile,
        onStrayError: (error) => {
          new Logger(ServedModel.name).error(`A worker failed outside of any run: ${error.stack}`);
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
      const gpu = gpuBeside(connectome, environment, degradations, () => model?.queue.dispatch());
      const queue = new ExperimentQueue(pool.members, {
        limit: environment.QUEUE_LIMIT,
        runTimeoutMs: environment.RUN_TIMEOUT_MS,
        keepsWorkerForRuns: environment.ROLE === 'service',
        ...(gpu && {
          batches: { stage: gpu, protocolOf: ({ experiment }) => protocolOf(connectome, experiment) },
        }),
      });
      // Workers that start but end with every run are not ready.
      const experiment = trialExperiment(connectome.metadata);
      await pool.tryOut(
        { kind: 'v1-run', experiment, view: 'drive', gzip: false },
        environment.RUN_TIMEOUT_MS,
      );
      const atlas = await pool.run({ kind: 'atlas' });
      model = new ServedModel(options, connectome, pool, gpu, queue, experiments, atlas);
      return model;
    } catch (error) {
      // Ends both before the failure is reported, so that no thread is left.
      const started = await Promise.allSettled<{ close(): Promise<void> }>(starting);
      for (const part of started) if (part.status === 'fulfilled') await part.value.close();
      throw error;
    }
  }

  get workers(): WorkerCounts {
    const { earlierRestarts } = this.options;
    const { workers, ready, restarts } = this.pool;
    return { configured: workers, ready, restarts: earlierRestarts + restarts + this.experiments.restarts };
  }

  get gpu(): GpuState {
    const { environment } = this.options;
    return this.gpuStage?.state ?? { name: 'off', reason: gpuRefusal(environment, this.connectome) ?? '' };
  }

  /** Ends the workers and the GPU at once; unfinished tasks are rejected. */
  async close(): Promise<void> {
    this.watch.end();
    await this.pool.close();
    await this.experiments.close();
    await this.gpuStage?.close();
  }
}
