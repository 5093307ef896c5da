import { CodedError } from '../errors.js';
import type { Trial } from '../simulation/simulation.js';
import { withdraw, type CancellationFlag } from './cancellation-flag.js';
import type { BatchTask } from './gpu/gpu-stage.js';
import type { ResultOf, V1RunTask, V2TrialTask } from './task.js';
import type { WaitingLine } from './waiting-line.js';

/** A task fails after its workers ended so often without an answer, whatever the cause was. */
const MAX_LOSSES = 4;

/** How the worker of a task ended before it answered. */
export interface Loss {
  readonly error: CodedError;
  /** Tells whether the worker was ended because it computed this task for too long. */
  readonly isOverdue: boolean;
  /** Tells whether the worker was computing this task when it ended. */
  readonly isUnderWay: boolean;
  /** Tells whether no other worker takes its place. */
  readonly isFinal: boolean;
}

/**
 * A task of the queue: what a run of version 1 and a trial of version 2 have in common. It is told how it ended, once for
 * each worker that it was handed to.
 */
export abstract class QueuedTask<
  Task extends V1RunTask | V2TrialTask = V1RunTask | V2TrialTask,
  Result = unknown,
> {
  /** Flag of the worker that has it. */
  flag: CancellationFlag | undefined;
  /** True where only a worker may take it: after the GPU, simulated or not, or after a worker that ended. */
  isPrepared = false;
  /** The network that its worker has to prepare, as text; undefined for that of the model. */
  readonly wiring: string | undefined = undefined;
  /** False where a worker has to simulate it, also where the GPU comes first. */
  readonly isForGpu: boolean = true;
  /** How often its worker has ended. It is then not queued ahead again. */
  losses = 0;
  /** Settles with what its client is answered. */
  readonly answer: Promise<Result>;
  protected isSettled = false;
  #workersKilled = 0;
  #settle!: { resolve(result: Result): void; reject(error: unknown): void };

  /**
   * @param timeoutMs a worker that computes it for longer is ended; Infinity for no limit
   * @param line where it waits while it has no worker
   * @param maximumWorkersKilled workers that may end while they compute it, before it is taken for the cause
   */
  constructor(
    protected ownTask: Task,
    readonly owner: string,
    readonly timeoutMs: number,
    readonly line: WaitingLine<QueuedTask>,
    private readonly maximumWorkersKilled: number,
  ) {
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  get task(): Task {
    return this.ownTask;
  }

  /** The same for the GPU. */
  abstract readonly batchTask: BatchTask;
  /** It is the first in its worker, so it no longer waits. */
  abstract begin(): void;
  abstract resolve(result: ResultOf[Task['kind']]): void;

  /**
   * Takes what a batch of the GPU has brought.
   * @param simulated undefined where the GPU could not simulate it
   * @param batchMs time of the whole batch
   */
  abstract prepare(simulated: Trial | undefined, batchMs: number, batchLength: number): void;

  /** Takes it from its worker. @returns whether that has not begun it, and never will */
  withdraw(): boolean {
    if (this.flag === undefined || !withdraw(this.flag)) return false;
    this.flag = undefined;
    return true;
  }

  /** It waits again, before all others of its owner. */
  putBack(): void {
    this.line.putBack(this);
  }

  /** It failed by itself. */
  reject(error: unknown): void {
    this.isSettled = true;
    this.#settle.reject(error);
  }

  lose({ error, isOverdue, isUnderWay, isFinal }: Loss): void {
    // It was cancelled while its worker computed it.
    if (this.isSettled) return;
    this.losses++;
    if (isUnderWay) this.#workersKilled++;
    if (isOverdue) {
      const what = this.task.kind === 'v1-run' ? 'run' : 'trial';
      const message = `The ${what} was stopped after computing for more than ${this.timeoutMs} ms.`;
      this.reject(new CodedError('DEADLINE_PASSED', message, { cause: error }));
    } else if (isFinal || this.#workersKilled === this.maximumWorkersKilled || this.losses === MAX_LOSSES) {
      this.reject(error);
    } else {
      // A task that may have ended its worker is left to a worker, also where the GPU comes first.
      this.isPrepared = true;
      this.putBack();
    }
  }

  protected settle(result: Result): void {
    this.isSettled = true;
    this.#settle.resolve(result);
  }

  protected takeSimulated(simulated: Trial | undefined): void {
    this.isPrepared = true;
    if (simulated !== undefined) this.ownTask = { ...this.ownTask, simulated };
  }
}
