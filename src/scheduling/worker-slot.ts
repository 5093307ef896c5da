import { CodedError } from '../errors.js';
import { isUnderWay, newCancellationFlag, withdraw, type CancellationFlag } from './cancellation-flag.js';
import type { WorkerState } from './pool-worker.js';
import type { ResultOf, V1RunTask, V2TrialTask } from './task.js';

/** A run that computes for longer is slow: nothing is queued ahead behind it. */
const SLOW_RUN_MS = 25;

export type JobKind = 'v1-run' | 'v2-trial';
type JobTask = V1RunTask | V2TrialTask;

/** A worker as the queue sees it. */
export interface JobWorker {
  readonly state: WorkerState;
  /** @throws CodedError the failure of the task, or WORKER_LOST when the worker ended before it answered */
  run<Kind extends JobKind>(task: JobTask & { readonly kind: Kind }): Promise<ResultOf[Kind]>;
  /** Ends the worker in the middle of what it does; another one takes its place. */
  restart(): void;
  /** @param listener is told after the state has changed */
  whenChanged(listener: () => void): void;
}

/** How the worker of a job ended before it answered. */
export interface Loss {
  readonly error: CodedError;
  /** Tells whether the worker was ended because it computed this job for too long. */
  readonly isOverdue: boolean;
  /** Tells whether the worker was computing this job when it ended. */
  readonly isUnderWay: boolean;
  /** Tells whether no other worker takes its place. */
  readonly isFinal: boolean;
}

/** Job of a worker. It is told how it ended, once for each time that it is handed over. */
export interface SlotJob {
  readonly task: JobTask;
  readonly owner: string;
  /** The rewired network that it is a trial of, as text. */
  readonly wiring: string | undefined;
  /** A worker that computes it for longer is ended; Infinity for no limit. */
  readonly timeoutMs: number;
  /** Set by the slot that has it. */
  placement: Placement | undefined;
  /** It is the first in its worker, so it no longer waits. */
  begin(): void;
  resolve(result: ResultOf[JobKind]): void;
  /** It failed by itself. */
  reject(error: unknown): void;
  lose(loss: Loss): void;
}

interface RewiredNetwork {
  readonly wiring: string;
  /** Client whose trial it was prepared for. */
  readonly owner: string;
  readonly sinceMs: number;
}

interface Placement {
  readonly slot: { withdraw(job: SlotJob): boolean };
  readonly flag: CancellationFlag;
}

/** @returns whether no worker has begun the job, and none will; the slot then has nothing to do with it any more */
export function withdrawJob(job: SlotJob): boolean {
  return job.placement?.slot.withdraw(job) === true;
}

/**
 * A worker, the job that it computes and the one that is queued ahead in it, so that it need not wait for this thread
 * to take the first result before it begins the second job. Both are of one kind.
 */
export class WorkerSlot<Job extends SlotJob> {
  /** In the order in which the worker will answer; what was withdrawn meanwhile is undefined. */
  readonly #places: (Job | undefined)[] = [];
  /** Runs since the worker has had nothing before it. */
  #timer: NodeJS.Timeout | undefined;
  #timed: Job | undefined;
  #isSlow = false;
  /** Tells whether the worker was ended because its job took too long. */
  #isEnded = false;
  #freeSinceMs = -Infinity;
  #network: RewiredNetwork | undefined;

  /**
   * @param onChange is told that the worker may take another job, or that what it was given has changed
   * @param onSlow is told that the run in it is slow
   */
  constructor(
    private readonly worker: JobWorker,
    private readonly onChange: () => void,
    private readonly onSlow: (slot: WorkerSlot<Job>) => void,
  ) {
    worker.whenChanged(onChange);
  }

