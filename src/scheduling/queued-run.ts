import type { Trial } from '../simulation/simulation.js';
import type { BatchTask } from './gpu/gpu-stage.js';
import { QueuedTask } from './queued-task.js';
import type { V1RunResult, V1RunTask } from './task.js';
import type { WaitingLine } from './waiting-line.js';

export interface QueuedResult extends V1RunResult {
  /** All that it took beside computing: waiting, and the way to the worker and back. */
  readonly queueMs: number;
}

/** A run of version 1. */
export class QueuedRun extends QueuedTask<V1RunTask, QueuedResult> {
  #batchTask: BatchTask | undefined;
  /** Time of its simulation on the GPU, for the whole batch. */
  #gpuMs = 0;
  readonly #arrivedMs = performance.now();

  /** @param waiting runs that no worker has begun; this one is among them once it has entered */
  constructor(
    task: V1RunTask,
    owner: string,
    timeoutMs: number,
    line: WaitingLine<QueuedRun>,
    private readonly waiting: Set<QueuedRun>,
    private readonly batchTaskOf: ((task: V1RunTask) => BatchTask) | undefined,
  ) {
    super(task, owner, timeoutMs, line, 1);
  }

  /** Made when it is first offered to the GPU. */
  override get batchTask(): BatchTask {
    return (this.#batchTask ??= this.batchTaskOf!(this.task));
  }

  override prepare(simulated: Trial | undefined, batchMs: number): void {
    this.takeSimulated(simulated);
    if (simulated !== undefined) this.#gpuMs = batchMs;
  }

  override begin(): void {
    this.waiting.delete(this);
  }

  override resolve(result: V1RunResult): void {
    const timings = { ...result.timings, simulateMs: result.timings.simulateMs + this.#gpuMs };
    const computedMs = timings.simulateMs + timings.serialiseMs;
    const queueMs = Math.max(0, performance.now() - this.#arrivedMs - computedMs);
    this.begin();
    this.settle({ ...result, timings, queueMs });
  }

  override reject(error: unknown): void {
    this.begin();
    this.line.delete(this);
    super.reject(error);
  }

  override putBack(): void {
    this.waiting.add(this);
    super.putBack();
  }
}
