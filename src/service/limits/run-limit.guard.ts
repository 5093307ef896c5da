import { Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest, type ThrottlerStorage } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, type ErrorCode } from '../../engine/errors.js';
import { clientOf } from './client-address.js';
import type { SlidingWindow, WindowResult } from './sliding-window.js';

/**
 * Codes of refusals before anything of a run was computed. A proxy or client soon sends such a run again; it would
 * count twice and be computed once.
 */
const NOT_BEGUN: readonly ErrorCode[] = ['MODEL_LOADING', 'MODEL_FAILED', 'QUEUE_FULL', 'DRAINING'];

export const REMAINING = 'ratelimit-remaining';
const windowResults = new WeakMap<FastifyRequest, WindowResult>();

/** The throttler's record of a run, with the result of our window. */
type RunRecord = Awaited<ReturnType<ThrottlerStorage['increment']>> & { readonly windowResult: WindowResult };

/**
 * Storage for Nest's throttler that counts in our window. The window defines limit and length, and no client is
 * blocked beyond it.
 */
export class RunStorage implements ThrottlerStorage {
  constructor(private readonly window: SlidingWindow) {}

  async increment(client: string, _ttlMs: number, limit: number): Promise<RunRecord> {
    const windowResult = await this.window.spend(client, 1);
    const resetS = wholeSeconds(windowResult.resetMs);
    return {
      totalHits: limit - windowResult.remaining,
      timeToExpire: resetS,
      isBlocked: !windowResult.allowed,
      timeToBlockExpire: resetS,
      windowResult,
    };
  }
}

/**
 * Counts the runs of each client. A guard runs after the body was parsed and before its fields are checked. So a body
 * that is not JSON does not count; one with a wrong field does.
 */
@Injectable()
export class RunLimitGuard extends ThrottlerGuard {
  /**
   * Differs from the base class: a 429 answer has the headers too, and the result is stored for giveBackUnlessBegun.
   */
  protected override async handleRequest(run: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, blockDuration, throttler } = run;
    const { req, res } = this.getRequestResponse(context) as { req: FastifyRequest; res: FastifyReply };
    const client = clientOf(req);
    const record = await this.storageService.increment(client, ttl, limit, blockDuration, throttler.name!);
    const { windowResult } = record as RunRecord;
    windowResults.set(req, windowResult);
    const retryAfterS = sendWindow(res, limit, windowResult.remaining, windowResult.resetMs);
    if (windowResult.allowed) return true;
    throw new CodedError(
      'RATE_LIMITED',
      `At most ${limit} runs a minute are allowed for each client; try again in ${retryAfterS} s.`,
      { retryAfterS },
    );
  }
}

/**
 * Takes back the count of a run that was refused before it began. Await this before the answer is sent, so that a
 * retry is not refused. Then as many runs pass as without the refusal, even if many arrive at once.
 */
export async function giveBackUnlessBegun(error: unknown, reply: FastifyReply): Promise<void> {
  const settle = windowResults.get(reply.request)?.settle;
  if (settle === undefined || !(error instanceof CodedError && NOT_BEGUN.includes(error.code))) return;
  await settle(0);
  reply.header(REMAINING, Number(reply.getHeader(REMAINING)) + 1);
}

/**
 * Sets the headers that tell a client its remaining runs or seconds.
 * @returns the seconds until there are more
 */
export function sendWindow(reply: FastifyReply, limit: number, remaining: number, resetMs: number): number {
  const resetS = wholeSeconds(resetMs);
  reply.headers({ 'ratelimit-limit': limit, [REMAINING]: remaining, 'ratelimit-reset': resetS });
  return resetS;
}

/** Rounds up to whole seconds for a header, at least 1. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