  /** Kind of the job that it computes, if any. */
  get kind(): JobKind | undefined {
    return (this.#places[0] ?? this.#places[1])?.task.kind;
  }

  get isComputing(): boolean {
    return this.#places[0] !== undefined;
  }

  /** Tells whether a job that it is handed is the next one that the worker begins. */
  get isFree(): boolean {
    return this.worker.state !== 'starting' && this.kind === undefined && this.#places.length < 2;
  }

  /** Tells whether a job of this kind may be queued ahead in it. */
  canPrefetch(kind: JobKind): boolean {
    const { worker } = this;
    return worker.state !== 'starting' && this.kind === kind && this.#places.length === 1 && !this.#isSlow;
  }

  /** The rewired network that its worker has, or will have when it comes to what it was given, and for how long. */
  get network(): (Omit<RewiredNetwork, 'sinceMs'> & { readonly ms: number }) | undefined {
    return this.#network && { ...this.#network, ms: performance.now() - this.#network.sinceMs };
  }

  /** Time for which it has had nothing to do. */
  get freeMs(): number {
    return performance.now() - this.#freeSinceMs;
  }

  /** Job that it computes. */
  get current(): Job | undefined {
    return this.#places[0];
  }

  /** Job that is queued ahead. */
  get prefetched(): Job | undefined {
    return this.#places[1];
  }

  hand(job: Job): void {
    const flag = newCancellationFlag();
    job.placement = { slot: this, flag };
    const { wiring, owner } = job;
    if (wiring !== undefined && (wiring !== this.#network?.wiring || owner !== this.#network.owner)) {
      this.#network = { wiring, owner, sinceMs: performance.now() };
    }
    this.#places.push(job);
    this.#timeFirst();
    const isStillHanded = () => job.placement?.flag === flag;
    this.worker.run({ ...job.task, flag }).then(
      (result) => {
        if (isStillHanded()) {
          job.placement = undefined;
          job.resolve(result);
        }
        this.#advance();
      },
      (error: unknown) => {
        if (isStillHanded()) this.#fail(job, flag, error);
        this.#advance();
      },
    );
  }

  /** See withdrawJob. */
  withdraw(job: Job): boolean {
    if (!withdraw(job.placement!.flag)) return false;
    job.placement = undefined;
    // The worker still answers for it, as soon as it comes to it.
    this.#places[this.#places.indexOf(job)] = undefined;
    return true;
  }

  #fail(job: Job, flag: CancellationFlag, error: unknown): void {
    job.placement = undefined;
    if (!(error instanceof CodedError && error.code === 'WORKER_LOST')) {
      job.reject(error);
      return;
    }
    const isOverdue = this.#isEnded && this.#timed === job;
    job.lose({
      error,
      isOverdue,
      // A worker that was ended over an overdue job may just have begun the next. One that ended by itself was
      // computing what it died of.
      isUnderWay: isOverdue || (!this.#isEnded && isUnderWay(flag)),
      isFinal: this.worker.state === 'closed',
    });
  }

  /** The worker is done with its first place. */
  #advance(): void {
    this.#places.shift();
    if (this.#places.length === 0) {
      this.#isEnded = false;
      this.#freeSinceMs = performance.now();
    }
    this.#timeFirst();
    this.onChange();
  }

  /** Whatever stands first is what the worker computes: it waits no more, and its time runs. */
  #timeFirst(): void {
    const [first] = this.#places;
    // A worker that was ended computes nothing; what it had is about to be rejected.
    if (this.#isEnded || first === this.#timed) return;
    clearTimeout(this.#timer);
    this.#timed = first;
    this.#isSlow = false;
    if (first === undefined) return;
    first.begin();
    const { timeoutMs } = first;
    if (first.task.kind === 'v2-trial') {
      this.#endAfter(first, timeoutMs);
      return;
    }
    const slowMs = Math.min(SLOW_RUN_MS, timeoutMs);
    this.#timer = setTimeout(() => {
      this.#isSlow = true;
      this.#endAfter(first, timeoutMs - slowMs);
      this.onSlow(this);
    }, slowMs);
  }

  #endAfter(job: Job, ms: number): void {
    if (ms !== Infinity) this.#timer = setTimeout(() => this.#endOverdue(job), ms);
  }

  #endOverdue(job: Job): void {
    if (job.placement === undefined) return;
    if (!isUnderWay(job.placement.flag)) {
      // Its answer is on the way, or the worker has had something else to do until now.
      this.#endAfter(job, job.timeoutMs);
      return;
    }
    this.#isEnded = true;
    this.worker.restart();
  }
}
