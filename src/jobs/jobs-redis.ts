import { Redis, type RedisOptions } from 'ioredis';
import { CodedError } from '../errors.js';
import { within } from '../within.js';

/** A request that waits longer is answered that jobs cannot be reached. */
const ANSWER_WITHIN_MS = 2_000;
const CONNECT_WITHIN_MS = 2_000;
/** How often an unavailable Redis is retried. */
const RETRY_MS = 500;
const RETRY_AFTER_S = 5;

const RECONNECTING: RedisOptions = {
  connectTimeout: CONNECT_WITHIN_MS,
  disconnectTimeout: RETRY_MS,
  retryStrategy: () => RETRY_MS,
  // This was the master until a failover; only a new connection finds the new one.
  reconnectOnError: ({ message }) => message.includes('READONLY'),
};

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

export interface JobsRedisOptions {
  readonly url: string;
  /** Redis is unreachable or refuses commands. */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

/** The connections to the Redis of jobs. */
export class JobsRedis {
  /** For requests, which are told at once that Redis is away. */
  readonly prompt: Redis;
  /** For computing, which waits until Redis is back. */
  readonly patient: Redis;
  #isAway = false;
  #isClosed = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: JobsRedisOptions) {
    this.prompt = new Redis(options.url, {
      ...RECONNECTING,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: ANSWER_WITHIN_MS,
    });
    this.prompt.on('error', (error: Error) => this.#leave(error));
    this.prompt.on('close', () => this.#leave(new Error('the connection was closed')));
    this.patient = this.connect();
  }

  /** A connection of its own, which waits until Redis is back; its user ends it. */
  connect(): Redis {
    const redis = new Redis(this.options.url, { ...RECONNECTING, maxRetriesPerRequest: null });
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
      this.#leave(cause as Error);
      throw jobsUnavailable(cause);
    }
  };

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.prompt.disconnect();
    this.patient.disconnect();
  }

  #leave({ message }: Error): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    this.options.onAway(message);
    this.#probeLater();
  }

  #probeLater(): void {
    this.#retryTimer = setTimeout(() => void this.#probe(), RETRY_MS).unref();
  }

  async #probe(): Promise<void> {
    try {
      await this.prompt.ping();
    } catch {
      if (!this.#isClosed) this.#probeLater();
      return;
    }
    this.#isAway = false;
    this.options.onBack();
  }
}
