/**
 * The workers. This folder is the only place that knows Piscina; the rest of the service sees tasks that are
 * answered or that fail with a code.
 */
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { CodedError } from '../errors.js';
import type {
  AtlasTask,
  Backend,
  ExperimentTask,
  Outcome,
  ProbeTask,
  ResultOf,
  Task,
  WorkerData,
} from './task.js';

/** For all workers to open the connectome: many times what it takes. */
const START_TIMEOUT_MS = 120_000;

/**
 * Of a worker's JavaScript objects; the brain and the engine's state lie outside. A run of a whole brain takes some
 * 15 MB, the atlas most. A worker beyond it ends alone, where Node's default would end the container.
 */
const WORKER_HEAP_MB = 256;

export interface PoolOptions {
  readonly workers: number;
  readonly workerData: WorkerData;
  /** Path or URL of the built worker file. */
  readonly workerFile: string | URL;
  /** Told of errors that belong to no task; the pool goes on. */
  readonly onStrayError: (error: Error) => void;
  /** Told after workers have ended or come. */
  readonly onChange: () => void;
}

export class ExperimentPool {
  readonly #piscina: Piscina;
  /** Workers that have opened the connectome. */
  readonly #ready = new WeakSet<Worker>();
  #backend: Backend = 'cpu';
  readonly #onChange: () => void;
  #started = 0;
  #lostInARow = 0;
  #closed = false;

  private constructor({ workers, workerData, workerFile, onStrayError, onChange }: PoolOptions) {
    this.#onChange = onChange;
    this.#piscina = new Piscina({
      filename: String(workerFile),
      minThreads: workers,
      maxThreads: workers,
      concurrentTasksPerWorker: 1,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
      recordTiming: false,
    });
    // Without a listener an error that belongs to no task would end the process.
    this.#piscina.on('error', onStrayError);
    this.#piscina.on('workerCreate', ({ id }: { id: number }) => {
      const worker = this.#piscina.threads.find(({ threadId }) => threadId === id);
      if (worker !== undefined) this.#ready.add(worker);
      this.#started++;
      onChange();
    });
    // Piscina tells before it strikes the worker off its list, and before it decides about another.
    this.#piscina.on('workerDestroy', () => this.#tellSoon());
  }

  /** Resolves once every worker has opened the connectome and is warm. */
  static async start(options: PoolOptions): Promise<ExperimentPool> {
    const pool = new ExperimentPool(options);
    try {
      await pool.probe(START_TIMEOUT_MS);
      return pool;
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  get workers(): number {
    return this.#piscina.options.maxThreads;
  }

  /** Workers that take runs. */
  get ready(): number {
    return this.#piscina.threads.filter((worker) => this.#ready.has(worker)).length;
  }

  /**
   * Workers that take runs or are starting. Fewer than `workers` means that one ended whose successor could not
   * start; Piscina tries again only when more is asked of it than the others can take.
   */
  get present(): number {
    return this.#piscina.threads.length;
  }

  /** Workers that were started in place of one that ended. */
  get restarts(): number {
    return Math.max(0, this.#started - this.workers);
  }

  /** Tasks since the last answered run whose worker ended, or was ended for taking too long, before it answered. */
  get lostInARow(): number {
    return this.#lostInARow;
  }

  get backend(): Backend {
    return this.#backend;
  }

  /**
   * Resolves once as many workers as there should be have answered; starts those that are missing.
   * @throws CodedError WORKER_LOST when one ends instead, DEADLINE_PASSED when they do not answer in time
   */
  async probe(withinMs: number): Promise<void> {
    // One at a time is all a worker takes, so as many probes as workers reach each of them.
    const probes = Array.from({ length: this.workers }, () => this.run({ kind: 'probe' }));
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      const error = new CodedError('DEADLINE_PASSED', `The workers did not answer within ${withinMs} ms.`);
      timer = setTimeout(() => reject(error), withinMs);
    });
    try {
      const [answer] = await Promise.race([Promise.all(probes), silence]);
      this.#backend = answer!.backend;
    } finally {
      clearTimeout(timer);
    }
  }

  run(task: ExperimentTask, signal?: AbortSignal): Promise<ResultOf['experiment']>;
  run(task: AtlasTask): Promise<ResultOf['atlas']>;
  run(task: ProbeTask): Promise<ResultOf['probe']>;
  /**
   * @param signal ends the worker in the middle of the task; another one takes its place
   * @throws CodedError the failure of the task, or WORKER_LOST when the worker ended before it answered
   */
  async run(task: Task, signal?: AbortSignal): Promise<ResultOf[keyof ResultOf]> {
    if (this.#closed) {
      // Piscina would start workers anew.
      throw new CodedError('WORKER_LOST', 'The workers were stopped before this was computed; try again.');
    }
    let outcome: Outcome<ResultOf[keyof ResultOf]>;
    try {
      outcome = await this.#piscina.run(task, { signal });
    } catch (error) {
      if (!this.#closed) {
        this.#lostInARow++;
        this.#tellSoon();
      }
      throw new CodedError(
        'WORKER_LOST',
        'The worker that computed this ended before it answered; try again.',
        {
          cause: error,
        },
      );
    }
    if (task.kind === 'experiment') this.#lostInARow = 0;
    if (!outcome.ok) throw CodedError.fromFailure(outcome.failure);
    return outcome.result;
  }

  /** Ends the workers at once; tasks that are still running are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#piscina.destroy();
  }

  #tellSoon(): void {
    setImmediate(() => this.#closed || this.#onChange());
  }
}
