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
import { DEFAULT_EXPERIMENT } from '../answers/v1/experiment.js';
import { requirePopulations } from '../answers/v1/required-populations.js';
import { STIMULUS_IDS } from '../connectome/populations.js';
import { CodedError, ERRORS, messageWithCause } from '../errors.js';
import { ExperimentPool } from '../pool/experiment-pool.js';
import { ExperimentQueue } from '../pool/experiment-queue.js';
import { GpuStage, type GpuState } from '../pool/gpu/gpu-stage.js';
import type { AtlasResult, Backend } from '../pool/task.js';
import { Degradations } from './degradations.js';
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
  /** Runs are answered, but the first ones would be slow. */
  | { readonly name: 'warming'; readonly model: LoadedModel }
  | { readonly name: 'ready'; readonly model: LoadedModel }
  | { readonly name: 'failed'; readonly error: CodedError; readonly retryAtMs: number };

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** How often idle workers are asked whether they still answer, and missing ones are started again. */
const WATCH_INTERVAL_MS = 5_000;
/** For each worker. So many runs may end theirs, one after the other, before it is asked whose fault that is. */
const LOST_RUNS_PER_WORKER = 2;
/** Kept of SHUTDOWN_MS for the answers to what had to be given up. */
const LONGEST_FAREWELL_MS = 1_000;
/** What a client is told to wait while nobody knows how long loading takes. */
const LOADING_RETRY_AFTER_S = 2;
const GPU_SHARE_OF_TIMEOUT = 1 / 3;
const DRAINING_RETRY_AFTER_S = 5;

/**
 * Loads the connectome and starts the workers, in the background: the service answers from its first moment,
 * and says loading, ready or failed. A failed model is tried again, ever more slowly, until it loads.
 */
