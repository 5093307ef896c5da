import type { TrialReading, TrialTask } from '../experiments/plan/trial.js';
import { ExperimentPool } from './experiment-pool.js';
import { ExperimentQueue } from './experiment-queue.js';
import { WORKER_FILE } from './worker-file.js';

interface TrialPoolOptions {
  /** The bytes of a connectome file that has been verified. */
  readonly connectome: SharedArrayBuffer;
  readonly workers: number;
  /** Another worker than the built one, for tests. */
  readonly workerFile?: string | URL;
}

/** Computes the trials of a command on all cores. No trial has a time limit: whoever waits may end the command. */
export class TrialPool {
  private constructor(
    private readonly pool: ExperimentPool,
    private readonly queue: ExperimentQueue,
  ) {}

  /**
   * Resolves once every worker is ready.
   * @throws CodedError WORKER_LOST, DEADLINE_PASSED when a worker cannot be started
   */
  static async start(options: TrialPoolOptions): Promise<TrialPool> {
    const { connectome, workers, workerFile = WORKER_FILE } = options;
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
    // One user, so nobody to be fair to.
    this.queue.runTrial(trial, { owner: 'command', ...(signal && { signal }) });

  /** Ends the workers at once, also in the middle of a trial, which is rejected. */
  close(): Promise<void> {
    return this.pool.close();
  }
}
