import { CodedError } from '../errors.js';
import type { Trial as SimulatedTrial } from '../simulation/simulation.js';
import type { BatchJob } from './gpu/batch-stage.js';
import type { ResultOf, V1RunTask, V2TrialTask } from './task.js';
import type { WaitingLine } from './waiting-line.js';
import type { Loss, SlotJob } from './worker-slot.js';

/** A job that its worker has not answered so many times fails, whatever the cause was. */
const MAX_LOSSES = 4;

type AnyJob = QueuedJob<V1RunTask | V2TrialTask, unknown>;

/** A job of the queue: what a run of version 1 and a trial of version 2 have in common. */
export abstract class QueuedJob<Task extends V1RunTask | V2TrialTask, Result> implements SlotJob {
  placement: SlotJob['placement'];
  /** True when a worker is next: it has been to the GPU, simulated or not, or its worker has ended. */
  isPrepared = false;
  /** The network that its worker has to prepare; undefined for that of the model. */
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
   * @param line where it waits while it has no worker
   * @param maximumWorkersKilled workers that may end while they compute it, before it is taken for the cause
   */
  constructor(
    protected ownTask: Task,
    readonly owner: string,
    readonly timeoutMs: number,
    readonly line: WaitingLine<AnyJob>,
    private readonly maximumWorkersKilled: number,
  ) {
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  get task(): Task {
    return this.ownTask;
  }

  /** Task for the GPU. */
  abstract readonly batchJob: BatchJob;
  abstract begin(): void;
  abstract resolve(result: ResultOf[Task['kind']]): void;

  /**
   * Takes what a batch of the GPU has brought.
   * @param simulated undefined where the GPU could not simulate it
   * @param batchMs time of the whole batch
   */
  abstract prepare(simulated: SimulatedTrial | undefined, batchMs: number, batchLength: number): void;

  /** It waits again, before all others of its owner. */
  putBack(): void {
    this.line.putBack(this);
  }

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
      // A job that may have ended its worker is left to a worker, also where the GPU comes first.
      this.isPrepared = true;
      this.putBack();
    }
  }

  protected settle(result: Result): void {
    this.isSettled = true;
    this.#settle.resolve(result);
  }

  protected takeSimulated(simulated: SimulatedTrial | undefined): void {
    this.isPrepared = true;
    if (simulated !== undefined) this.ownTask = { ...this.ownTask, simulated };
  }
}
