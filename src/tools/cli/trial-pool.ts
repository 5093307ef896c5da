import type { TrialTask } from '../../experiments/plan/trial.js';
import { ExperimentPool } from '../../workers/pool/experiment-pool.js';
import { ExperimentQueue } from '../../workers/queue/experiment-queue.js';
import { WORKER_FILE } from '../../workers/pool/worker-file.js';

/**
 * Computes the trials of a command on all cores. Trials have no timeout, because the user can end the command.
 * @param connectome the bytes of a verified file
 * @param workerFile replaces the built worker in tests
 * @returns the pool, once every worker is ready
 * @throws CodedError WORKER_LOST, DEADLINE_PASSED if a worker cannot be started
 */
export async function startTrialPool(
  connectome: SharedArrayBuffer,
  workers: number,
  workerFile: string | URL = WORKER_FILE,
) {
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
  return {
    /** Number of trials in flight that keeps all workers busy. */
    inFlight: queue.trialsInFlight,
    /** @throws CodedError as ExperimentQueue.runTrial, or the reason of the signal */
    runTrial: (trial: TrialTask, signal?: AbortSignal) =>
      // There is one user, so all trials have the same owner.
      queue.runTrial(trial, { owner: 'command', ...(signal && { signal }) }),
    /** Ends the workers at once; trials in progress are rejected. */
    close: () => pool.close(),
  };
}
