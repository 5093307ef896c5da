import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Environment } from '../config/environment.js';
import type { Connectome } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { modelId } from '../connectome/model-id.js';
import { CodedError } from '../errors.js';
import { ExperimentPool } from '../pool/experiment-pool.js';
import { ExperimentQueue } from '../pool/experiment-queue.js';
import type { AtlasResult } from '../pool/task.js';
import { WorkerFile } from './worker-file.provider.js';

/** Everything that needs the connectome to be there. */
export interface LoadedModel {
  readonly id: string;
  readonly connectome: Connectome;
  readonly queue: ExperimentQueue;
  readonly atlas: AtlasResult;
}

export type ModelState =
  | { readonly name: 'loading' }
  | { readonly name: 'ready'; readonly model: LoadedModel }
  | { readonly name: 'failed'; readonly error: CodedError; readonly retryAtMs: number };

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** What a client is told to wait while nobody knows how long loading takes. */
const LOADING_RETRY_AFTER_S = 2;
const DRAINING_RETRY_AFTER_S = 5;

/**
 * Loads the connectome and starts the workers, in the background: the service answers from its first moment,
 * and says loading, ready or failed. A failed model is tried again, ever more slowly, until it loads.
 */
@Injectable()
export class ModelHealth implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #log = new Logger(ModelHealth.name);
  #state: ModelState = { name: 'loading' };
  #draining = false;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #pool: ExperimentPool | undefined;
  #attempt: Promise<void> = Promise.resolve();

  constructor(
    private readonly environment: Environment,
    private readonly workerFile: WorkerFile,
  ) {}

  get state(): ModelState {
    return this.#state;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /**
   * @returns the model, for reading it
   * @throws CodedError MODEL_LOADING, or what the model failed with
   */
  model(): LoadedModel {
    switch (this.#state.name) {
      case 'ready':
        return this.#state.model;
      case 'loading':
        throw new CodedError('MODEL_LOADING', 'The model is still being loaded; try again in a moment.', {
          retryAfterS: LOADING_RETRY_AFTER_S,
        });
      case 'failed':
        throw new CodedError(
          'MODEL_FAILED',
          'The model cannot be served at present; the service keeps trying to load it.',
          { cause: this.#state.error, retryAfterS: secondsUntil(this.#state.retryAtMs) },
        );
    }
  }

  /**
   * @returns the model, for running an experiment
   * @throws CodedError also DRAINING when the service is about to stop
   */
  modelForRuns(): LoadedModel {
    if (this.#draining) {
      throw new CodedError('DRAINING', 'The service is shutting down; try again in a moment.', {
        retryAfterS: DRAINING_RETRY_AFTER_S,
      });
    }
    return this.model();
  }

  onApplicationBootstrap(): void {
    this.#attempt = this.#load();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#retryTimer);
    if (this.#state.name !== 'ready') return;
    const { queue } = this.#state.model;
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.environment.SHUTDOWN_MS);
    });
    await Promise.race([queue.idle(), timeUp]);
    clearTimeout(timer);
  }

  async onApplicationShutdown(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#retryTimer);
    await this.#attempt;
    await this.#pool?.close();
  }

  async #load(): Promise<void> {
    const startedMs = performance.now();
    try {
      const buffer = await readConnectomeFile(this.environment.CONNECTOME_FILE);
      const connectome = openConnectome(buffer);
      this.#pool = await ExperimentPool.start({
        workers: this.environment.WORKERS,
        workerData: { connectome: buffer },
        workerFile: this.workerFile.url,
        onStrayError: (error) => this.#log.error(`A worker failed outside of any run: ${error.stack}`),
      });
      if (this.#draining) return;
      this.#state = { name: 'ready', model: await this.#describe(connectome, this.#pool) };
      this.#retryMs = FIRST_RETRY_MS;
      const { neuronCount, connectionCount } = connectome;
      this.#log.log(
        `Serving ${this.#state.model.id} (${neuronCount} neurons, ${connectionCount} connections) with ` +
          `${this.#pool.workers} workers after ${Math.round(performance.now() - startedMs)} ms`,
      );
    } catch (error) {
      await this.#pool?.close();
      this.#pool = undefined;
      this.#fail(error);
    }
  }

  async #describe(connectome: Connectome, pool: ExperimentPool): Promise<LoadedModel> {
    const queue = new ExperimentQueue((task, signal) => pool.run(task, signal), {
      slots: pool.workers,
      limit: this.environment.QUEUE_LIMIT,
      runTimeoutMs: this.environment.RUN_TIMEOUT_MS,
    });
    return { id: modelId(connectome), connectome, queue, atlas: await pool.run({ kind: 'atlas' }) };
  }

  #fail(cause: unknown): void {
    const error =
      cause instanceof CodedError
        ? cause
        : new CodedError('INTERNAL', `Loading the model failed: ${String(cause)}`, { cause });
    this.#log.error(`${error.message} Trying again in ${this.#retryMs / 1000} s.`);
    this.#state = { name: 'failed', error, retryAtMs: performance.now() + this.#retryMs };
    if (this.#draining) return;
    this.#retryTimer = setTimeout(() => {
      this.#attempt = this.#load();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }
}

function secondsUntil(momentMs: number): number {
  return Math.max(1, Math.ceil((momentMs - performance.now()) / 1000) + 1);
}
