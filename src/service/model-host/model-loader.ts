import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Environment } from '../config/environment.js';
import { CodedError } from '../../engine/errors.js';
import type { Degradations } from '../health/degradations.js';
import type { ModelHealth, WorkerCounts } from '../health/model-health.js';
import type { Limits } from '../limits/limits.js';
import { withTimeout } from '../../workers/pool/with-timeout.js';
import type { GpuStage } from '../../workers/gpu/gpu-stage.js';
import { WORKER_FILE } from '../../workers/pool/worker-file.js';
import { addressSpaceAdvice, limitsOfProcess } from './address-space.js';
import { openModel, type ServedModel } from './served-model.js';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Part of SHUTDOWN_MS that is reserved for answering abandoned runs. */
const MAX_FAREWELL_MS = 1_000;

/**
 * Loads the model in the background, so that the service answers from the start, and reports to ModelHealth. If the
 * model fails, it is loaded again after growing pauses. The loader also stops the model with the service.
 */
export class ModelLoader implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #log = new Logger(ModelLoader.name);
  #served: ServedModel | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #earlierRestarts = 0;

  constructor(
    private readonly environment: Environment,
    private readonly limits: Limits,
    private readonly health: ModelHealth,
    private readonly degradations: Degradations,
    private readonly workerFile = WORKER_FILE,
  ) {}

  get workers(): WorkerCounts {
    const none = { configured: this.environment.WORKERS, ready: 0, restarts: this.#earlierRestarts };
    return this.#served?.workers ?? none;
  }

  /** Numbers of protocols that the GPU received, by result. */
  get gpuRuns(): GpuStage['runs'] {
    return this.#served?.gpuStage?.runs ?? { certified: 0, repeated: 0, lost: 0 };
  }

  onApplicationBootstrap(): void {
    this.#attempt = this.#load();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.health.draining = true;
    clearTimeout(this.#retryTimer);
    this.#served?.watch.end();
    const { SHUTDOWN_MS } = this.environment;
    const farewellMs = Math.min(MAX_FAREWELL_MS, SHUTDOWN_MS / 10);
    // Not until the queue is empty: workers may compute for clients that have gone.
    await withTimeout(SHUTDOWN_MS - farewellMs, this.health.tasksDone(), () => undefined);
    // Clients that still wait get an answer and not a closed connection.
    this.health.end();
    await this.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    this.health.draining = true;
    clearTimeout(this.#retryTimer);
    await this.#attempt;
    await this.stop();
  }

  /** Ends workers and GPU at once, even during a run; resolves after their threads have ended. */
  async stop(): Promise<void> {
    await this.#served?.close();
  }

  async #load(): Promise<void> {
    const startedMs = performance.now();
    try {
      const served = (this.#served = await openModel({
        environment: this.environment,
        limits: this.limits,
        workerFile: this.workerFile,
        degradations: this.degradations,
        earlierRestarts: this.#earlierRestarts,
        onLost: (model, error) => {
          if (this.#served === model) void this.#fail(error);
        },
      }));
      if (this.health.draining) return;
      served.gpuStage?.start();
      this.health.state = { name: 'ready', model: served };
      this.#retryMs = FIRST_RETRY_MS;
      this.degradations.set('workers');
      served.watch.start();
      const { neuronCount, connectionCount } = served.connectome;
      this.#log.log(
        `Serving ${served.id} (${neuronCount} neurons, ${connectionCount} connections) with ` +
          `${served.workers.configured} workers after ${Math.round(performance.now() - startedMs)} ms`,
      );
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #fail(cause: unknown): Promise<void> {
    const served = this.#served;
    this.#earlierRestarts = this.workers.restarts;
    this.#served = undefined;
    const error =
      cause instanceof CodedError
        ? cause
        : new CodedError('INTERNAL', `Loading the model failed: ${String(cause)}`, { cause });
    // Only a worker that never answered may have had too little room to start.
    const isAtStart = served === undefined && error.code === 'WORKER_LOST';
    const advice = isAtStart ? addressSpaceAdvice(limitsOfProcess()) : '';
    this.#log.error(
      [error.message, advice, `Trying again in ${this.#retryMs / 1000} s.`].filter(Boolean).join(' '),
    );
    this.health.state = { name: 'failed', error, advice, retryAtMs: performance.now() + this.#retryMs };
    if (served !== undefined) this.health.lost.next();
    await served?.close();
    if (this.health.draining) return;
    this.#retryTimer = setTimeout(() => {
      this.#attempt = this.#load();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }
}
