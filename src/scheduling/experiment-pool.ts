import { CodedError } from '../errors.js';
import { withTimeout } from '../with-timeout.js';
import { PoolWorker } from './pool-worker.js';
import type { AtlasTask, ResultOf, V1RunTask, WorkerData } from './task.js';
import { isUnderWay, newCancellationFlag } from './cancellation-flag.js';

/** For all workers to open the connectome: many times what it takes. */
const START_TIMEOUT_MS = 120_000;
/** Tries of a run whose worker ends over other runs. */
const MAX_TRIES = 3;

interface PoolOptions {
  readonly workers: number;
  readonly workerData: WorkerData;
  /** Path or URL of the built worker file. */
  readonly workerFile: string | URL;
  /** Told of errors that belong to no task; the pool goes on. */
  readonly onStrayError: (error: Error) => void;
  /** Told after workers have ended or come. */
  readonly onChange: () => void;
}

/** The workers. What needs them sees tasks that are answered or that fail with a code. */
export class ExperimentPool {
  /** For the queue, which chooses the worker of each task. */
  readonly members: readonly PoolWorker[];
  #lostInARow = 0;
  #closed = false;

  private constructor({ workers, onChange, ...options }: PoolOptions) {
    this.members = Array.from(
      { length: workers },
      () =>
        new PoolWorker({
          ...options,
          onAnswered: () => (this.#lostInARow = 0),
          onLost: () => this.#lostInARow++,
          onChange: () => this.#closed || onChange(),
        }),
    );
  }

  /**
   * Resolves once every worker has opened the connectome and is warm.
   * @throws CodedError WORKER_LOST, DEADLINE_PASSED
   */
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
    return this.members.length;
  }

  /** Workers that take runs. */
  get ready(): number {
    return this.members.filter(({ state }) => state === 'ready').length;
  }

  /**
   * Workers that take runs or are starting. Fewer than `workers` means that one ended whose successor could not
   * start; the next probe tries again.
   */
  get present(): number {
    return this.members.filter(({ isPresent }) => isPresent).length;
  }

  /** Workers that were started in place of one that ended. */
  get restarts(): number {
    return this.members.reduce((sum, { restarts }) => sum + restarts, 0);
  }

  /** Workers that ended while they had work, since a run or trial was last answered. */
  get lostInARow(): number {
    return this.#lostInARow;
  }

  /**
   * Resolves once every worker has answered; starts those that are missing.
   * @throws CodedError WORKER_LOST when one ends instead, DEADLINE_PASSED when they do not answer in time
   */
  async probe(withinMs: number): Promise<void> {
    const probes = this.members.map((member) => member.run({ kind: 'probe' }));
    await withTimeout(withinMs, Promise.all(probes), silence(withinMs));
  }

  /**
   * Resolves once a run has been answered, by whichever worker.
   * @throws CodedError WORKER_LOST when the run ends its worker, DEADLINE_PASSED when no worker answers in time
   */
  async tryOut(task: V1RunTask, withinMs: number): Promise<void> {
    await withTimeout(withinMs, this.run(task), silence(withinMs));
  }

  run(task: V1RunTask): Promise<ResultOf['v1-run']>;
  run(task: AtlasTask): Promise<ResultOf['atlas']>;
  /**
   * Gives a task to the worker with the least to do, past the queue.
   * @throws CodedError the failure of the task, or WORKER_LOST when the worker ended before it answered
   */
  async run(task: V1RunTask | AtlasTask): Promise<ResultOf[keyof ResultOf]> {
    for (let tries = 1; ; tries++) {
      const flag = newCancellationFlag();
      const flagged = task.kind === 'v1-run' ? { ...task, flag } : task;
      try {
        return await this.#leastBusy().run(flagged);
      } catch (error) {
        const isLost = error instanceof CodedError && error.code === 'WORKER_LOST';
        // The worker ended over another run, which was before this one. Its successor begins with this one.
        const isInnocent = task.kind === 'v1-run' && !isUnderWay(flag);
        if (!isLost || !isInnocent || this.#closed || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** Ends the workers at once; tasks that are still running are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.members.map((member) => member.close()));
  }

  #leastBusy(): PoolWorker {
    const ready = this.members.filter(({ state }) => state === 'ready');
    const candidates = ready.length > 0 ? ready : this.members;
    return candidates.reduce((best, member) => (member.tasks < best.tasks ? member : best));
  }
}

function silence(withinMs: number): () => never {
  return () => {
    throw new CodedError('DEADLINE_PASSED', `The workers did not answer within ${withinMs} ms.`);
  };
}
