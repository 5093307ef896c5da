import type { FastifyReply } from 'fastify';
import { Environment } from '../config/environment.js';
import { CodedError } from '../errors.js';
import type { SpendingWindow } from './spending-window.js';

const LIMIT = 'ratelimit-limit';
const REMAINING = 'ratelimit-remaining';
const RESET = 'ratelimit-reset';

/** What an experiment was charged. */
export interface Charge {
  /** Takes back what was not simulated, in ms. */
  giveBack(brainMs: number): Promise<void>;
}

const FREE: Charge = { giveBack: async () => undefined };

/** The brain time that each client may have simulated in any minute. Counted in whole milliseconds. */
export class BrainBudget {
  readonly #perMinuteS: number;

  constructor(
    { EXPERIMENT_BRAIN_SECONDS_PER_MINUTE }: Environment,
    private readonly window: SpendingWindow,
  ) {
    this.#perMinuteS = EXPERIMENT_BRAIN_SECONDS_PER_MINUTE;
  }

  /**
   * Charges an experiment before it begins, and sets the headers that tell the client what is left.
   * @param brainMs conditions x trials x duration, at most a minute's budget
   * @throws CodedError RATE_LIMITED where the client has less than that left
   */
  async charge(client: string, brainMs: number, reply: FastifyReply): Promise<Charge> {
    if (this.#perMinuteS === 0) return FREE;
    const { allowed, remaining, resetMs, giveBack } = await this.window.spend(client, brainMs);
    const resetS = Math.max(1, Math.ceil(resetMs / 1000));
    reply.header(LIMIT, this.#perMinuteS);
    reply.header(REMAINING, Math.floor(remaining / 1000));
    reply.header(RESET, resetS);
    if (!allowed) {
      throw new CodedError(
        'RATE_LIMITED',
        `At most ${this.#perMinuteS} brain seconds a minute are allowed for each client; this experiment needs ` +
          `${brainMs / 1000} and ${remaining / 1000} are left; try again in ${resetS} s.`,
        { path: '', retryAfterS: resetS },
      );
    }
    return { giveBack: async (part) => void (part > 0 && (await giveBack!(part))) };
  }
}
