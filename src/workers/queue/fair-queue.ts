import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { finite } from '../../engine/finite.js';
import type { QueuedTask } from './queued-task.js';

/** Limit of remembered owners; the ones charged longest ago are dropped. */
const MAX_OWNERS = 1000;

/**
 * The amount charged to each owner; several queues can share it. The owner with the lowest charge is next (start-time
 * fair queueing, Goyal, Vin and Cheng 1996). An owner who had nothing waiting starts at the charge of the owner
 * served last, so idle time earns no credit.
 */
export class Charges {
  readonly #ofOwners = new LRUCache<string, number>({ max: MAX_OWNERS });
  #latest = 0;

  of(owner: string): number {
    return this.#ofOwners.peek(owner) ?? this.#latest;
  }

  /** Call this when an owner who had nothing waiting adds an item. */
  enter(owner: string): void {
    this.#ofOwners.set(owner, Math.max(this.of(owner), this.#latest));
  }

  /** Records that an owner is served in turn. */
  serve(owner: string): void {
    this.#latest = Math.max(this.#latest, this.of(owner));
  }

  charge(owner: string, amount: number): void {
    this.#ofOwners.set(owner, this.of(owner) + finite(amount));
  }
}

/** Waiting items of one owner. */
interface Waiting<T> {
  /** Items that were taken once and put back; they go first. */
  readonly returned: Set<T>;
  readonly fresh: Set<T>;
}

/**
 * Serves the owner with the lowest charge; equal ones take turns. Items of one owner keep their order. So an owner
 * with many or costly items delays another owner by one item at most. The time of adding and taking grows with the
 * number of owners, not of items.
 */
export class FairQueue<T> {
  /** Owners in the order of their last turn: of equal charges, the first one is next. */
  readonly #owners = new Map<string, Waiting<T>>();
  #size = 0;

  constructor(private readonly charges = new Charges()) {}

  get size(): number {
    return this.#size;
  }

  add(owner: string, item: T): void {
    this.#waitingOf(owner).fresh.add(item);
    this.#size++;
  }

  /** Puts a taken item back before all fresh items of its owner, after those put back earlier. */
  putBack(owner: string, item: T): void {
    this.#waitingOf(owner).returned.add(item);
    this.#size++;
  }

  /** @returns true if the item was in the queue */
  delete(owner: string, item: T): boolean {
    const waiting = this.#owners.get(owner);
    if (waiting === undefined || !(waiting.returned.delete(item) || waiting.fresh.delete(item))) return false;
    this.#size--;
    if (isEmpty(waiting)) this.#owners.delete(owner);
    return true;
  }

  /** The item that take() would take. */
  peek(): T | undefined {
    const next = this.#next();
    return next && first(next[1]);
  }

  /** All items of an owner, in order. */
  of(owner: string): T[] {
    const waiting = this.#owners.get(owner);
    return waiting === undefined ? [] : [...waiting.returned, ...waiting.fresh];
  }

  /** The next item of each owner, in the order of turns. */
  heads(): T[] {
    return this.#inTurn().map(([, waiting]) => first(waiting)!);
  }

  /** The first item of each owner in the order of turns, then the second ones, and so on. */
  *inOrder(): Generator<T, void, void> {
    let lists = this.#inTurn().map(([, { returned, fresh }]) => [...returned, ...fresh]);
    for (let round = 0; lists.length > 0; round++) {
      lists = lists.filter(({ length }) => length > round);
      for (const items of lists) yield items[round]!;
    }
  }

  take(): T | undefined {
    const next = this.#next();
    if (next === undefined) return undefined;
    const item = first(next[1])!;
    this.takeItem(next[0], item);
    return item;
  }

  /** Takes a given item. If it is out of turn, the charge at which new owners start does not change. */
  takeItem(owner: string, item: T): void {
    const waiting = this.#owners.get(owner);
    const isInTurn = this.#next()?.[0] === owner;
    if (waiting === undefined || !this.delete(owner, item)) return;
    if (isInTurn) this.charges.serve(owner);
    // Moves the owner to the end of those with equal charges.
    if (this.#owners.delete(owner)) this.#owners.set(owner, waiting);
  }

  #next(): [owner: string, waiting: Waiting<T>] | undefined {
    let next: [string, Waiting<T>] | undefined;
    let least = Infinity;
    for (const entry of this.#owners) {
      const charged = this.charges.of(entry[0]);
      if (charged < least) [next, least] = [entry, charged];
    }
    return next;
  }

