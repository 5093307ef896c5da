import type { RedisLink, Script } from './redis-link.js';
import type { SlidingWindow, WindowOptions, WindowResult } from './sliding-window.js';
import { finite } from '../../engine/finite.js';

/**
 * No client has this name, because clients are addresses. The key has their prefix, so that access rules treat it
 * alike.
 */
const PROBE = 'probe';
/** Window of a probe: never refused, and its key expires soon. */
const PROBE_WINDOW = { limit: 1_000_000, windowMs: 60, slotMs: 1 };

export interface RedisWindowOptions extends WindowOptions {
  readonly link: RedisLink;
  /** Selects the scripts spend-KIND.lua and settle-KIND.lua and the prefix of the keys, nes:KIND: */
  readonly kind: 'runs' | 'brain';
  /** Decides while Redis is unavailable. Before that it records everything spent in this process. */
  readonly local: SlidingWindow;
}

/** One window for all replicas, in Redis. While Redis is unavailable, each replica uses its local one. */
export class RedisWindow implements SlidingWindow {
  readonly #spend: Script<[allowed: number, remaining: number, resetMs: number, slot: number]>;
  readonly #settle: Script<number>;

  constructor(private readonly options: RedisWindowOptions) {
    const { link, kind } = options;
    this.#spend = link.script(`spend-${kind}`);
    this.#settle = link.script(`settle-${kind}`);
    const { limit, windowMs, slotMs } = PROBE_WINDOW;
    link.addProbe(() => this.#spend(this.#keyOf(PROBE), limit, windowMs, slotMs, 1));
  }

  spend(client: string, amount: number): Promise<WindowResult> {
    const { link, local } = this.options;
    // Redis would refuse a value that is not finite, and would then count as unavailable for all clients.
    finite(amount);
    return link.withFallback(
      () => this.#spendInRedis(client, amount),
      () => local.spend(client, amount),
    );
  }

  async #spendInRedis(client: string, amount: number): Promise<WindowResult> {
    const { link, limit, windowMs, slotMs, local } = this.options;
    const key = this.#keyOf(client);
    const [allowed, remaining, resetMs, slot] = await this.#spend(key, limit, windowMs, slotMs, amount);
    if (allowed !== 1) return { allowed: false, remaining, resetMs };
    const here = await local.spend(client, amount);
    const settle = async (cameTo: number) => {
      await here.settle?.(cameTo);
      if (cameTo === amount) return;
      await link.bestEffort(() => this.#settle(key, slot, cameTo - amount, windowMs, slotMs));
    };
    return { allowed: true, remaining, resetMs, settle };
  }

  #keyOf(client: string): string {
    return `nes:${this.options.kind}:${client}`;
  }
}
