/**
 * The rules of the queue: which task is next, and which worker gets it. These functions change nothing;
 * experiment-queue.ts carries their decisions out, and checks the limits on waiting tasks.
 *
 * A free worker takes the first of these that exists:
 *
 * 1. A run of version 1, in order of arrival.
 * 2. A trial of version 2 that somebody waits for. Among clients, the one whose trials have used the least goes
 *    first.
 * 3. A background trial, by the same rule.
 *
 * With two workers or more, one is reserved for runs. It takes only light trials: steps of sessions, or trials of a
 * client for whom no other worker computes. A small event budget stops a light trial after a few milliseconds. If it
 * is stopped, its result is discarded and another worker computes the trial again with its full budget. So a run
 * waits a few milliseconds at most, and results never depend on the worker.
 *
 * Each worker has the task that it computes and one that is prefetched, so it is never idle between two tasks. A run
 * is never prefetched into a worker that computes a trial. If a run waits, prefetched trials are taken back, so the
 * run waits for one trial at most.
 */
import type { FairQueue } from './fair-queue.js';
import type { QueuedTask } from './queued-task.js';
import type { WorkerSlot } from './worker-slot.js';

/** Least time that a worker needs to prepare a rewired network of a whole brain. */
const PREPARATION_MS = 50;
/** After preparing a network, the worker prefers trials of that network for this long, even out of turn. */
const OUT_OF_TURN_MS = 250;

export interface Assignment {
  readonly task: QueuedTask;
  readonly slot: WorkerSlot;
  /** True if the worker is the reserved one. */
  readonly isReserved?: true;
}

export class QueuePolicy {
  /** @param reservesWorker true if one worker is reserved for runs; a single worker never is */
  constructor(
    private readonly slots: readonly WorkerSlot[],
    private readonly reservesWorker: boolean,
  ) {}

  /** Maximum number of trials computed at the same time, light ones of the reserved worker excluded. */
  get trialsAtOnce(): number {
    return this.#isReserving ? this.slots.length - 1 : this.slots.length;
  }

  /**
   * Runs get the first free worker and trials the last one. Each kind then finds a worker whose CPU caches suit it.
   */
  get freeSlot(): WorkerSlot | undefined {
    return this.slots.find((slot) => slot.isFree);
  }

  nextRun(runs: FairQueue<QueuedTask>): Assignment | undefined {
    const task = runs.peek();
    if (task === undefined) return undefined;
    const prefetching = () =>
      task.losses > 0 ? undefined : this.slots.find((slot) => slot.canPrefetch('v1-run'));
    const slot = this.freeSlot ?? prefetching();
    return slot && { task, slot };
  }

  /**
   * The next trial that finds a worker. Preparing a rewired network takes longer than many trials. So trials of a
   * network go to the worker that holds it, for a while even out of turn. Another worker prepares the same network
   * only after it has been idle for as long as the preparation takes.
   */
  nextTrial(trials: FairQueue<QueuedTask>): Assignment | undefined {
    const next = trials.peek();
    if (next === undefined) return undefined;
    const free = this.#freeSlotForTrials;
    const isOpen = (slot: WorkerSlot) => (free !== undefined && slot.isFree) || slot.canPrefetch('v2-trial');
    for (const slot of this.slots) {
      const { network } = slot;
      if (network === undefined || !isOpen(slot)) continue;
      const isInTurn = network.owner === next.owner && next.wiring !== undefined;
      if (!isInTurn && network.ms > OUT_OF_TURN_MS) continue;
      const task = trials
        .of(network.owner)
        .find(({ wiring, losses }) => wiring === network.wiring && (slot.isFree || losses === 0));
      if (task !== undefined) return { task, slot };
    }
    if (next.wiring === undefined) {
      const slot = free ?? this.#slotToPrefetchTrial(next);
      return slot && { task: next, slot };
    }
    // The worker may have prepared the network for another client.
    const holder = this.slots.find((slot) => slot.network?.wiring === next.wiring && isOpen(slot));
    if (holder !== undefined && (holder.isFree || next.losses === 0)) return { task: next, slot: holder };
    if (free === undefined) return undefined;
    const held = new Set(this.slots.map(({ network }) => network?.wiring));
    const other = trials.of(next.owner).find(({ wiring }) => wiring === undefined || !held.has(wiring));
    if (other !== undefined) return { task: other, slot: free };
    const hasWaited = free.network === undefined || free.freeMs > PREPARATION_MS;
    return hasWaited ? { task: next, slot: free } : undefined;
  }

