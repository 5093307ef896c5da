import { Redis } from 'ioredis';
import { CodedError } from '../errors.js';
import {
  FAILING_AT_ONCE,
  RECONNECTING,
  RedisPresence,
  type PresenceListener,
} from '../redis/redis-presence.js';
import { within } from '../within.js';

/** A request that waits longer is answered that jobs cannot be reached. */
const ANSWER_WITHIN_MS = 2_000;
const DISCONNECT_WITHIN_MS = 500;
const RETRY_AFTER_S = 5;

/** What clients are told of a store that does not answer, or that refuses because it is full or read-only. */
export function jobsUnavailable(cause: unknown): CodedError {
  return new CodedError('JOBS_UNAVAILABLE', 'Jobs cannot be reached at present; try again in a moment.', {
    cause,
    retryAfterS: RETRY_AFTER_S,
  });
}

/** Whether Redis, or the connection to it, is what failed. */
export function isOfRedis(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ReplyError|AbortError|MaxRetriesPerRequestError)$/.test(error.name) ||
    /^Connection is closed/.test(error.message)
  );
}

export interface JobsRedisOptions extends PresenceListener {
  readonly url: string;
}

/** The connections to the Redis of jobs. */
export class JobsRedis {
  /** For requests, which are told at once that Redis is away. */
  readonly prompt: Redis;
  /** For computing, which waits until Redis is back. */
  readonly patient: Redis;
  readonly #presence: RedisPresence;

  constructor(private readonly options: JobsRedisOptions) {
    this.prompt = new Redis(options.url, {
      ...FAILING_AT_ONCE,
      commandTimeout: ANSWER_WITHIN_MS,
      disconnectTimeout: DISCONNECT_WITHIN_MS,
    });
    this.#presence = new RedisPresence(() => this.prompt.ping(), options);
    this.prompt.on('error', (error: Error) => this.#presence.leave(error));
    this.prompt.on('close', () => this.#presence.leave(new Error('the connection was closed')));
    this.patient = this.connect();
  }

  /** A connection of its own, which waits until Redis is back; its user ends it. */
  connect(): Redis {
    const redis = new Redis(this.options.url, {
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
      return await within(ANSWER_WITHIN_MS, ask(), () => {
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
