import type { TrialReading, TrialTask } from '../answers/v2/trial.js';
import { ExperimentPool } from './experiment-pool.js';
import { ExperimentQueue } from './experiment-queue.js';
import { WORKER_FILE } from './worker-file.js';

export interface TrialPoolOptions {
  /** The bytes of a connectome file that has been verified. */
  readonly connectome: SharedArrayBuffer;
  readonly workers: number;
  /** Another worker than the built one, for tests. */
  readonly workerFile?: string | URL;
}

/** One user, so nobody to be fair to. */
const OWNER = 'command';

/**
 * Computes the trials of a command on all cores. No trial has a time limit: whoever waits may end the command.
 *
 *     const pool = await TrialPool.start({ connectome: buffer, workers: availableParallelism() });
 *     const interrupt = new AbortController();
 *     process.once('SIGINT', () => interrupt.abort(new CodedError(...)));
 *     const options = { signal: interrupt.signal, inFlight: pool.inFlight };
 *     try {
 *       for await (const event of runExperiment(plan, pool.runTrial, options)) ...
 *     } finally {
 *       await pool.close();
 *     }
 *
 * close() also ends workers in the middle of a trial, so a command that is interrupted ends at once.
 */
export class TrialPool {
  private constructor(
    private readonly pool: ExperimentPool,
    private readonly queue: ExperimentQueue,
  ) {}

  /**
   * Resolves once every worker is ready.
   * @throws CodedError WORKER_LOST, DEADLINE_PASSED when a worker cannot be started
   */
  static async start({
    connectome,
    workers,
    workerFile = WORKER_FILE,
  }: TrialPoolOptions): Promise<TrialPool> {
    const pool = await ExperimentPool.start({
      workers,
      workerFile,
      workerData: { connectome },
      // The trial that its worker was computing fails with the reason.
      onStrayError: () => undefined,
      onChange: () => undefined,
    });
    const queue = new ExperimentQueue(pool.members, {
      limit: 1,
      runTimeoutMs: Infinity,
      trialTimeoutMs: Infinity,
      keepsWorkerForRuns: false,
    });
    return new TrialPool(pool, queue);
  }

  /** How many trials in flight keep all workers busy. */
  get inFlight(): number {
    return this.queue.trialsInFlight;
  }

  /** @throws CodedError as ExperimentQueue.runTrial, or the reason of the signal */
  readonly runTrial = (trial: TrialTask, signal?: AbortSignal): Promise<TrialReading> =>
    this.queue.runTrial(trial, { owner: OWNER, ...(signal && { signal }) });

  /** Ends the workers at once; trials that are still here are rejected. */
  close(): Promise<void> {
    return this.pool.close();
  }
}