  /**
   * The next task for the reserved worker: a light step, or a light trial of a client for whom no worker computes.
   */
  nextLightTrial(trials: FairQueue<QueuedTask>): Assignment | undefined {
    if (!this.#isReserving || this.slots.some(hasLightTrial)) return undefined;
    // Otherwise a worker of trials is free or soon will be.
    if (this.#trialSlots.length < this.trialsAtOnce) return undefined;
    const slot = this.freeSlot;
    if (slot === undefined) return undefined;
    const task = trials
      .heads()
      .find((each) => each.isLight && (each.isStep || !this.#isComputingFor(each.owner)));
    return task && { task, slot, isReserved: true };
  }

  /**
   * @param runs runs that found no worker
   * @returns slots whose prefetched task must make way for a waiting one
   */
  inTheWay(runs: FairQueue<QueuedTask>, urgent: FairQueue<QueuedTask>): WorkerSlot[] {
    if (runs.peek() !== undefined) return this.#prefetching(({ kind }) => kind === 'v2-trial');
    const next = urgent.peek();
    if (next === undefined || this.#isComputingFor(next.owner)) return [];
    return this.#prefetching(
      ({ kind, owner }, slot) => kind === 'v2-trial' && !hasLightTrial(slot) && this.#isComputingFor(owner),
    );
  }

  /** @returns slots with a prefetched background trial */
  prefetchingBackground(): WorkerSlot[] {
    return this.#prefetching(({ isBackground }) => isBackground);
  }

  /** @returns the idle worker that may take over a prefetched task if nothing else waits */
  idleSlotFor(prefetched: QueuedTask): WorkerSlot | undefined {
    const idle = prefetched.kind === 'v1-run' ? this.freeSlot : this.#freeSlotForTrials;
    // A trial of a rewired network stays with the worker that prepares it.
    const isBound = prefetched.wiring !== undefined && prefetched.wiring !== idle?.network?.wiring;
    return isBound ? undefined : idle;
  }

  #prefetching(isMeant: (prefetched: QueuedTask, slot: WorkerSlot) => boolean): WorkerSlot[] {
    return this.slots.filter((slot) => slot.prefetched !== undefined && isMeant(slot.prefetched, slot));
  }

  get #isReserving(): boolean {
    return this.reservesWorker && this.slots.length > 1;
  }

  get #freeSlotForTrials(): WorkerSlot | undefined {
    return this.#trialSlots.length < this.trialsAtOnce
      ? this.slots.findLast((slot) => slot.isFree)
      : undefined;
  }

  /** Slots with trials, except light ones of the reserved worker. */
  get #trialSlots(): WorkerSlot[] {
    return this.slots.filter((slot) => slot.kind === 'v2-trial' && !hasLightTrial(slot));
  }

  #isComputingFor(owner: string): boolean {
    return this.slots.some(({ current }) => current?.kind === 'v2-trial' && current.owner === owner);
  }

  /**
   * A light trial is prefetched only after a trial of the same client: otherwise the reserved worker takes it sooner.
   */
  #slotToPrefetchTrial({ losses, owner, isLight }: QueuedTask): WorkerSlot | undefined {
    if (losses > 0) return undefined;
    const isForAny = !isLight || !this.#isReserving;
    return this.#trialSlots.find(
      (slot) => slot.canPrefetch('v2-trial') && (isForAny || slot.current?.owner === owner),
    );
  }
}

function hasLightTrial({ current, prefetched }: WorkerSlot): boolean {
  return current?.isOnReservedWorker === true || prefetched?.isOnReservedWorker === true;
}
