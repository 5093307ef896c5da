import { LRUCache } from 'lru-cache';
import { finite } from '../../engine/finite.js';

export interface WindowResult {
  readonly allowed: boolean;
  /** Remaining amount; negative if settling found more than was charged. */
  readonly remaining: number;
  /** If refused: time until the same amount is allowed. Otherwise: time until the oldest amount leaves the window. */
  readonly resetMs: number;
  /**
   * Present if the amount was charged: replaces it by the real one. A surplus is free again at once. A deficit is
   * charged now, even if the client has less left.
   */
  readonly settle?: (amount: number) => void | Promise<void>;
}

/**
 * Counts the runs or brain time that clients spend, in memory or shared between replicas. Amounts are whole numbers.
 */
export interface SlidingWindow {
  /**
   * Charges an amount if it is allowed. A refused amount is not charged, so waiting always helps.
   * @param amount at most the limit
   */
  spend(client: string, amount: number): WindowResult | Promise<WindowResult>;
}

export interface WindowOptions {
  readonly limit: number;
  readonly windowMs: number;
  /**
   * Amounts in the same slot of time are added up and leave the window together, one window after the slot's end. So
   * memory does not grow with the number of requests, and an amount counts for one slot longer at most. With 0, each
   * amount counts for exactly one window.
   */
  readonly slotMs: number;
}

export interface MemoryWindowOptions extends WindowOptions {
  /** If there are more clients, the longest idle ones are dropped, so a flood of addresses cannot fill memory. */
  readonly maxClients: number;
  readonly nowMs: () => number;
}

/** Counted amounts, oldest first: the start of each slot, and the amount in it. */
interface Spending {
  readonly startsMs: number[];
  readonly amounts: number[];
  total: number;
}

/** The window of a single process. */
export class MemoryWindow implements SlidingWindow {
  readonly #spendingOf: LRUCache<string, Spending>;

  constructor(private readonly options: MemoryWindowOptions) {
    this.#spendingOf = new LRUCache({
      max: options.maxClients,
      memoMethod: (): Spending => ({ startsMs: [], amounts: [], total: 0 }),
    });
  }

  spend(client: string, amount: number): WindowResult {
    const { limit, windowMs, slotMs } = this.options;
    const nowMs = this.options.nowMs();
    // The order matters: start + window may be rounded up to slightly more than the window.
    const leavesInMs = (startMs: number) => windowMs + slotMs - (nowMs - startMs);
    const spending = this.#spendingOf.memo(client);
    const { startsMs, amounts } = spending;
    const firstLive = startsMs.findIndex((startMs) => leavesInMs(startMs) > 0);
    const expired = firstLive < 0 ? startsMs.length : firstLive;
    startsMs.splice(0, expired);
    for (const spent of amounts.splice(0, expired)) spending.total -= spent;
    const free = limit - spending.total;
    if (finite(amount) > free) {
      // The amount fits after this many of the oldest amounts have left.
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
    if (finite(change) > 0) {
      add(spending, this.#slotAt(this.options.nowMs()), change);
      return;
    }
    const at = spending.startsMs.lastIndexOf(spentAtMs);
    // An amount outside of the window cannot be taken back.
    if (at < 0) return;
    spending.total += change;
    spending.amounts[at]! += change;
    if (spending.amounts[at] === 0) {
      spending.startsMs.splice(at, 1);
      spending.amounts.splice(at, 1);
    }
  }
}

/** Adds an amount to the newest slot, or appends a new slot. */
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
