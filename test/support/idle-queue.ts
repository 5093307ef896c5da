import type { ExperimentQueue } from '../../src/workers/queue/experiment-queue.js';

/** Resolves when nothing waits in a queue and no worker computes. */
export async function untilIdle(queue: ExperimentQueue): Promise<void> {
  while (queue.isComputing || queue.waiting > 0 || queue.trials.waiting > 0) {
    await new Promise((next) => setTimeout(next));
  }
}
