import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, type ErrorCode } from '../errors.js';
import { clientOf } from './client-address.js';
import { isWarmUp } from './warm-up.js';
import type { SlidingWindow, WindowReading } from './sliding-window.js';

export const RATE_WINDOW_MS = 60_000;

/** Set on a route by @RouteConfig(RATE_LIMITED); what is sent there counts, whatever becomes of it but NOT_BEGUN. */
export const RATE_LIMITED = { rateLimited: true } as const;

/**
 * The service refused the run before anything of it was computed. A proxy sends it to the next replica at once and
 * a client sends it again soon, so it would count twice and be computed once.
 */
const NOT_BEGUN: readonly ErrorCode[] = ['MODEL_LOADING', 'MODEL_FAILED', 'QUEUE_FULL', 'DRAINING'];

const readings = new WeakMap<FastifyRequest, WindowReading>();

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
  if (rateLimited !== true || limit === 0 || isWarmUp(request)) return;
  const reading = await window.count(clientOf(request));
  readings.set(request, reading);
  const { allowed, remaining, resetMs } = reading;
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

/**
 * To be awaited before the answer leaves: whoever asks again must find the place free. Then as many runs pass in all
 * as without the refusal, however many come at once.
 */
export async function giveBackUnlessBegun(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const reading = readings.get(request);
  if (reading?.giveBack === undefined) return;
  if (!(error instanceof CodedError && NOT_BEGUN.includes(error.code))) return;
  await reading.giveBack();
  reply.header('ratelimit-remaining', reading.remaining + 1);
}
