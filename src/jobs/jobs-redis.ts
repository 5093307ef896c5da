import { Redis } from 'ioredis';
import { CodedError } from '../errors.js';
import {
  codeOf,
  FAILING_AT_ONCE,
  RECONNECTING,
  RedisPresence,
  type PresenceListener,
} from '../redis-presence.js';
import { withTimeout } from '../with-timeout.js';

/** A request that waits longer is answered that jobs cannot be reached. */
const ANSWER_WITHIN_MS = 2_000;
const DISCONNECT_WITHIN_MS = 500;
const RETRY_AFTER_S = 5;
/** Room comes when jobs expire or are ended, which takes longer than Redis takes to come back. */
const RETRY_WHEN_FULL_AFTER_S = 60;
/** How often it is made sure that Redis takes writes. */
const PROBE_EVERY_MS = 5_000;
/** Expires soon. */
const PROBE_KEY = 'nes:jobs:probe';
const PROBE_KEPT_MS = 1_000;
/** Answer of a Redis that has reached its maxmemory and evicts nothing, to every write. */
export const FULL = 'OOM';
/** The writes that Redis refuses until something changes: full, not the master, its file cannot be written. */
const REFUSALS: readonly (string | undefined)[] = [FULL, 'READONLY', 'MISCONF', 'NOREPLICAS'];

/** Error for clients of a store that does not answer, or that refuses because it is full or read-only. */
export function jobsUnavailable(cause: unknown): CodedError {
  if (cause instanceof Error && codeOf(cause) === FULL) {
    return new CodedError(
      'JOBS_UNAVAILABLE',
      'The store of jobs is full: there is room when jobs have expired or were ended; try again later.',
      { cause, retryAfterS: RETRY_WHEN_FULL_AFTER_S },
    );
  }
  return new CodedError('JOBS_UNAVAILABLE', 'Jobs cannot be reached at present; try again in a moment.', {
    cause,
    retryAfterS: RETRY_AFTER_S,
  });
}

/** Tells whether Redis refused a write that it will take later. */
export function isRefusedWrite(error: unknown): boolean {
  return error instanceof Error && REFUSALS.includes(codeOf(error));
}

/** Tells whether Redis, or the connection to it, is what failed. */
export function isOfRedis(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ReplyError|AbortError|MaxRetriesPerRequestError)$/.test(error.name) ||
    /^Connection is closed/.test(error.message)
  );
}

/** The connections to the Redis of jobs. */
export class JobsRedis {
  /** For requests, which are told at once that Redis is away. */
  readonly prompt: Redis;
  /** For computing, which waits until Redis is back. */
  readonly patient: Redis;
  readonly #presence: RedisPresence;

  constructor(
    private readonly url: string,
    listener: PresenceListener,
  ) {
    this.prompt = new Redis(url, {
      ...FAILING_AT_ONCE,
      commandTimeout: ANSWER_WITHIN_MS,
      disconnectTimeout: DISCONNECT_WITHIN_MS,
    });
    // A Redis that is full or read-only answers a PING.
    const probe = () => this.prompt.set(PROBE_KEY, '', 'PX', PROBE_KEPT_MS);
    this.#presence = new RedisPresence(probe, listener, PROBE_EVERY_MS);
    this.prompt.on('error', (error: Error) => this.#presence.leave(error));
    this.prompt.on('close', () => this.#presence.leave(new Error('the connection was closed')));
    this.patient = this.connect();
  }

  /** A connection of its own, which waits until Redis is back; its user ends it. */
  connect(): Redis {
    const redis = new Redis(this.url, {
      ...RECONNECTING,
      maxRetriesPerRequest: null,
      disconnectTimeout: DISCONNECT_WITHIN_MS,
    });
    // The other connection says it.
    redis.on('error', () => undefined);
    return redis;
  }

  /** @throws CodedError that of the function, or JOBS_UNAVAILABLE */
  readonly reach = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await withTimeout(ANSWER_WITHIN_MS, ask(), () => {
        throw new Error('no answer');
      });
    } catch (cause) {
      if (cause instanceof CodedError) throw cause;
      this.#presence.leave(cause as Error);
      throw jobsUnavailable(cause);
    }
  };

  close(): void {
    this.#presence.close();
    this.prompt.disconnect();
    this.patient.disconnect();
  }
}
