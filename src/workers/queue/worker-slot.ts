import { CodedError } from '../../engine/errors.js';
import type { PoolWorker } from '../pool/pool-worker.js';
import type { QueuedTask } from './queued-task.js';
import { isUnderWay, newCancellationFlag, type CancellationFlag, type QueuedKind } from '../pool/task.js';

/** A run is slow after this time; no task is then prefetched into its worker. */
const SLOW_RUN_MS = 25;

/** A worker as the queue sees it. */
export type QueueWorker = Pick<PoolWorker, 'state' | 'run' | 'restart' | 'whenChanged'>;

/** A task that a worker received and has not answered yet. */
interface Entry {
  readonly queued: QueuedTask;
  readonly flag: CancellationFlag;
}

interface RewiredNetwork {
  /** As text. */
  readonly wiring: string;
  /** The client whose trial needed it. */
  readonly owner: string;
  /**
   * Time at which it was prepared, or at which its client changed. The time limit of trials out of turn starts here.
   */
  readonly sinceMs: number;
}

/**
 * A worker with the task that it computes and the prefetched one. With a prefetched task, the worker need not wait
 * until this thread has read its first answer. Both tasks are of the same kind.
 */
export class WorkerSlot {
  /** In the order of the worker's answers. Withdrawn tasks stay until the worker answers them. */
  readonly #entries: Entry[] = [];
  /** Timeout of the first entry. */
  #timer: NodeJS.Timeout | undefined;
  #timed: Entry | undefined;
  #isSlow = false;
  /** True if the worker was ended because its task took too long. */
  #wasRestarted = false;
  #freeSinceMs = -Infinity;
  #network: RewiredNetwork | undefined;

  /**
   * @param onChange called if the worker may take another task, or if one of its tasks ended
   * @param onSlow called if the run in the worker is slow
   */
  constructor(
    private readonly worker: QueueWorker,
    private readonly onChange: () => void,
    private readonly onSlow: (slot: WorkerSlot) => void,
  ) {
    worker.whenChanged(() => {
      if (worker.state === 'ready') {
        // A task that had not reached the old worker was not lost with it.
        this.#wasRestarted = false;
        this.#timeFirst();
      }
      onChange();
    });
  }

  /** The task that the worker computes. */
  get current(): QueuedTask | undefined {
    return heldIn(this.#entries[0]);
  }

  /** The prefetched task. */
  get prefetched(): QueuedTask | undefined {
    return heldIn(this.#entries[1]);
  }

  /** Kind of its tasks; undefined if it has none. */
  get kind(): QueuedKind | undefined {
    return (this.current ?? this.prefetched)?.kind;
  }

  /** True if the worker would begin a task at once. Withdrawn tasks keep their entries until the worker answers. */
  get isFree(): boolean {
    return this.worker.state !== 'starting' && this.kind === undefined && this.#entries.length < 2;
  }

  /** True if a task of this kind may be prefetched. */
  canPrefetch(kind: QueuedKind): boolean {
    const { worker } = this;
    return worker.state !== 'starting' && this.kind === kind && this.#entries.length === 1 && !this.#isSlow;
  }

  /** The rewired network that the worker has, or will have after its tasks, and the time since. */
  get network(): (Omit<RewiredNetwork, 'sinceMs'> & { readonly ms: number }) | undefined {
    return this.#network && { ...this.#network, ms: performance.now() - this.#network.sinceMs };
  }

  /** Time since it became idle. */
  get freeMs(): number {
    return performance.now() - this.#freeSinceMs;
  }

  hand(queued: QueuedTask): void {
    const entry = { queued, flag: newCancellationFlag() };
    queued.flag = entry.flag;
    const { wiring, owner } = queued;
    if (wiring !== undefined && (wiring !== this.#network?.wiring || owner !== this.#network.owner)) {
      this.#network = { wiring, owner, sinceMs: performance.now() };
    }
    this.#entries.push(entry);
    this.#timeFirst();
    const end = (tell: () => void) => {
      if (isHeld(entry)) {
        queued.flag = undefined;
        tell();
        queued.onAbandoned?.();
      }
      this.#advance();
    };
    this.worker.run({ ...queued.task, flag: entry.flag }).then(
      (result) => end(() => queued.resolve(result)),
      (error: unknown) => end(() => this.#fail(entry, error)),
    );
  }

  #fail(entry: Entry, error: unknown): void {
    const { queued, flag } = entry;
    if (!(error instanceof CodedError && error.code === 'WORKER_LOST')) {
      queued.reject(error);
      return;
    }
    const isOverdue = this.#wasRestarted && this.#timed === entry;
    queued.lose({
      error,
      isOverdue,
      // If the queue ended the worker over an overdue task, the next task may just have begun and is innocent. If the
      // worker died by itself, the task that it was computing is the cause.
      isUnderWay: isOverdue || (!this.#wasRestarted && isUnderWay(flag)),
      isFinal: this.worker.state === 'closed',
    });
  }

  /** Called when the worker has answered or lost its first entry. */
  #advance(): void {
    this.#entries.shift();
    if (this.#entries.length === 0) {
      this.#wasRestarted = false;
      this.#freeSinceMs = performance.now();
    }
    this.#timeFirst();
    this.onChange();
  }

  /** The first entry is being computed: mark it started and start its timeout. */
  #timeFirst(): void {
    const [first] = this.#entries;
    // A worker that was ended computes nothing; its tasks are about to be rejected.
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

  #endAfter(entry: Entry, ms: number): void {
    if (ms !== Infinity) this.#timer = setTimeout(() => this.#endOverdue(entry), ms);
  }

  #endOverdue(entry: Entry): void {
    if (!isHeld(entry)) return;
    if (!isUnderWay(entry.flag)) {
      // Its answer is on the way, or the worker began it late.
      this.#endAfter(entry, entry.queued.timeoutMs);
      return;
    }
    this.#wasRestarted = true;
    this.worker.restart();
  }
}

/** False if the task was withdrawn from this entry; another worker may have it since. */
function isHeld({ queued, flag }: Entry): boolean {
  return queued.flag === flag;
}

function heldIn(entry: Entry | undefined): QueuedTask | undefined {
  return entry !== undefined && isHeld(entry) ? entry.queued : undefined;
}
