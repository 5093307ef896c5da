import type { FastifyReply } from 'fastify';
import { CodedError } from '../../engine/errors.js';
import { REMAINING, sendWindow } from './run-limit.guard.js';
import type { SlidingWindow, WindowResult } from './sliding-window.js';
import { finite } from '../../engine/finite.js';

/** The account of published experiments. No client has this name, because clients are addresses. */
const EXAMPLES = 'examples';

/** A charge made in advance. */
export interface Charge {
  /** Replaces the charge by the real price, in ms. Call it once. */
  readonly settle: NonNullable<WindowResult['settle']>;
}

/** A charge for work whose price is not known yet. */
export interface Reservation extends Charge {
  /** Takes the charge back before the answer is sent, also from its headers. Call it in place of settle. */
  readonly release: () => Promise<void>;
}

const FREE: Charge = { settle: () => undefined };

/**
 * Budget of each client in brain seconds per minute: simulated time, or more if computing takes longer (see
 * experiments/plan/prices.ts). Counted in whole milliseconds.
 */
export class BrainBudget {
  /** Ids of published experiments, each of which was free once. */
  readonly #examplesBegun = new Set<string>();

  /**
   * @param perMinuteS 0 for no limit
   * @param window the sliding window that counts, with the same limit
   */
  constructor(
    private readonly perMinuteS: number,
    private readonly window: SlidingWindow,
  ) {}

  /**
   * Charges work whose price is not known yet; see charge.
   * @param brainMs the upper bound of its price; if it exceeds a minute's budget, that budget is charged
   */
  async reserve(client: string, brainMs: number, reply: FastifyReply, needs?: string): Promise<Reservation> {
    const reservedMs = Math.min(brainMs, 1000 * this.perMinuteS);
    const charge = await this.charge(client, reservedMs, reply, needs);
    const release = async () => {
      await charge.settle(0);
      const left = reply.getHeader(REMAINING);
      if (left !== undefined) reply.header(REMAINING, Number(left) + Math.floor(reservedMs / 1000));
    };
    return { ...charge, release };
  }

  /**
   * Charges a published experiment so that it costs its client nothing: the first time of each is free, and an account of
   * all clients pays for further ones. The account has the budget of one client. It bounds the time of those who ask for
   * every format and page of these experiments, or for answers that are no longer stored.
   * @param brainMs estimated price
   * @returns undefined if the account has less left, so the client has to pay
   */
  async chargeExample(id: string, brainMs: number): Promise<Charge | undefined> {
    const { perMinuteS } = this;
    const isFirst = !this.#examplesBegun.has(id);
    this.#examplesBegun.add(id);
    if (isFirst || perMinuteS === 0) return FREE;
    if (finite(brainMs) > 1000 * perMinuteS) return undefined;
    const { settle } = await this.window.spend(EXAMPLES, brainMs);
    return settle && chargeOf(settle);
  }

  /**
   * Does work of a known price, which costs nothing if it fails.
   * @param brainMs its price; if it exceeds a minute's budget, that budget is charged
   * @throws CodedError RATE_LIMITED if the client has less left
   */
  async paying<T>(client: string, brainMs: number, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    const { release } = await this.reserve(client, brainMs, reply);
    try {
      return await work();
    } catch (error) {
      await release();
      throw error;
    }
  }

  /**
   * Charges work before it begins, and sets the headers that tell the client its remaining budget.
   * @param brainMs estimated price
   * @param needs the words before the price in a refusal
   * @throws CodedError RATE_LIMITED if the client has less left; TOO_EXPENSIVE if it exceeds a minute's budget
   */
  async charge(
    client: string,
    brainMs: number,
    reply: FastifyReply,
    needs = 'this experiment needs',
  ): Promise<Charge> {
    const { perMinuteS } = this;
    if (perMinuteS === 0) return FREE;
    const priceS = finite(brainMs) / 1000;
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
    // Negative if experiments took more than estimated.
    const leftMs = Math.max(0, remaining);
    const resetS = sendWindow(reply, perMinuteS, Math.floor(leftMs / 1000), resetMs);
    if (allowed) return chargeOf(settle!);
    throw new CodedError(
      'RATE_LIMITED',
      `At most ${perMinuteS} brain seconds a minute are allowed for each client; ${needs} ` +
        `${priceS} and ${leftMs / 1000} are left; try again in ${resetS} s.`,
      { path: '', retryAfterS: resetS },
    );
  }
}

function chargeOf(settle: Charge['settle']): Charge {
  return { settle: (cameToMs) => settle(finite(cameToMs)) };
}
