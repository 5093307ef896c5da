import { Logger } from '@nestjs/common';
import { trialExperiment } from '../answers/v1/presets.js';
import type { Environment } from '../config/environment.js';
import type { Connectome } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { modelId } from '../connectome/model-id.js';
import { selectionOf } from '../connectome/selection.js';
import type { CodedError } from '../errors.js';
import type { Degradations } from '../health/degradations.js';
import type { LoadedModel, WorkerCounts } from '../health/model-health.js';
import { withPauses } from '../pauses.js';
import { ExperimentPool } from '../pool/experiment-pool.js';
import { ExperimentQueue } from '../pool/experiment-queue.js';
import type { GpuStage, GpuState } from '../pool/gpu/gpu-stage.js';
import type { AtlasResult } from '../pool/task.js';
import { batchJobOf, gpuBeside } from './gpu-beside.js';
import { WorkerWatch } from './worker-watch.js';

export interface OpeningOptions {
  readonly environment: Environment;
  readonly workerFile: URL;
  readonly degradations: Degradations;
  /** Restarts of the workers of earlier models. */
  readonly earlierRestarts: number;
  /** Called when this model can no longer be served. */
  readonly onLost: (model: ServedModel, error: CodedError) => void;
}

/** A connectome with the workers that hold it, the GPU beside them, and the queue in front of both. */
export class ServedModel implements LoadedModel {
  readonly id: string;
  private readonly watch: WorkerWatch;

  private constructor(
    private readonly options: OpeningOptions,
    readonly connectome: Connectome,
    private readonly pool: ExperimentPool,
    private readonly gpuStage: GpuStage | undefined,
    readonly queue: ExperimentQueue,
    readonly atlas: AtlasResult,
  ) {
    this.id = modelId(connectome);
    this.watch = new WorkerWatch(pool, queue, {
      trial: trialExperiment(connectome.metadata),
      runTimeoutMs: options.environment.RUN_TIMEOUT_MS,
      degradations: options.degradations,
      onDead: (error) => options.onLost(this, error),
    });
  }

  /**
   * Loads the connectome file and starts the workers.
   * @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID, WORKER_LOST, DEADLINE_PASSED
   */
  static async open(options: OpeningOptions): Promise<ServedModel> {
    const { environment, workerFile, degradations } = options;
    const buffer = await readConnectomeFile(environment.CONNECTOME_FILE);
    const connectome = openConnectome(buffer);
    // Workers start and end before there is a listener.
    let model = undefined as ServedModel | undefined;
    const starting = ExperimentPool.start({
      workers: environment.WORKERS,
      workerData: { connectome: buffer },
      workerFile,
      onStrayError: (error) => {
        new Logger(ServedModel.name).error(`A worker failed outside of any run: ${error.stack}`);
        if (model !== undefined) model.watch.lastStrayError = error.message;
      },
      onChange: () => model?.watch.count(),
    });
    // Both have ended before either failure is reported, so that no worker is left behind.
    const [started, indexed] = await Promise.allSettled([starting, indexNeurons(connectome)]);
    if (started.status === 'rejected') throw started.reason;
    const pool = started.value;
    try {
      if (indexed.status === 'rejected') throw indexed.reason;
      const gpu = gpuBeside(pool, {
        environment,
        degradations,
        connectome,
        onChange: () => model?.queue.dispatch(),
      });
      const queue = new ExperimentQueue(pool.members, {
        limit: environment.QUEUE_LIMIT,
        runTimeoutMs: environment.RUN_TIMEOUT_MS,
        keepsWorkerForRuns: environment.ROLE === 'service',
        ...(gpu && {
          batches: { stage: gpu, jobOf: ({ experiment }) => batchJobOf(connectome, experiment) },
        }),
      });
      model = new ServedModel(options, connectome, pool, gpu, queue, await pool.run({ kind: 'atlas' }));
      return model;
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  get workers(): WorkerCounts {
    const { earlierRestarts } = this.options;
    const { workers, ready, restarts } = this.pool;
    return { configured: workers, ready, restarts: earlierRestarts + restarts };
  }

  get gpu(): GpuState {
    return this.gpuStage?.state ?? { name: 'off', reason: 'BACKEND=cpu' };
  }

  /** Runs that the GPU was given, by outcome. */
  get gpuRuns(): GpuStage['runs'] {
    return this.gpuStage?.runs ?? { certified: 0, repeated: 0, lost: 0 };
  }

  startGpu(): void {
    this.gpuStage?.start();
  }

  /** Starts to probe idle workers at intervals. */
  watchIdleWorkers(): void {
    this.watch.start();
  }

  /** Workers that end from now on are expected to. */
  stopWatching(): void {
    this.watch.end();
  }

  /** Ends the workers and the GPU at once; tasks that are still running are rejected. */
  async close(): Promise<void> {
    this.watch.end();
    await this.pool.close();
    await this.gpuStage?.close();
  }
}

/** While the workers start, so that no request has to: with health checks between one label and the next. */
async function indexNeurons(connectome: Connectome): Promise<void> {
  await withPauses(selectionOf(connectome).indexing());
}
