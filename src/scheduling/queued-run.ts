import type { Trial } from '../simulation/simulation.js';
import type { ClientShares } from './client-shares.js';
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
  /** Gives back its place among the runs that wait, where it has one. */
  #place: (() => void) | undefined;
  #batchTask: BatchTask | undefined;
  /** Time of its simulation on the GPU, for the whole batch. */
  #gpuMs = 0;
  readonly #arrivedMs = performance.now();

  /** @param waiting places of runs that no worker has begun */
  constructor(
    task: V1RunTask,
    owner: string,
    timeoutMs: number,
    line: WaitingLine<QueuedRun>,
    private readonly waiting: ClientShares,
    private readonly batchTaskOf: ((task: V1RunTask) => BatchTask) | undefined,
  ) {
    super(task, owner, timeoutMs, line, 1);
  }

  /** Tells whether no worker has begun it. */
  get isWaiting(): boolean {
    return this.#place !== undefined;
  }

  /** Made when it is first offered to the GPU. */
  override get batchTask(): BatchTask {
    return (this.#batchTask ??= this.batchTaskOf!(this.task));
  }

  /** Takes a place among the runs that wait, where it has none. */
  enter(): void {
    this.#place ??= this.waiting.take(this.owner, 1);
  }

  override prepare(simulated: Trial | undefined, batchMs: number): void {
    this.takeSimulated(simulated);
    if (simulated !== undefined) this.#gpuMs = batchMs;
  }

  override begin(): void {
    this.#place?.();
    this.#place = undefined;
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
    this.enter();
    super.putBack();
  }
}
