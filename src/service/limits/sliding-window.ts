import { LRUCache } from 'lru-cache';

export interface WindowReading {
  readonly allowed: boolean;
  /** Amount that is left. Below zero where settling found more than was spent. */
  readonly remaining: number;
  /** Where refused: until the same amount is allowed. Else until the oldest amount leaves the window. */
  readonly resetMs: number;
  /**
   * Present if the amount was spent: replaces it by what it came to. What was not needed is free again at once; what was
   * needed beyond it is spent at this moment, also where the client has less left.
   */
  readonly settle?: (amount: number) => void | Promise<void>;
}

/** Sums up what clients spend, runs or brain time; in memory, or shared between replicas. Amounts are whole numbers. */
export interface SlidingWindow {
  /**
   * Spends an amount if it is allowed; what is refused is not spent, so that waiting always helps.
   * @param amount at most the limit
   */
  spend(client: string, amount: number): WindowReading | Promise<WindowReading>;
}

export interface WindowOptions {
  readonly limit: number;
  readonly windowMs: number;
  /**
   * Amounts within a slot of time are summed up and leave together, a window after its end: they count for a slot longer
   * at most, and neither the number nor the pace of requests costs memory. With 0 each counts for exactly a window.
   */
  readonly slotMs: number;
}

export interface MemoryWindowOptions extends WindowOptions {
  /** Beyond this, the clients idle longest are dropped: a flood of addresses cannot fill memory. */
  readonly maximumClients: number;
  readonly nowMs: () => number;
}

/** Amounts that count, oldest first: the start of each one's slot, and the amount. */
interface Spending {
  readonly startsMs: number[];
  readonly amounts: number[];
  total: number;
}

/** The window of one process. */
export class MemoryWindow implements SlidingWindow {
  readonly #spendingOf: LRUCache<string, Spending>;

  constructor(private readonly options: MemoryWindowOptions) {
    this.#spendingOf = new LRUCache({
      max: options.maximumClients,
      memoMethod: (): Spending => ({ startsMs: [], amounts: [], total: 0 }),
    });
  }

  spend(client: string, amount: number): WindowReading {
    const { limit, windowMs, slotMs } = this.options;
    const nowMs = this.options.nowMs();
    // In this order, since the sum of a moment and the window may be rounded up to a little more than the window.
    const leavesInMs = (startMs: number) => windowMs + slotMs - (nowMs - startMs);
    const spending = this.#spendingOf.memo(client);
    const { startsMs, amounts } = spending;
    const firstLive = startsMs.findIndex((startMs) => leavesInMs(startMs) > 0);
    const expired = firstLive < 0 ? startsMs.length : firstLive;
    startsMs.splice(0, expired);
    for (const spent of amounts.splice(0, expired)) spending.total -= spent;
    const free = limit - spending.total;
    if (amount > free) {
      // It fits once so many of the oldest amounts have left.
      let leaving = 0;
      for (let room = free; room < amount; leaving++) room += amounts[leaving]!;
      return { allowed: false, remaining: free, resetMs: leavesInMs(startsMs[leaving - 1]!) };
    }
    const startMs = this.#slotAt(nowMs);
    add(spending, startMs, amount);
    return {
      allowed: true,
      remaining: free - amount,
      resetMs: leavesInMs(startsMs[0]!),
      settle: (cameTo) => this.#settle(client, startMs, cameTo - amount),
    };
  }

  #slotAt(momentMs: number): number {
    const { slotMs } = this.options;
    return slotMs === 0 ? momentMs : Math.floor(momentMs / slotMs) * slotMs;
  }

  #settle(client: string, spentAtMs: number, change: number): void {
    const spending = this.#spendingOf.memo(client);
    if (change > 0) {
      add(spending, this.#slotAt(this.options.nowMs()), change);
      return;
    }
    const at = spending.startsMs.lastIndexOf(spentAtMs);
    // An amount that has left the window cannot be taken back.
    if (at < 0) return;
    spending.total += change;
    spending.amounts[at]! += change;
    if (spending.amounts[at] === 0) {
      spending.startsMs.splice(at, 1);
      spending.amounts.splice(at, 1);
    }
  }
}

/** Adds an amount to the newest slot, or opens a newer one. */
function add(spending: Spending, startMs: number, amount: number): void {
  spending.total += amount;
  const newest = spending.startsMs.length - 1;
  if (spending.startsMs[newest] === startMs) {
    spending.amounts[newest]! += amount;
  } else {
    spending.startsMs.push(startMs);
    spending.amounts.push(amount);
  }
}
