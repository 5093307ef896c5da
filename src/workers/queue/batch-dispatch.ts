import type { BatchStage } from '../gpu/gpu-stage.js';
import type { WaitingLine } from './fair-queue.js';
import type { QueuedRun, QueuedTask, QueuedTrial } from './queued-task.js';

/** Gives waiting tasks to the GPU in batches, runs before trials. */
export class BatchDispatch {
  /** Time at which the stage returned its last batch. */
  #endedMs = 0;

  /**
   * @param trialLines ordered by urgency
   * @param onEnd called after tasks of a batch became ready for the workers
   */
  constructor(
    private readonly stage: BatchStage,
    private readonly runs: WaitingLine<QueuedRun>,
    private readonly trialLines: readonly WaitingLine<QueuedTrial>[],
    private readonly onEnd: () => void,
  ) {}

  /** Begins a batch if the stage takes one. */
  start(): void {
    const { stage } = this;
    if (!stage.isReady) return;
    // Tasks that the GPU cannot compute go to the workers.
    for (const line of this.trialLines) line.passGpuBy();
    const { room } = stage;
    if (room === 0) return;
    // While it computes a batch, it accepts only a full one.
    const fewest = stage.isBusy ? room : 1;
    const runs = this.runs.candidates(room);
    // If more runs are back from the GPU than wait for it, workers have enough; more would only fill memory with rasters.
    if (runs.length >= fewest && this.runs.returned <= runs.length) {
      void this.#simulate(runs);
      return;
    }
    // A batch of trials would delay these runs.
    if (runs.length > 0) return;
    const trials: QueuedTrial[] = [];
    let returned = 0;
    for (const line of this.trialLines) {
      const next = line.candidates(room - trials.length);
      returned += line.returned;
      // The same for trials, but those that are back delay no trial of a more urgent line.
      if (next.length > 0 && returned > trials.length + next.length) break;
      trials.push(...next);
    }
    if (trials.length >= fewest) void this.#simulate(trials);
  }

  /** Never rejects, because the stage does not. */
  async #simulate(tasks: readonly QueuedTask[]): Promise<void> {
    for (const task of tasks) task.line.beginSimulation(task);
    const startedMs = performance.now();
    const simulated = await this.stage.simulate(tasks.map(({ protocol }) => protocol));
    const endedMs = performance.now();
    // Excludes the time that this batch waited for the one before it.
    const batchMs = endedMs - Math.max(startedMs, this.#endedMs);
    this.#endedMs = endedMs;
    for (const [at, task] of tasks.entries()) {
      // False if the task was withdrawn meanwhile.
      if (task.line.endSimulation(task)) task.prepare(simulated[at], batchMs, tasks.length);
    }
    this.onEnd();
  }
}
