import type { TrialResult, TrialTask } from '../../experiments/plan/trial.js';
import { ExperimentPool } from '../../workers/pool/experiment-pool.js';
import { ExperimentQueue } from '../../workers/queue/experiment-queue.js';
import { WORKER_FILE } from '../../workers/pool/worker-file.js';

interface TrialPoolOptions {
  /** The bytes of a verified connectome file. */
  readonly connectome: SharedArrayBuffer;
  readonly workers: number;
  /** Replaces the built worker in tests. */
  readonly workerFile?: string | URL;
}

/** Computes the trials of a command on all cores. Trials have no timeout, because the user can end the command. */
export class TrialPool {
  private constructor(
    private readonly pool: ExperimentPool,
    private readonly queue: ExperimentQueue,
  ) {}

  /**
   * Resolves once every worker is ready.
   * @throws CodedError WORKER_LOST, DEADLINE_PASSED if a worker cannot be started
   */
  static async start(options: TrialPoolOptions): Promise<TrialPool> {
    const { connectome, workers, workerFile = WORKER_FILE } = options;
    const pool = await ExperimentPool.start({
      workers,
      workerFile,
      workerData: { connectome },
      // The worker's trial already fails with the reason.
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

  /** Number of trials in flight that keeps all workers busy. */
  get inFlight(): number {
    return this.queue.trialsInFlight;
  }

  /** @throws CodedError as ExperimentQueue.runTrial, or the reason of the signal */
  readonly runTrial = (trial: TrialTask, signal?: AbortSignal): Promise<TrialResult> =>
    // There is one user, so all trials have the same owner.
    this.queue.runTrial(trial, { owner: 'command', ...(signal && { signal }) });

  /** Ends the workers at once; trials in progress are rejected. */
  close(): Promise<void> {
    return this.pool.close();
  }
}
