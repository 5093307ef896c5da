/** What one owner has waiting. */
interface Waiting<T> {
  /** What was handed out once and came back; the next to be taken. */
  readonly returned: Set<T>;
  readonly fresh: Set<T>;
}

/**
 * Takes one item of each owner in turn, and those of one owner in the order in which they came, so an owner with many
 * items delays another by one item at most. All operations take constant time.
 */
export class RoundRobin<T> {
  /** The owner at the front is the next one to be served. */
  readonly #owners = new Map<string, Waiting<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What one owner has waiting. */
  sizeOf(owner: string): number {
    const waiting = this.#owners.get(owner);
    return waiting === undefined ? 0 : waiting.returned.size + waiting.fresh.size;
  }

  add(owner: string, item: T): void {
    this.#waitingOf(owner).fresh.add(item);
    this.#size++;
  }

  /** Puts an item that was taken before all that its owner has waiting. */
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

  /** What take() would take. */
  peek(): T | undefined {
    for (const waiting of this.#owners.values()) return first(waiting);
    return undefined;
  }

  /** The items in the order in which repeated take() would give them, as long as nothing changes meanwhile. */
  *inOrder(): Generator<T, void, void> {
    let rounds = [...this.#owners.values()].map(({ returned, fresh }) => [...returned, ...fresh]);
    for (let round = 0; rounds.length > 0; round++) {
      rounds = rounds.filter(({ length }) => length > round);
      for (const items of rounds) yield items[round]!;
    }
  }

  take(): T | undefined {
    for (const [owner, waiting] of this.#owners) {
      const item = first(waiting)!;
      this.delete(owner, item);
      // At the back until its next turn.
      if (this.#owners.delete(owner)) this.#owners.set(owner, waiting);
      return item;
    }
    return undefined;
  }

  #waitingOf(owner: string): Waiting<T> {
    let waiting = this.#owners.get(owner);
    if (waiting === undefined) {
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
