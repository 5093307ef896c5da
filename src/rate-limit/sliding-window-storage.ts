import type { ThrottlerStorage } from '@nestjs/throttler';
import type { SlidingWindow } from './sliding-window.js';

/** One counted run. Times are whole seconds, rounded up, as headers have them. */
export interface RunCount {
  /** Runs of the client within the window, this one included where it is allowed. */
  readonly totalHits: number;
  /** Until the oldest of them leaves the window. */
  readonly timeToExpire: number;
  readonly isBlocked: boolean;
  /** Until a run is allowed again. */
  readonly timeToBlockExpire: number;
  /** Present where the run is allowed: takes it out of the window again. */
  readonly giveBack?: () => void | Promise<void>;
}

/**
 * The throttler's storage: an exact sliding window, in memory or in Redis. Limit and length are those of the window;
 * the module that makes it tells the throttler the same ones. There is no block beyond the window, so that a client
 * that waits as long as it was told is served.
 */
export class SlidingWindowStorage implements ThrottlerStorage {
  constructor(private readonly window: SlidingWindow) {}

  async increment(client: string, _ttlMs: number, limit: number): Promise<RunCount> {
    const { allowed, remaining, resetMs, giveBack } = await this.window.count(client);
    const seconds = Math.max(1, Math.ceil(resetMs / 1000));
    return {
      totalHits: limit - remaining,
      timeToExpire: seconds,
      isBlocked: !allowed,
      timeToBlockExpire: allowed ? 0 : seconds,
      giveBack,
    };
  }
}
