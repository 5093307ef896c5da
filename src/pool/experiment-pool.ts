/**
 * The workers. This folder is the only place that knows Piscina; the rest of the service sees tasks that are
 * answered or that fail with a code.
 */
import { Piscina } from 'piscina';
import { CodedError } from '../errors.js';
import type { ExperimentTask, Outcome, ProbeTask, AtlasTask, ResultOf, Task, WorkerData } from './task.js';

export interface PoolOptions {
  readonly workers: number;
  readonly workerData: WorkerData;
  /** Path or URL of the built worker file. */
  readonly workerFile: string | URL;
  /** Told of errors that belong to no task; the pool goes on. */
  readonly onStrayError: (error: Error) => void;
}

export class ExperimentPool {
  readonly #piscina: Piscina;

  private constructor({ workers, workerData, workerFile, onStrayError }: PoolOptions) {
    this.#piscina = new Piscina({
      filename: String(workerFile),
      minThreads: workers,
      maxThreads: workers,
      concurrentTasksPerWorker: 1,
      workerData,
      recordTiming: false,
    });
    // Without a listener an error that belongs to no task would end the process.
    this.#piscina.on('error', onStrayError);
  }

  /** Resolves once every worker has opened the connectome and is warm. */
  static async start(options: PoolOptions): Promise<ExperimentPool> {
    const pool = new ExperimentPool(options);
    try {
      // One at a time is all a worker takes, so as many probes as workers reach each of them.
      await Promise.all(Array.from({ length: options.workers }, () => pool.run({ kind: 'probe' })));
      return pool;
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  get workers(): number {
    return this.#piscina.options.maxThreads;
  }

  run(task: ExperimentTask, signal?: AbortSignal): Promise<ResultOf['experiment']>;
  run(task: AtlasTask): Promise<ResultOf['atlas']>;
  run(task: ProbeTask): Promise<ResultOf['probe']>;
  /**
   * @param signal ends the worker in the middle of the task; another one takes its place
   * @throws CodedError the failure of the task, or WORKER_LOST when the worker ended before it answered
   */
  async run(task: Task, signal?: AbortSignal): Promise<ResultOf[keyof ResultOf]> {
    let outcome: Outcome<ResultOf[keyof ResultOf]>;
    try {
      outcome = await this.#piscina.run(task, { signal });
    } catch (error) {
      throw new CodedError(
        'WORKER_LOST',
        'The worker that computed this ended before it answered; try again.',
        {
          cause: error,
        },
      );
    }
    if (!outcome.ok) throw CodedError.fromFailure(outcome.failure);
    return outcome.result;
  }

  /** Ends the workers at once; tasks that are still running are rejected. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}
