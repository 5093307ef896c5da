import { LRUCache } from 'lru-cache';

export interface WindowReading {
  readonly allowed: boolean;
  /** Events that are allowed at this moment. */
  readonly remaining: number;
  /** Until the oldest that is counted leaves the window, and one more may come. */
  readonly resetMs: number;
  /** Present if the event was counted: removes it again. */
  readonly giveBack?: () => void | Promise<void>;
}

/** Counts what clients do; in memory, or shared between replicas. */
export interface SlidingWindow {
  /** Counts an event if it is allowed; refused events do not count, so that waiting always helps. */
  count(client: string): WindowReading | Promise<WindowReading>;
}

/** Clients that are remembered at once: some 20 MB of addresses where a flood of them fills it. */
export const MAXIMUM_CLIENTS = 50_000;

export interface WindowOptions {
  readonly limit: number;
  readonly windowMs: number;
  /** Beyond this, the clients idle longest are dropped: a flood of addresses cannot fill memory. */
  readonly maximumClients: number;
  readonly nowMs: () => number;
}

/** An exact sliding log: the moments of the last `limit` events of each client. */
export class SlidingLog implements SlidingWindow {
  readonly #momentsOf: LRUCache<string, number[]>;

  constructor(private readonly options: WindowOptions) {
    this.#momentsOf = new LRUCache({ max: options.maximumClients });
  }

  get clients(): number {
    return this.#momentsOf.size;
  }

  count(client: string): WindowReading {
    const { limit, windowMs, nowMs } = this.options;
    const now = nowMs();
    const moments = this.#momentsOf.get(client) ?? [];
    // Oldest first, so those that have left the window are at the front.
    const live = moments.findIndex((moment) => moment > now - windowMs);
    moments.splice(0, live < 0 ? moments.length : live);
    const allowed = moments.length < limit;
    if (allowed) moments.push(now);
    this.#momentsOf.set(client, moments);
    // In this order, since the sum of a moment and the window may be rounded up to a little more than the window.
    const resetMs = windowMs - (now - moments[0]!);
    const reading = { allowed, remaining: limit - moments.length, resetMs };
    return allowed ? { ...reading, giveBack: () => remove(moments, now) } : reading;
  }
}

/** Equal ones are as good as each other. */
function remove(moments: number[], moment: number): void {
  const at = moments.lastIndexOf(moment);
  if (at >= 0) moments.splice(at, 1);
}
