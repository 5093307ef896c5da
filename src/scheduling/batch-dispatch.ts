import type { BatchStage } from './gpu/gpu-stage.js';
import type { QueuedRun } from './queued-run.js';
import type { QueuedTask } from './queued-task.js';
import type { QueuedTrial } from './queued-trial.js';
import type { WaitingLine } from './waiting-line.js';

/** Gives waiting tasks to the GPU in batches, runs before trials. */
export class BatchDispatch {
  /** When the stage returned its last batch. */
  #endedMs = 0;

  /**
   * @param trialLines in the order of their urgency
   * @param onEnd called when tasks of a batch are ready for the workers
   */
  constructor(
    private readonly stage: BatchStage,
    private readonly runs: WaitingLine<QueuedRun>,
    private readonly trialLines: readonly WaitingLine<QueuedTrial>[],
    private readonly onEnd: () => void,
  ) {}

  /** Begins a batch where the stage takes one. */
  start(): void {
    const { stage } = this;
    // Tasks that the GPU cannot compute go to the workers.
    if (stage.gpuComesFirst) for (const line of this.trialLines) line.passGpuBy();
    const { room } = stage;
    if (room === 0) return;
    // Beside another batch it takes a full one only.
    const fewest = stage.isBusy ? room : 1;
    const runs = this.runs.candidates(room);
    const ofRuns = stage.batchSizeOf(runs.map(({ batchTask }) => batchTask));
    // One batch ahead is enough; a faster stage would only pile up rasters.
    if (ofRuns >= fewest && this.runs.prepared <= ofRuns) {
      void this.#simulate(runs.slice(0, ofRuns));
      return;
    }
    // Runs that go through the stage as soon as it is free are not kept waiting by trials.
    if (stage.gpuComesFirst ? runs.length > 0 : ofRuns > 0 && ofRuns < fewest) return;
    const trials: QueuedTrial[] = [];
    for (const line of this.trialLines) trials.push(...line.candidates(room - trials.length));
    if (trials.length < fewest) return;
    const ofTrials = stage.batchSizeOf(trials.map(({ batchTask }) => batchTask));
    const prepared = this.trialLines.reduce((sum, line) => sum + line.prepared, 0);
    if (ofTrials >= fewest && prepared <= ofTrials) void this.#simulate(trials.slice(0, ofTrials));
  }

  /** Never rejects, as the stage does not: what it could not do is undefined. */
  async #simulate(tasks: readonly QueuedTask[]): Promise<void> {
    for (const task of tasks) task.line.beginSimulation(task);
    const startedMs = performance.now();
    const simulated = await this.stage.simulate(tasks.map(({ batchTask }) => batchTask));
    const endedMs = performance.now();
    // The time that a batch waits for the one before it is not its own.
    const batchMs = endedMs - Math.max(startedMs, this.#endedMs);
    this.#endedMs = endedMs;
    for (const [at, task] of tasks.entries()) {
      // Otherwise it was withdrawn meanwhile, and nobody needs it.
      if (task.line.endSimulation(task)) task.prepare(simulated[at], batchMs, tasks.length);
    }
    this.onEnd();
  }
}
