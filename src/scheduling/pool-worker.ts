import { Piscina } from 'piscina';
import { CodedError } from '../errors.js';
import type { Outcome, ResultOf, Task, WorkerData } from './task.js';

/**
 * Limit of a worker's JavaScript objects; the brain and the engine's state lie outside. A run of a whole brain takes some
 * 15 MB, the atlas most. A worker beyond it ends alone; with Node's default the container would end.
 */
const WORKER_HEAP_MB = 256;

/**
 * `starting`: it has ended, and its successor is not there yet, or failed (isPresent). The first worker counts as ready at
 * once; ExperimentPool probes it. A closed worker refuses every task.
 */
export type WorkerState = 'ready' | 'starting' | 'closed';

interface PoolWorkerOptions {
  readonly workerData: WorkerData;
  readonly workerFile: string | URL;
  readonly onStrayError: (error: Error) => void;
  /** Called after an answered run or trial. */
  readonly onAnswered: () => void;
  /** Called when it has ended while it had tasks. */
  readonly onLost: () => void;
  /** Called after it has ended, or its successor has started. */
  readonly onChange: () => void;
}

/**
 * One worker and its successors: a Piscina of one. Piscina hands tasks to whichever worker is free. Here the queue
 * chooses, because a task that is queued ahead belongs to its worker: it waits for the one before, and is lost with it.
 */
export class PoolWorker {
  readonly #piscina: Piscina;
  readonly #options: PoolWorkerOptions;
  readonly #listeners: (() => void)[] = [];
  #isReady = false;
  #closed = false;
  #started = 0;
  #tasks = 0;

  constructor(options: PoolWorkerOptions) {
    this.#options = options;
    this.#piscina = new Piscina({
      filename: String(options.workerFile),
      minThreads: 1,
      maxThreads: 1,
      // A task that it computes and the one that is queued ahead.
      concurrentTasksPerWorker: 2,
      // So that each task is a turn of the worker's event loop. A worker that waits for tasks in Atomics.wait reads all
      // that are there and answers none before it has computed them all.
      atomics: 'disabled',
      workerData: options.workerData,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
      recordTiming: false,
    });
    // Without a listener, an error outside a task would end the process. Piscina takes an answer that arrives while it
    // closes for such an error.
    this.#piscina.on('error', (error: Error) => {
      if (!this.#closed) options.onStrayError(error);
    });
    this.#piscina.on('workerCreate', () => {
      this.#started++;
      this.#isReady = true;
      this.#tell();
    });
    this.#piscina.on('workerDestroy', () => {
      this.#isReady = false;
      if (this.#tasks > 0 && !this.#closed) options.onLost();
      // Piscina emits this before it removes the worker from its list and decides about a replacement.
      setImmediate(() => this.#tell());
    });
  }

  get state(): WorkerState {
    if (this.#closed) return 'closed';
    return this.#isReady ? 'ready' : 'starting';
  }

  /** Tells whether it takes tasks or is starting. */
  get isPresent(): boolean {
    return this.#piscina.threads.length > 0;
  }

  get restarts(): number {
    return Math.max(0, this.#started - 1);
  }

  /** Tasks not answered yet. */
  get tasks(): number {
    return this.#tasks;
  }

  /** @param listener is told after the state has changed */
  whenChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @throws CodedError the failure of the task, or WORKER_LOST when the worker ended before it answered */
  async run<Kind extends Task['kind']>(task: Task & { readonly kind: Kind }): Promise<ResultOf[Kind]> {
    if (this.#closed) {
      // Piscina would start new workers.
      throw new CodedError('WORKER_LOST', 'The workers stopped before this run was computed; try again.');
    }
    let outcome: Outcome<ResultOf[Kind]>;
    this.#tasks++;
    try {
      outcome = (await this.#piscina.run(task)) as typeof outcome;
    } catch (error) {
      throw new CodedError(
        'WORKER_LOST',
        'The worker that computed this ended before it answered; try again.',
        { cause: error },
      );
    } finally {
      this.#tasks--;
    }
    if (task.kind === 'v1-run' || task.kind === 'v2-trial') this.#options.onAnswered();
    if (!outcome.ok) throw CodedError.fromFailure(outcome.failure);
    return outcome.result;
  }

  /** Ends the worker: its tasks are rejected, also the one ahead. A new one replaces it. */
  restart(): void {
    for (const thread of this.#piscina.threads) void thread.terminate();
  }

  /** Ends the worker for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#piscina.destroy();
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
    this.#options.onChange();
  }
}
