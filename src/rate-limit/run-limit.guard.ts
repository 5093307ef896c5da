import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, type ErrorCode } from '../errors.js';
import { clientOf } from '../http/client-address.js';
import { isWarmUp } from '../http/warm-up.js';
import type { RunCount } from './sliding-window-storage.js';

/**
 * The service refused the run before anything of it was computed. A proxy sends it to the next replica at once and
 * a client sends it again soon, so it would count twice and be computed once.
 */
const NOT_BEGUN: readonly ErrorCode[] = ['MODEL_LOADING', 'MODEL_FAILED', 'QUEUE_FULL', 'DRAINING'];

const REMAINING = 'ratelimit-remaining';
const counts = new WeakMap<FastifyRequest, RunCount>();

/**
 * Counts the runs of each client. A guard comes after the body was read and before its fields are looked at: a body
 * that is not JSON does not count, a field with a wrong value does.
 */
@Injectable()
export class RunLimitGuard extends ThrottlerGuard {
  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    return isWarmUp(context.switchToHttp().getRequest<FastifyRequest>());
  }

  protected override async getTracker(request: Record<string, unknown>): Promise<string> {
    return clientOf(request as unknown as FastifyRequest);
  }

  /** There is one limit, so the client alone is the key; replicas find it under this name in Redis. */
  protected override generateKey(_context: ExecutionContext, client: string): string {
    return client;
  }

  /**
   * As in the base class, but with the headers of every answer on 429 as well, and with the count kept for
   * giveBackUnlessBegun.
   */
  protected override async handleRequest(run: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, blockDuration, throttler, getTracker, generateKey } = run;
    const { req, res } = this.getRequestResponse(context) as { req: FastifyRequest; res: FastifyReply };
    const tracker = await getTracker(req, context);
    const key = generateKey(context, tracker, throttler.name!);
    const count: RunCount = await this.storageService.increment(
      key,
      ttl,
      limit,
      blockDuration,
      throttler.name!,
    );
    counts.set(req, count);
    res.header('ratelimit-limit', limit);
    res.header(REMAINING, limit - count.totalHits);
    res.header('ratelimit-reset', count.timeToExpire);
    if (count.isBlocked) {
      res.header('retry-after', count.timeToBlockExpire);
      await this.throwThrottlingException(context, { limit, ttl, key, tracker, ...count });
    }
    return true;
  }

  protected override throwThrottlingException(
    _context: ExecutionContext,
    { limit, timeToBlockExpire }: ThrottlerLimitDetail,
  ): Promise<never> {
    throw new CodedError(
      'RATE_LIMITED',
      `At most ${limit} runs a minute are allowed for each client; try again in ${timeToBlockExpire} s.`,
    );
  }
}

/**
 * Await this before the answer is sent, so that a retry finds the place free. Then as many runs pass in total as
 * without the refusal, however many arrive at once.
 */
export async function giveBackUnlessBegun(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const giveBack = counts.get(request)?.giveBack;
  if (giveBack === undefined) return;
  if (!(error instanceof CodedError && NOT_BEGUN.includes(error.code))) return;
  await giveBack();
  reply.header(REMAINING, Number(reply.getHeader(REMAINING)) + 1);
}
