import type { FastifyReply } from 'fastify';
import { CodedError } from '../../errors.js';
import { sendWindow } from './run-limit.guard.js';
import type { SlidingWindow, WindowReading } from './sliding-window.js';

/** A charge that was made in advance. */
export interface Charge {
  /** Replaces what was charged by what it came to, in ms; to be called once. */
  readonly settle: NonNullable<WindowReading['settle']>;
}

/**
 * Budget of each client for any minute in brain seconds: simulated time, or more where experiments/plan/prices.ts says that
 * computing takes longer. Counted in whole milliseconds.
 */
export class BrainBudget {
  /**
   * @param perMinuteS 0 for no limit
   * @param window the sliding window that counts it, with the same limit
   */
  constructor(
    private readonly perMinuteS: number,
    private readonly window: SlidingWindow,
  ) {}

  /**
   * Charges work before it begins, and sets the headers that tell the client what is left.
   * @param brainMs price of what is known of the work
   * @throws CodedError RATE_LIMITED where the client has less than that left, TOO_EXPENSIVE where it never has so much
   */
  async charge(client: string, brainMs: number, reply: FastifyReply): Promise<Charge> {
    const { perMinuteS } = this;
    if (perMinuteS === 0) return { settle: () => undefined };
    const priceS = brainMs / 1000;
    if (priceS > perMinuteS) {
      throw new CodedError(
        'TOO_EXPENSIVE',
        `The experiment costs ${priceS} brain seconds: its trials, their inputs, edited connections or reports take more time ` +
          `than it simulates; at most ${perMinuteS} are allowed. With ${Math.floor((100 * perMinuteS) / priceS)} % of the trials, ` +
          'stimulated neurons, edited connections or groups of reports it would fit.',
        { path: '' },
      );
    }
    const { allowed, remaining, resetMs, settle } = await this.window.spend(client, brainMs);
    // Less than nothing is left where experiments took more than was estimated.
    const leftMs = Math.max(0, remaining);
    const resetS = sendWindow(reply, perMinuteS, Math.floor(leftMs / 1000), resetMs);
    if (allowed) return { settle: settle! };
    throw new CodedError(
      'RATE_LIMITED',
      `At most ${perMinuteS} brain seconds a minute are allowed for each client; this experiment needs ` +
        `${priceS} and ${leftMs / 1000} are left; try again in ${resetS} s.`,
      { path: '', retryAfterS: resetS },
    );
  }
}
