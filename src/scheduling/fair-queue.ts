import { LRUCache } from 'lru-cache';

/** Owners whose charges are remembered; those that were charged longest ago are forgotten first. */
const MAX_OWNERS = 1000;

/**
 * Charges of each owner, for queues that take turns together. Start-time fair queueing (Goyal, Vin and Cheng
 * 1996): an owner without waiting items that adds one starts at the charge of the owner served last, so nobody saves up turns.
 */
export class Charges {
  readonly #ofOwners = new LRUCache<string, number>({ max: MAX_OWNERS });
  #latest = 0;

  of(owner: string): number {
    return this.#ofOwners.peek(owner) ?? this.#latest;
  }

  /** To be called when an owner that had nothing waiting adds an item. */
  enter(owner: string): void {
    this.#ofOwners.set(owner, Math.max(this.of(owner), this.#latest));
  }

  /** It is the turn of an owner. */
  serve(owner: string): void {
    this.#latest = Math.max(this.#latest, this.of(owner));
  }

  charge(owner: string, amount: number): void {
    this.#ofOwners.set(owner, this.of(owner) + amount);
  }
}

/** Waiting items of one owner. */
interface Waiting<T> {
  /** Items that were handed out once and came back; the next to be taken. */
  readonly returned: Set<T>;
  readonly fresh: Set<T>;
}

/**
 * Takes one item of the owner that was charged least, of equal ones in turn, and those of one owner in the order in
 * which they came. So an owner with many items, or with costly ones, delays another by one item at most. Adding and taking
 * take time with the number of owners, not of items.
 */
export class FairQueue<T> {
  /** Owners; of those that were charged alike, the one at the front is the next to be served. */
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

  /** Returns an item that was taken to the front of its owner, behind others that were returned. */
  putBack(owner: string, item: T): void {
    this.#waitingOf(owner).returned.add(item);
    this.#size++;
  }

  /** @returns whether it was there */
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

  /** All items of an owner, in their order. */
  of(owner: string): T[] {
    const waiting = this.#owners.get(owner);
    return waiting === undefined ? [] : [...waiting.returned, ...waiting.fresh];
  }

  /** The next item of each owner, in the order of their turns. */
  heads(): T[] {
    return this.#inTurn().map(([, waiting]) => first(waiting)!);
  }

  /** One item of each owner in the order of their turns, then their second ones, and so on. */
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

  /** Takes a given item. Where it is not the turn of its owner, the start of owners that come later stays as it is. */
  takeItem(owner: string, item: T): void {
    const waiting = this.#owners.get(owner);
    const isInTurn = this.#next()?.[0] === owner;
    if (waiting === undefined || !this.delete(owner, item)) return;
    if (isInTurn) this.charges.serve(owner);
    // At the back until its next turn.
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
    let waiting = this.#owners.get(owner);
    if (waiting === undefined) {
      this.charges.enter(owner);
      waiting = { returned: new Set(), fresh: new Set() };
      this.#owners.set(owner, waiting);
    }
    return waiting;
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