@Injectable()
export class ModelHealth implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  /** Asked once a model is loaded and before it is called ready. */
  rehearsal: () => Promise<void> = async () => {};
  readonly #log = new Logger(ModelHealth.name);
  #state: ModelState = { name: 'loading' };
  #draining = false;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #pool: ExperimentPool | undefined;
  #gpu: GpuStage | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #watchTimer: NodeJS.Timeout | undefined;
  #triedOut: ExperimentPool | undefined;
  #earlierRestarts = 0;
  #lastStrayError = 'no reason was given';

  constructor(
    private readonly environment: Environment,
    private readonly workerFile: WorkerFile,
    private readonly degradations: Degradations,
  ) {}

  get state(): ModelState {
    return this.#state;
  }

  get workers(): { readonly configured: number; readonly ready: number; readonly restarts: number } {
    return {
      configured: this.environment.WORKERS,
      ready: this.#pool?.ready ?? 0,
      restarts: this.#earlierRestarts + (this.#pool?.restarts ?? 0),
    };
  }

  /** What simulates, given enough work. */
  get backend(): Backend {
    return this.gpu.name === 'ready' ? 'gpu' : 'cpu';
  }

  get gpu(): GpuState {
    return this.#gpu?.state ?? { name: 'off', reason: 'BACKEND=cpu' };
  }

  /** Runs that the GPU was given, by what became of them. */
  get gpuRuns(): GpuStage['runs'] {
    return this.#gpu?.runs ?? { certified: 0, repeated: 0, lost: 0 };
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
      case 'warming':
      case 'ready':
        return this.#state.model;
      case 'loading':
        throw new CodedError('MODEL_LOADING', 'The model is still being loaded; try again in a moment.', {
          retryAfterS: LOADING_RETRY_AFTER_S,
        });
      case 'failed':
        throw new CodedError(
          'MODEL_FAILED',
          // The code's meaning and not the message, which names files of the machine.
          `The model cannot be served at present (${this.#state.error.code}). ` +
            `${ERRORS[this.#state.error.code].meaning} The service keeps trying.`,
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

  /**
   * @returns the model, for those who send work only to a service that is at its best
   * @throws CodedError as modelForRuns
   */
  modelWhenReady(): LoadedModel {
    const model = this.modelForRuns();
    if (this.#state.name === 'ready') return model;
    throw new CodedError('MODEL_LOADING', 'The model is loaded and warms up; try again in a moment.', {
      retryAfterS: LOADING_RETRY_AFTER_S,
    });
  }

  onApplicationBootstrap(): void {
    this.#attempt = this.#load();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#watchTimer);
    if (!('model' in this.#state)) return;
    const { queue } = this.#state.model;
    let timer: NodeJS.Timeout | undefined;
    const { SHUTDOWN_MS } = this.environment;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SHUTDOWN_MS - Math.min(LONGEST_FAREWELL_MS, SHUTDOWN_MS / 10));
    });
    await Promise.race([queue.idle(), timeUp]);
    clearTimeout(timer);
    // Whoever waits still is told so, instead of losing the connection.
    await this.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#retryTimer);
    await this.#attempt;
    await this.stop();
  }

  /** Ends workers and GPU at once, whatever they are doing; resolves when their threads have ended. */
  async stop(): Promise<void> {
    await this.#pool?.close();
    await this.#gpu?.close();
  }

  async #load(): Promise<void> {
    const startedMs = performance.now();
    try {
      const buffer = await readConnectomeFile(this.environment.CONNECTOME_FILE);
      const connectome = openConnectome(buffer);
      requirePopulations(connectome.metadata);
      this.#pool = await ExperimentPool.start({
        workers: this.environment.WORKERS,
        workerData: { connectome: buffer },
        workerFile: this.workerFile.url,
        onStrayError: (error) => {
          this.#lastStrayError = error.message;
          this.#log.error(`A worker failed outside of any run: ${error.stack}`);
        },
        onChange: () => this.#countWorkers(),
      });
      if (this.#draining) return;
      const model = await this.#describe(connectome, this.#pool);
      this.#state = { name: 'warming', model };
      this.#gpu?.start();
      // A service that is being stopped refuses its own requests too; then nobody waits for it to be fast.
      await this.rehearsal().catch((error: unknown) => this.#log.warn(`No rehearsal: ${String(error)}`));
      // Its workers may have ended meanwhile.
      if (this.#state.model !== model) return;
      this.#state = { name: 'ready', model };
      this.#retryMs = FIRST_RETRY_MS;
      this.degradations.end('workers');
      this.#watchLater();
      const { neuronCount, connectionCount } = connectome;
      this.#log.log(
        `Serving ${model.id} (${neuronCount} neurons, ${connectionCount} connections) with ` +
          `${this.#pool.workers} workers after ${Math.round(performance.now() - startedMs)} ms`,
      );
    } catch (error) {
      await this.#fail(error);
    }
  }

  #countWorkers(): void {
    if (!('model' in this.#state) || this.#draining) return;
    const pool = this.#pool!;
    const { present, ready, workers } = pool;
    if (present === 0) {
      void this.#fail(
        new CodedError(
          'WORKER_LOST',
          `No worker is left and none could be started: ${this.#lastStrayError}.`,
        ),
      );
      return;
    }
    if (pool.lostInARow > LOST_RUNS_PER_WORKER * workers) void this.#tryOut(pool);
    if (present < workers) {
      const reason = `${present} of ${workers} workers are there; another could not be started.`;
      this.degradations.begin({ part: 'workers', reason });
    } else if (ready === workers) {
      this.degradations.end('workers');
    }
  }

  /** Where run after run ends its worker, either the runs or the workers are bad: a harmless run tells which. */
  async #tryOut(pool: ExperimentPool): Promise<void> {
    if (this.#triedOut === pool) return;
    this.#triedOut = pool;
    try {
      await pool.tryOut(DEFAULT_EXPERIMENT, this.environment.RUN_TIMEOUT_MS);
    } catch (cause) {
      if (this.#pool === pool && 'model' in this.#state && !this.#draining) {
        await this.#fail(
          new CodedError('WORKER_LOST', 'The workers end again and again without an answer.', { cause }),
        );
      }
    } finally {
      this.#triedOut = undefined;
    }
  }

  #watchLater(): void {
    this.#watchTimer = setTimeout(() => void this.#watch(), WATCH_INTERVAL_MS).unref();
  }

  /** While runs are computed their own time limit finds a worker that hangs; this finds it when none is. */
  async #watch(): Promise<void> {
    const pool = this.#pool;
    if (this.#state.name !== 'ready' || this.#draining || pool === undefined) return;
    const isShort = pool.present < pool.workers;
    if (this.#state.model.queue.running > 0 && !isShort) return this.#watchLater();
    try {
      await pool.probe(this.environment.RUN_TIMEOUT_MS);
    } catch (cause) {
      // A worker that ended is counted elsewhere, and the others may go on; silence is of all of them.
      const isSilent = cause instanceof CodedError && cause.code === 'DEADLINE_PASSED';
      if (isSilent && this.#pool === pool && !this.#draining) {
        await this.#fail(new CodedError('WORKER_LOST', 'The workers have stopped answering.', { cause }));
      }
    }
    if (this.#pool === pool) this.#watchLater();
  }

  async #describe(connectome: Connectome, pool: ExperimentPool): Promise<LoadedModel> {
    this.#gpu = this.environment.BACKEND === 'cpu' ? undefined : this.#gpuBeside(pool, connectome);
    const queue = new ExperimentQueue(pool.members, {
      limit: this.environment.QUEUE_LIMIT,
      runTimeoutMs: this.environment.RUN_TIMEOUT_MS,
      stage: this.#gpu,
    });
    const atlas = await pool.run({ kind: 'atlas' });
    return { id: modelId(connectome), connectome, queue, atlas };
  }

  #gpuBeside(pool: ExperimentPool, connectome: Connectome): GpuStage {
    const { CONNECTOME_FILE, BACKEND, GPU_ALLOW_SOFTWARE, RUN_TIMEOUT_MS } = this.environment;
    return new GpuStage({
      opening: {
        connectomeFile: CONNECTOME_FILE,
        digest: connectome.digest,
        allowSoftware: GPU_ALLOW_SOFTWARE === 1,
        workerFile: this.workerFile.url.href,
      },
      insists: BACKEND === 'gpu',
      // The CPU has to repeat the batch before its clients give up.
      batchTimeoutMs: Math.ceil(RUN_TIMEOUT_MS * GPU_SHARE_OF_TIMEOUT),
      stimuli: STIMULUS_IDS,
      cpuWorkers: pool.workers,
      simulateOnCpu: async (experiment) => {
        const { timings } = await pool.run({ kind: 'experiment', experiment, view: 'drive', gzip: false });
        return timings.simulateMs;
      },
      onChange: (state) => this.#tellGpu(state),
    });
  }

  #tellGpu(state: GpuState): void {
    switch (state.name) {
      case 'off':
        this.degradations.end('gpu');
        this.#log.log(`Simulating on the CPU alone: ${state.reason}`);
        break;
      case 'ready':
        this.degradations.end('gpu');
        this.#log.log(`Simulating on ${state.adapter} as well, batches of ${state.batchFrom} or more`);
        break;
      case 'lost':
        this.#log.warn(`The GPU is lost: ${messageWithCause(state.error)}`);
        this.degradations.begin({ part: 'gpu', reason: `The CPU does the work of the GPU: ${state.reason}` });
    }
    if ('model' in this.#state) this.#state.model.queue.look();
  }

  async #fail(cause: unknown): Promise<void> {
    clearTimeout(this.#watchTimer);
    const pool = this.#pool;
    const gpu = this.#gpu;
    this.#earlierRestarts += pool?.restarts ?? 0;
    this.#pool = undefined;
    this.#gpu = undefined;
    const error =
      cause instanceof CodedError
        ? cause
        : new CodedError('INTERNAL', `Loading the model failed: ${String(cause)}`, { cause });
    this.#log.error(`${error.message} Trying again in ${this.#retryMs / 1000} s.`);
    this.#state = { name: 'failed', error, retryAtMs: performance.now() + this.#retryMs };
    await pool?.close();
    await gpu?.close();
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
