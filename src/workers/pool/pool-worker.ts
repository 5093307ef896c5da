import { Piscina } from 'piscina';
import { CodedError } from '../../engine/errors.js';
import { withTimeout } from './with-timeout.js';
import type { Outcome, ResultOf, Task, WorkerData } from './task.js';

/**
 * Limit of a worker's JavaScript heap; the connectome and the engine's state lie outside. A run of a whole brain
 * takes about 15 MB, the atlas most. Beyond the limit only this worker ends; with Node's default the container would.
 */
const WORKER_HEAP_MB = 256;

/** Time for a closing thread to end, many times the usual one. A thread in a system call ends only after the call. */
const CLOSE_WITHIN_MS = 20_000;

/** Closed threads that have not ended. */
let hungThreads = 0;

/** True if a closed thread has not ended. process.exit would wait for it. */
export function areThreadsHung(): boolean {
  return hungThreads > 0;
}

/**
 * `starting`: the worker ended and its successor is not running yet, or failed to start (see isPresent). The first
 * worker counts as ready at once, because ExperimentPool probes it. `closed`: it refuses every task.
 */
export type WorkerState = 'ready' | 'starting' | 'closed';

export interface PoolWorkerOptions {
  readonly workerData: WorkerData;
  /** Path or URL of the built worker module. */
  readonly workerFile: string | URL;
  /** Receives errors that belong to no task; the worker continues. */
  readonly onStrayError: (error: Error) => void;
  /** Called after a run or trial was answered. */
  readonly onAnswered: () => void;
  /** Called if the worker ended while it had tasks. */
  readonly onLost: () => void;
  /** Called after the worker ended or its successor started. */
  readonly onChange: () => void;
}

/**
 * One worker and its successors, as a Piscina pool of one thread. A larger pool would hand tasks to whichever worker
 * is free. Here the queue must choose, because a prefetched task waits for its worker and is lost with it.
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
      // The task that it computes and a prefetched one.
      concurrentTasksPerWorker: 2,
      // Each task shall be its own turn of the worker's event loop. With Atomics.wait, a worker would read all
      // available tasks and answer none until it has computed them all.
      atomics: 'disabled',
      workerData: options.workerData,
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
      recordTiming: false,
    });
    // Without a listener, an error outside of a task would end the process. Piscina also reports answers that arrive
    // during closing as such errors.
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
      // Piscina emits this before it removes the worker from its list and starts a replacement.
      setImmediate(() => this.#tell());
    });
  }

  get state(): WorkerState {
    if (this.#closed) return 'closed';
    return this.#isReady ? 'ready' : 'starting';
  }

  /** True if the worker accepts tasks or is starting. */
  get isPresent(): boolean {
    return this.#piscina.threads.length > 0;
  }

  get restarts(): number {
    return Math.max(0, this.#started - 1);
  }

  /** Number of unanswered tasks. */
  get tasks(): number {
    return this.#tasks;
  }

  /** @param listener is called after the state changed */
  whenChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @throws CodedError the failure of the task; WORKER_LOST if the worker ended before it answered */
  async run<Kind extends Task['kind']>(task: Task & { readonly kind: Kind }): Promise<ResultOf[Kind]> {
    if (this.#closed) {
      // Piscina would start a new worker here.
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

  /** Ends the worker and rejects its tasks, the prefetched one included. A new worker replaces it. */
  restart(): void {
    for (const thread of this.#piscina.threads) void thread.terminate();
  }

  /**
   * Ends the worker for good.
   * @param withinMs limit of the wait for its thread; the thread of a worker that is not waited for ends later or never
   */
  async close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    this.#closed = true;
    const ended = this.#piscina.destroy();
    await withTimeout(withinMs, ended, () => {
      hungThreads++;
      void ended.then(() => hungThreads--);
    });
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
    this.#options.onChange();
  }
}
