import { CodedError } from '../../engine/errors.js';
import { withTimeout } from './with-timeout.js';
import { PoolWorker, type PoolWorkerOptions } from './pool-worker.js';
import { MAX_TRIES_OF_PROBE } from './retries.js';
import { isUnderWay, newCancellationFlag, type AtlasTask, type ResultOf, type V1RunTask } from './task.js';

/** Time for all workers to open the connectome, many times the usual one. */
const START_TIMEOUT_MS = 120_000;

interface PoolOptions extends Omit<PoolWorkerOptions, 'onAnswered' | 'onLost'> {
  readonly workers: number;
}

/** The workers of the service. Callers see no crash: each task is answered or fails with a coded error. */
export class ExperimentPool {
  /** The queue uses this to choose the worker of each task itself. */
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
   * Resolves after every worker has opened the connectome and has warmed up.
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

  /** Number of workers that accept tasks. */
  get ready(): number {
    return this.members.filter(({ state }) => state === 'ready').length;
  }

  /**
   * Number of workers that accept tasks or are starting. It is less than `workers` if a successor could not start;
   * the next probe tries again.
   */
  get present(): number {
    return this.members.filter(({ isPresent }) => isPresent).length;
  }

  /** Number of workers started to replace one that ended. */
  get restarts(): number {
    return this.members.reduce((sum, { restarts }) => sum + restarts, 0);
  }

  /** Number of workers that ended while they had tasks, since the last answered run or trial. */
  get lostInARow(): number {
    return this.#lostInARow;
  }

  /**
   * Resolves after every worker without a task has answered; starts missing ones. The time limit of a task finds out if a
   * worker with one is silent. A worker that is starting has the time of a start.
   * @throws CodedError WORKER_LOST if a worker ends instead; DEADLINE_PASSED if they do not answer in time
   */
  async probe(withinMs: number): Promise<void> {
    const probed = this.members.filter(({ state, tasks }) => state !== 'ready' || tasks === 0);
    const probes = probed.map((member) => {
      const limitMs = member.state === 'ready' ? withinMs : START_TIMEOUT_MS;
      return withTimeout(limitMs, member.run({ kind: 'probe' }), silence(limitMs));
    });
    await Promise.all(probes);
  }

  /**
   * Resolves after any worker has answered a run.
   * @throws CodedError WORKER_LOST if the run ends its worker; DEADLINE_PASSED if no worker answers in time
   */
  async tryOut(task: V1RunTask, withinMs: number): Promise<void> {
    await withTimeout(withinMs, this.run(task), silence(withinMs));
  }

  run(task: V1RunTask): Promise<ResultOf['v1-run']>;
  run(task: AtlasTask): Promise<ResultOf['atlas']>;
  /**
   * Gives a task to the worker with the fewest tasks, bypassing the queue.
   * @throws CodedError the failure of the task; WORKER_LOST if its worker ended before it answered
   */
  async run(task: V1RunTask | AtlasTask): Promise<ResultOf[keyof ResultOf]> {
    for (let tries = 1; ; tries++) {
      const flag = newCancellationFlag();
      const flagged = task.kind === 'v1-run' ? { ...task, flag } : task;
      try {
        return await this.#leastBusy().run(flagged);
      } catch (error) {
        const isLost = error instanceof CodedError && error.code === 'WORKER_LOST';
        // The worker died during the run before this one. Its successor starts with this one.
        const isInnocent = task.kind === 'v1-run' && !isUnderWay(flag);
        if (!isLost || !isInnocent || this.#closed || tries === MAX_TRIES_OF_PROBE) throw error;
      }
    }
  }

  /** Ends the workers at once and rejects their unanswered tasks. */
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