  #inTurn(): [owner: string, waiting: Waiting<T>][] {
    return [...this.#owners].sort(([a], [b]) => this.charges.of(a) - this.charges.of(b));
  }

  #waitingOf(owner: string): Waiting<T> {
    return getOrInsert(this.#owners, owner, () => {
      this.charges.enter(owner);
      return { returned: new Set(), fresh: new Set() };
    });
  }
}

/**
 * Tasks of equal urgency that have no worker. They are in one of three states: waiting, being simulated by the GPU,
 * or prepared. Prepared tasks are back from the GPU, or not meant for it, and go to the workers next.
 */
export class WaitingLine<Task extends QueuedTask> {
  /** Worker time charged to each owner. */
  readonly #charges = new Charges();
  readonly #waiting = new FairQueue<Task>(this.#charges);
  readonly #simulating = new Set<Task>();
  readonly #prepared = new FairQueue<Task>(this.#charges);
  /** Prepared tasks that are back from the GPU. */
  readonly #returned = new Set<Task>();

  /**
   * @param order `arrival`: first come, first served; `fair`: the owner with the lowest charge is next
   * @param gpuComesFirst true if every task goes to the GPU before a worker gets it
   * @param isBackground true if nobody waits for the tasks
   */
  constructor(
    private readonly order: 'arrival' | 'fair',
    private readonly gpuComesFirst: () => boolean,
    readonly isBackground = false,
  ) {}

  get size(): number {
    return this.#waiting.size + this.#simulating.size + this.#prepared.size;
  }

  /** The tasks that workers may take. */
  get next(): FairQueue<Task> {
    return this.#prepared.size > 0 || this.gpuComesFirst() ? this.#prepared : this.#waiting;
  }

  /** All tasks, whatever their state. */
  *all(): Generator<Task, void, void> {
    yield* this.#waiting.inOrder();
    yield* this.#simulating;
    yield* this.#prepared.inOrder();
  }

  /** Number of prepared tasks that are back from the GPU. */
  get returned(): number {
    return this.#returned.size;
  }

  add(task: Task): void {
    this.#waiting.add(this.#keyOf(task), task);
  }

  /** Puts back a task that a worker had, before all waiting tasks of its owner. */
  putBack(task: Task): void {
    (task.isPrepared ? this.#prepared : this.#waiting).putBack(this.#keyOf(task), task);
    if (task.isPrepared && task.isForGpu) this.#returned.add(task);
  }

  delete(task: Task): void {
    this.#waiting.delete(this.#keyOf(task), task);
    this.#simulating.delete(task);
    this.#prepared.delete(this.#keyOf(task), task);
    this.#returned.delete(task);
  }

  /** Takes a task of `next`, also one that is not the first. */
  take(task: Task): void {
    this.next.takeItem(this.#keyOf(task), task);
    this.#returned.delete(task);
  }

  /** Charges the owner of a task. */
  charge(task: Task, ms: number): void {
    this.#charges.charge(this.#keyOf(task), ms);
  }

  /** Up to `count` tasks for the GPU, in the order in which workers would take them. Call passGpuBy first. */
  candidates(count: number): Task[] {
    const found: Task[] = [];
    for (const task of this.#waiting.inOrder()) {
      if (found.length === count) break;
      found.push(task);
    }
    return found;
  }

  /** Makes tasks prepared that the GPU cannot simulate. */
  passGpuBy(): void {
    for (const task of this.#waiting.inOrder()) {
      if (!task.isForGpu && this.#waiting.delete(this.#keyOf(task), task))
        this.#prepared.add(this.#keyOf(task), task);
    }
  }

  /** Marks a task as being simulated by the GPU. */
  beginSimulation(task: Task): void {
    if (this.#waiting.delete(this.#keyOf(task), task)) this.#simulating.add(task);
  }

  /** @returns false if the task was deleted meanwhile */
  endSimulation(task: Task): boolean {
    if (!this.#simulating.delete(task)) return false;
    this.#prepared.add(this.#keyOf(task), task);
    this.#returned.add(task);
    return true;
  }

  #keyOf({ owner }: Task): string {
    return this.order === 'fair' ? owner : '';
  }
}

function isEmpty({ returned, fresh }: Waiting<unknown>): boolean {
  return returned.size === 0 && fresh.size === 0;
}

function first<T>({ returned, fresh }: Waiting<T>): T | undefined {
  for (const item of returned) return item;
  for (const item of fresh) return item;
  return undefined;
}
