import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest, type ThrottlerStorage } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, type ErrorCode } from '../../errors.js';
import { clientOf, isWarmUp } from './client-address.js';
import type { SlidingWindow, WindowReading } from './sliding-window.js';

/**
 * The service refused the run before anything of it was computed. A proxy sends it to the next replica at once and
 * a client sends it again soon, so it would count twice and be computed once.
 */
const NOT_BEGUN: readonly ErrorCode[] = ['MODEL_LOADING', 'MODEL_FAILED', 'QUEUE_FULL', 'DRAINING'];

const REMAINING = 'ratelimit-remaining';
const readings = new WeakMap<FastifyRequest, WindowReading>();

/** The throttler's record of a run, and ours. */
type RunRecord = Awaited<ReturnType<ThrottlerStorage['increment']>> & { readonly reading: WindowReading };

/** The throttler's storage. Limit and length are those of the window, and nothing is blocked beyond it. */
export class RunStorage implements ThrottlerStorage {
  constructor(private readonly window: SlidingWindow) {}

  async increment(client: string, _ttlMs: number, limit: number): Promise<RunRecord> {
    const reading = await this.window.spend(client, 1);
    const resetS = wholeSeconds(reading.resetMs);
    return {
      totalHits: limit - reading.remaining,
      timeToExpire: resetS,
      isBlocked: !reading.allowed,
      timeToBlockExpire: resetS,
      reading,
    };
  }
}

/**
 * Counts the runs of each client. A guard comes after the body was read and before its fields are looked at: a body
 * that is not JSON does not count, a field with a wrong value does.
 */
@Injectable()
export class RunLimitGuard extends ThrottlerGuard {
  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    return isWarmUp(context.switchToHttp().getRequest<FastifyRequest>());
  }

  /** Unlike the base class: the headers of every answer on 429 as well, and the reading kept for giveBackUnlessBegun. */
  protected override async handleRequest(run: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, blockDuration, throttler } = run;
    const { req, res } = this.getRequestResponse(context) as { req: FastifyRequest; res: FastifyReply };
    const client = clientOf(req);
    const record = await this.storageService.increment(client, ttl, limit, blockDuration, throttler.name!);
    const { reading } = record as RunRecord;
    readings.set(req, reading);
    const retryAfterS = sendWindow(res, limit, reading.remaining, reading.resetMs);
    if (reading.allowed) return true;
    throw new CodedError(
      'RATE_LIMITED',
      `At most ${limit} runs a minute are allowed for each client; try again in ${retryAfterS} s.`,
      { retryAfterS },
    );
  }
}

/**
 * Takes back the count of a run that was refused before it began. Await this before the answer is sent, so that a retry
 * finds the place free: then as many runs pass in total as without the refusal, however many arrive at once.
 */
export async function giveBackUnlessBegun(error: unknown, reply: FastifyReply): Promise<void> {
  const settle = readings.get(reply.request)?.settle;
  if (settle === undefined || !(error instanceof CodedError && NOT_BEGUN.includes(error.code))) return;
  await settle(0);
  reply.header(REMAINING, Number(reply.getHeader(REMAINING)) + 1);
}

/**
 * Sets the headers that tell a client what is left to it.
 * @returns the seconds until there is more
 */
export function sendWindow(reply: FastifyReply, limit: number, remaining: number, resetMs: number): number {
  const resetS = wholeSeconds(resetMs);
  reply.headers({ 'ratelimit-limit': limit, [REMAINING]: remaining, 'ratelimit-reset': resetS });
  return resetS;
}

/** As headers have them: at least one, rounded up. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
