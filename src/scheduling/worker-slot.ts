import { CodedError } from '../errors.js';
import { isUnderWay, newCancellationFlag, type CancellationFlag } from './cancellation-flag.js';
import type { PoolWorker } from './pool-worker.js';
import type { QueuedTask } from './queued-task.js';
import type { QueuedKind } from './task.js';

/** A run that computes for longer is slow: nothing is queued ahead behind it. */
const SLOW_RUN_MS = 25;

/** A worker as the queue sees it. */
export type QueueWorker = Pick<PoolWorker, 'state' | 'run' | 'restart' | 'whenChanged'>;

/** A task that a worker was handed and has not answered yet. */
interface Place {
  readonly queued: QueuedTask;
  readonly flag: CancellationFlag;
}

interface RewiredNetwork {
  /** As text. */
  readonly wiring: string;
  /** Client whose trial it was prepared for. */
  readonly owner: string;
  /** When it was prepared, or became that of another client: time out of turn counts from then. */
  readonly sinceMs: number;
}

/**
 * A worker, the task that it computes and the one that is queued ahead in it, so that it need not wait for this thread
 * to take the first result before it begins the second task. Both are of one kind.
 */
export class WorkerSlot {
  /** In the order in which the worker will answer, also those that were withdrawn meanwhile. */
  readonly #places: Place[] = [];
  /** Time limit of the first place. */
  #timer: NodeJS.Timeout | undefined;
  #timed: Place | undefined;
  #isSlow = false;
  /** Tells whether the worker was ended because its task took too long. */
  #wasRestarted = false;
  #freeSinceMs = -Infinity;
  #network: RewiredNetwork | undefined;

  /**
   * @param onChange is told that the worker may take another task, or that what it was given has changed
   * @param onSlow is told that the run in it is slow
   */
  constructor(
    private readonly worker: QueueWorker,
    private readonly onChange: () => void,
    private readonly onSlow: (slot: WorkerSlot) => void,
  ) {
    worker.whenChanged(onChange);
  }

  /** Task that it computes. */
  get current(): QueuedTask | undefined {
    return heldIn(this.#places[0]);
  }

  /** Task that is queued ahead. */
  get prefetched(): QueuedTask | undefined {
    return heldIn(this.#places[1]);
  }

  /** Kind of the tasks that it has, if any. */
  get kind(): QueuedKind | undefined {
    return (this.current ?? this.prefetched)?.task.kind;
  }

  /** Tells whether the worker would begin a task at once. Tasks that were withdrawn still have their places until it answers. */
  get isFree(): boolean {
    return this.worker.state !== 'starting' && this.kind === undefined && this.#places.length < 2;
  }

  /** Tells whether a task of this kind may be queued ahead in it. */
  canPrefetch(kind: QueuedKind): boolean {
    const { worker } = this;
    return worker.state !== 'starting' && this.kind === kind && this.#places.length === 1 && !this.#isSlow;
  }

  /** The rewired network that its worker has, or will have once its tasks are done, and for how long. */
  get network(): (Omit<RewiredNetwork, 'sinceMs'> & { readonly ms: number }) | undefined {
    return this.#network && { ...this.#network, ms: performance.now() - this.#network.sinceMs };
  }

  /** Time for which it has had nothing to do. */
  get freeMs(): number {
    return performance.now() - this.#freeSinceMs;
  }

  hand(queued: QueuedTask): void {
    const place = { queued, flag: newCancellationFlag() };
    queued.flag = place.flag;
    const { wiring, owner } = queued;
    if (wiring !== undefined && (wiring !== this.#network?.wiring || owner !== this.#network.owner)) {
      this.#network = { wiring, owner, sinceMs: performance.now() };
    }
    this.#places.push(place);
    this.#timeFirst();
    this.worker.run({ ...queued.task, flag: place.flag }).then(
      (result) => {
        if (isHeld(place)) {
          queued.flag = undefined;
          queued.resolve(result);
        }
        this.#advance();
      },
      (error: unknown) => {
        if (isHeld(place)) {
          queued.flag = undefined;
          this.#fail(place, error);
        }
        this.#advance();
      },
    );
  }

  #fail(place: Place, error: unknown): void {
    const { queued, flag } = place;
    if (!(error instanceof CodedError && error.code === 'WORKER_LOST')) {
      queued.reject(error);
      return;
    }
    const isOverdue = this.#wasRestarted && this.#timed === place;
    queued.lose({
      error,
      isOverdue,
      // A worker that was ended over an overdue task may just have begun the next. One that ended by itself was
      // computing what it died of.
      isUnderWay: isOverdue || (!this.#wasRestarted && isUnderWay(flag)),
      isFinal: this.worker.state === 'closed',
    });
  }

  /** The worker is done with its first place. */
  #advance(): void {
    this.#places.shift();
    if (this.#places.length === 0) {
      this.#wasRestarted = false;
      this.#freeSinceMs = performance.now();
    }
    this.#timeFirst();
    this.onChange();
  }

  /** Whatever stands first is what the worker computes: it waits no more, and its time runs. */
  #timeFirst(): void {
    const [first] = this.#places;
    // A worker that was ended computes nothing; what it had is about to be rejected.
    if (this.#wasRestarted || first === this.#timed) return;
    clearTimeout(this.#timer);
    this.#timed = first;
    this.#isSlow = false;
    if (first === undefined || !isHeld(first)) return;
    const { queued } = first;
    queued.begin();
    const { timeoutMs } = queued;
    if (queued.task.kind === 'v2-trial') {
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

  #endAfter(place: Place, ms: number): void {
    if (ms !== Infinity) this.#timer = setTimeout(() => this.#endOverdue(place), ms);
  }

  #endOverdue(place: Place): void {
    if (!isHeld(place)) return;
    if (!isUnderWay(place.flag)) {
      // Its answer is on the way, or the worker has had something else to do until now.
      this.#endAfter(place, place.queued.timeoutMs);
      return;
    }
    this.#wasRestarted = true;
    this.worker.restart();
  }
}

/** False for a task that was withdrawn from there; it may have another worker since. */
function isHeld({ queued, flag }: Place): boolean {
  return queued.flag === flag;
}

function heldIn(place: Place | undefined): QueuedTask | undefined {
  return place !== undefined && isHeld(place) ? place.queued : undefined;
}
