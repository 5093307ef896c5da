import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../errors.js';
import { clientOf } from './client-address.js';
import { isRehearsal } from './rehearsal.js';
import type { SlidingWindow } from './sliding-window.js';

export const RATE_WINDOW_MS = 60_000;

/** Set on a route by @RouteConfig(RATE_LIMITED); what is sent there counts, whatever becomes of it. */
export const RATE_LIMITED = { rateLimited: true } as const;

/**
 * Counts a request before anything of it is read: a body that is broken, too large or of the wrong type counts
 * like any other.
 * @throws CodedError RATE_LIMITED, with Retry-After already set
 */
export async function limitRate(
  window: SlidingWindow,
  limit: number,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { rateLimited } = request.routeOptions.config as { rateLimited?: boolean };
  if (rateLimited !== true || limit === 0 || isRehearsal(request)) return;
  const { allowed, remaining, resetMs } = await window.count(clientOf(request));
  const resetS = Math.max(1, Math.ceil(resetMs / 1000));
  reply.header('ratelimit-limit', limit);
  reply.header('ratelimit-remaining', remaining);
  reply.header('ratelimit-reset', resetS);
  if (!allowed) {
    reply.header('retry-after', resetS);
    throw new CodedError(
      'RATE_LIMITED',
      `At most ${limit} runs a minute are allowed for each client; try again in ${resetS} s.`,
    );
  }
}
