import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Environment } from '../config/environment.js';
import { CodedError } from '../../errors.js';
import type { Degradations } from '../health/degradations.js';
import type { LoadedModel, ModelHealth, WorkerCounts } from '../health/model-health.js';
import type { Limits } from '../limits/limits.js';
import { withTimeout } from '../../with-timeout.js';
import type { GpuStage } from '../../scheduling/gpu/gpu-stage.js';
import { WORKER_FILE } from '../../scheduling/worker-file.js';
import { ServedModel } from './served-model.js';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Reserved from SHUTDOWN_MS for the answers to abandoned runs. */
const LONGEST_FAREWELL_MS = 1_000;

/**
 * Loads the model in the background, so that the service answers from the start, and reports to ModelHealth. A model
 * that fails is loaded again, with growing pauses, until it can be served. Stops it when the service stops.
 */
export class ModelLoader implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  /** Called once a model is loaded and before it is called ready. */
  warmUp: (model: LoadedModel) => Promise<void> = async () => {};
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

  /** Protocols that the GPU was given, by outcome. */
  get gpuRuns(): GpuStage['runs'] {
    return this.#served?.gpuStage?.runs ?? { certified: 0, repeated: 0, lost: 0 };
  }

  onApplicationBootstrap(): void {
    this.#attempt = this.#load();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.health.draining = true;
    clearTimeout(this.#retryTimer);
    const served = this.#served;
    if (served === undefined) return;
    served.watch.end();
    const { SHUTDOWN_MS } = this.environment;
    const farewellMs = Math.min(LONGEST_FAREWELL_MS, SHUTDOWN_MS / 10);
    const finished = this.health.longTasksDone().then(() => served.queue.idle());
    await withTimeout(SHUTDOWN_MS - farewellMs, finished, () => undefined);
    // Waiting clients get an answer instead of a closed connection.
    this.health.end();
    await this.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    this.health.draining = true;
    clearTimeout(this.#retryTimer);
    await this.#attempt;
    await this.stop();
  }

  /** Ends workers and GPU at once, even during a run; resolves when their threads have ended. */
  async stop(): Promise<void> {
    await this.#served?.close();
  }

  async #load(): Promise<void> {
    const startedMs = performance.now();
    try {
      const served = (this.#served = await ServedModel.open({
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
      this.health.state = { name: 'warming', model: served };
      served.gpuStage?.start();
      // A service that is stopping refuses its own requests too, and then needs no warm-up.
      await this.warmUp(served).catch((error: unknown) => this.#log.warn(`Warm-up failed: ${String(error)}`));
      // Its workers may have ended meanwhile.
      if (this.#served !== served) return;
      this.health.state = { name: 'ready', model: served };
      this.#retryMs = FIRST_RETRY_MS;
      this.degradations.end('workers');
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
    this.#log.error(`${error.message} Trying again in ${this.#retryMs / 1000} s.`);
    this.health.state = { name: 'failed', error, retryAtMs: performance.now() + this.#retryMs };
    await served?.close();
    if (this.health.draining) return;
    this.#retryTimer = setTimeout(() => {
      this.#attempt = this.#load();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }
}
