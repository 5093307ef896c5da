import { LRUCache } from 'lru-cache';

/** What a client spends is summed up in as many parts of the window, so that neither its number of requests nor their pace costs memory. */
export const SLOTS = 60;

export interface SpendingReading {
  readonly allowed: boolean;
  /** What may be spent at this moment, after this spending. */
  readonly remaining: number;
  /** Where refused: until the same amount is allowed. Else until the oldest spending leaves the window. */
  readonly resetMs: number;
  /** Present if the amount was spent: takes back a part of it. */
  readonly giveBack?: (amount: number) => void | Promise<void>;
}

/** Sums up what clients spend; in memory, or shared between replicas. Amounts are whole numbers. */
export interface SpendingWindow {
  /**
   * Spends an amount if it is allowed; what is refused is not spent, so that waiting always helps.
   * @param amount at most the limit
   */
  spend(client: string, amount: number): SpendingReading | Promise<SpendingReading>;
}

export interface SpendingOptions {
  readonly limit: number;
  readonly windowMs: number;
  /** Beyond this, the clients idle longest are dropped: a flood of addresses cannot fill memory. */
  readonly maximumClients: number;
  readonly nowMs: () => number;
}

/**
 * What each client spent, by slots of time. A slot leaves as a whole, a window after its end: an amount counts for a
 * window at least, and for a slot longer at most.
 */
export class SpendingLog implements SpendingWindow {
  readonly #slotsOf: LRUCache<string, Map<number, number>>;

  constructor(private readonly options: SpendingOptions) {
    this.#slotsOf = new LRUCache({ max: options.maximumClients });
  }

  spend(client: string, amount: number): SpendingReading {
    const { limit, windowMs, nowMs } = this.options;
    const now = nowMs();
    const slotMs = windowMs / SLOTS;
    const leavesAtMs = (slot: number) => (slot + 1) * slotMs + windowMs;
    const slots = this.#slotsOf.get(client) ?? new Map<number, number>();
    this.#slotsOf.set(client, slots);
    // Oldest first, because a map keeps the order in which its keys came.
    for (const slot of slots.keys()) if (leavesAtMs(slot) <= now) slots.delete(slot);
    let free = limit;
    for (const spent of slots.values()) free -= spent;
    const remaining = free - amount;
    if (remaining < 0) {
      for (const [slot, spent] of slots) {
        free += spent;
        if (free >= amount)
          return { allowed: false, remaining: remaining + amount, resetMs: leavesAtMs(slot) - now };
      }
      return { allowed: false, remaining: remaining + amount, resetMs: windowMs };
    }
    const current = Math.floor(now / slotMs);
    slots.set(current, (slots.get(current) ?? 0) + amount);
    const [oldest] = slots.keys();
    return {
      allowed: true,
      remaining,
      resetMs: leavesAtMs(oldest!) - now,
      giveBack: (part) => {
        const left = (slots.get(current) ?? 0) - part;
        if (left > 0) slots.set(current, left);
        else slots.delete(current);
      },
    };
  }
}
