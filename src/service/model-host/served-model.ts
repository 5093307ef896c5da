import { Logger } from '@nestjs/common';
import { trialExperiment } from '../../presets/presets.js';
import type { Environment } from '../config/environment.js';
import type { Connectome } from '../../connectome/connectome.js';
import { readConnectomeFile } from '../../connectome/connectome-file.js';
import { openConnectome } from '../../connectome/format.js';
import { modelId } from '../../connectome/model-id.js';
import type { CodedError } from '../../errors.js';
import { ExperimentThread } from '../../scheduling/experiment-thread/experiment-thread.js';
import type { Limits } from '../limits/limits.js';
import type { Degradations } from '../health/degradations.js';
import type { LoadedModel, WorkerCounts } from '../health/model-health.js';
import { ExperimentPool } from '../../scheduling/experiment-pool.js';
import { ExperimentQueue } from '../../scheduling/experiment-queue.js';
import type { GpuStage, GpuState } from '../../scheduling/gpu/gpu-stage.js';
import type { AtlasResult } from '../../scheduling/task.js';
import { batchTaskOf, gpuBeside, gpuRefusal } from './gpu-beside.js';
import { WorkerWatch } from './worker-watch.js';

export interface OpeningOptions {
  readonly environment: Environment;
  readonly limits: Limits;
  readonly workerFile: URL;
  readonly degradations: Degradations;
  readonly earlierRestarts: number;
  /** Called when this model can no longer be served. */
  readonly onLost: (model: ServedModel, error: CodedError) => void;
}

/** A connectome with the workers that hold it, the GPU beside them, and the queue in front of both. */
export class ServedModel implements LoadedModel {
  readonly id: string;
  readonly watch: WorkerWatch;

  private constructor(
    private readonly options: OpeningOptions,
    readonly connectome: Connectome,
    private readonly pool: ExperimentPool,
    readonly gpuStage: GpuStage | undefined,
    readonly queue: ExperimentQueue,
    readonly experiments: ExperimentThread,
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
    const { environment, limits, workerFile, degradations } = options;
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
    const [started, opened] = await Promise.allSettled([
      starting,
      ExperimentThread.start({
        connectome: buffer,
        documents: { ofAll: limits.waitingDocuments, ofClient: limits.waitingDocumentsPerClient },
      }),
    ]);
    if (started.status === 'rejected' || opened.status === 'rejected') {
      if (started.status === 'fulfilled') await started.value.close();
      if (opened.status === 'fulfilled') await opened.value.close();
      throw started.status === 'rejected' ? started.reason : (opened as PromiseRejectedResult).reason;
    }
    const [pool, experiments] = [started.value, opened.value];
    try {
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
          batches: { stage: gpu, taskOf: ({ experiment }) => batchTaskOf(connectome, experiment) },
        }),
      });
      const atlas = await pool.run({ kind: 'atlas' });
      model = new ServedModel(options, connectome, pool, gpu, queue, experiments, atlas);
      return model;
    } catch (error) {
      await pool.close();
      await experiments.close();
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

  /** Ends the workers and the GPU at once; tasks that are still running are rejected. */
  async close(): Promise<void> {
    this.watch.end();
    await this.pool.close();
    await this.experiments.close();
    await this.gpuStage?.close();
  }
}
