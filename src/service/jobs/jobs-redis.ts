import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { CodedError } from '../../engine/errors.js';
import { refuseCluster } from '../redis/cluster.js';
import { luaScript } from '../redis/lua-script.js';
import {
  codeOf,
  FAILING_AT_ONCE,
  RECONNECTING,
  RedisPresence,
  type PresenceListener,
} from '../redis/redis-presence.js';
import { withTimeout } from '../../workers/pool/with-timeout.js';

/** After this wait a request is answered that jobs are unavailable. */
const ANSWER_WITHIN_MS = 2_000;
const DISCONNECT_WITHIN_MS = 500;
/**
 * After this silence a connection is replaced: a network may drop it without telling either end. A worker of BullMQ
 * waits up to 10 s for a chunk, and its connection is silent meanwhile.
 */
const SILENT_FOR_MS = { prompt: 5_000, patient: 20_000 };
const RETRY_AFTER_S = 5;
/** Longer than for an outage: a full Redis has room only after jobs have expired or ended. */
const RETRY_WHEN_FULL_AFTER_S = 60;
/** Interval of checks that Redis accepts writes. */
const PROBE_EVERY_MS = 5_000;
const log = new Logger('jobs');
/** The only safe eviction policy: any other lets a full Redis drop jobs. */
const KEEPING_POLICY = 'noeviction';
/** Key of the write check; it expires soon. */
const PROBE_KEY = 'nes:jobs:probe';
const PROBE_KEPT_MS = 1_000;
/** Key on which the commands of jobs are tried. */
const COMMANDS_KEY = 'nes:jobs:commands';
const DENIED_COMMANDS = luaScript(new URL('./lua/denied-commands.lua', import.meta.url));
/** Error code of every write to a Redis that has reached maxmemory and evicts nothing. */
export const FULL = 'OOM';
/** Codes of writes that Redis refuses until something changes: it is full, is not the master, or cannot save. */
const REFUSALS: readonly (string | undefined)[] = [FULL, 'READONLY', 'MISCONF', 'NOREPLICAS'];

/** The error for clients if the store does not answer, is full or is read-only. */
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

/** True if Redis refused a write that it may accept later. */
export function isRefusedWrite(error: unknown): boolean {
  return error instanceof Error && REFUSALS.includes(codeOf(error));
}

/** True if Redis or the connection to it failed. */
export function isOfRedis(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ReplyError|AbortError|MaxRetriesPerRequestError)$/.test(error.name) ||
    /^Connection is closed/.test(error.message)
  );
}

/** True if a record is damaged: its content was not written by this service. */
export function isDamaged(error: unknown): boolean {
  return error instanceof SyntaxError || (error instanceof Error && codeOf(error) === 'WRONGTYPE');
}

export interface JobsListener extends PresenceListener {
  /**
   * Called after each connection.
   * @param evicting the policy under which Redis may drop jobs; undefined if it never does
   */
  readonly onPolicy: (evicting: string | undefined) => void;
  /**
   * Called after each connection.
   * @param commands those that jobs need and the user of Redis may not run
   */
  readonly onDenied: (commands: readonly string[]) => void;
}

/** The connections to the Redis of jobs. */
export class JobsRedis {
  /** For requests: fails at once while Redis is unavailable. */
  readonly prompt: Redis;
  /** For computing: waits until Redis is available. */
  readonly patient: Redis;
  readonly #presence: RedisPresence;

  constructor(
    private readonly url: string,
    listener: JobsListener,
    private readonly silentForMs = SILENT_FOR_MS,
  ) {
    this.prompt = new Redis(url, {
      ...FAILING_AT_ONCE,
      commandTimeout: ANSWER_WITHIN_MS,
      disconnectTimeout: DISCONNECT_WITHIN_MS,
      socketTimeout: silentForMs.prompt,
    });
    // Checks with a write, because a full or read-only Redis still answers PING.
    const probe = async () => {
      await refuseCluster(this.prompt);
      await this.prompt.set(PROBE_KEY, '', 'PX', PROBE_KEPT_MS);
    };
    this.#presence = new RedisPresence(probe, listener, PROBE_EVERY_MS);
    this.prompt.on('error', (error: Error) => this.#presence.leave(error));
    this.prompt.on('close', () => this.#presence.leave(new Error('the connection was closed')));
    this.patient = this.connect();
    // Check again after a failover, because another Redis may have another policy.
    this.prompt.on('ready', () => {
      void this.#checkPolicy(listener);
      void this.#checkCommands(listener);
    });
  }

  async #checkCommands({ onDenied }: JobsListener): Promise<void> {
    try {
      await refuseCluster(this.prompt);
      onDenied((await this.prompt.eval(DENIED_COMMANDS, 1, COMMANDS_KEY, PROBE_KEPT_MS)) as string[]);
    } catch (error) {
      if (codeOf(error as Error) === 'NOPERM') onDenied(['EVAL']);
      else this.#presence.leave(error as Error);
    }
  }

  async #checkPolicy({ onPolicy }: JobsListener): Promise<void> {
    // If Redis does not tell, assume the right policy: some hosted services hide it.
    const facts = await this.prompt.info('memory').catch(() => '');
    const policy = /^maxmemory_policy:(.+?)\r?$/m.exec(facts)?.[1] ?? KEEPING_POLICY;
    onPolicy(policy === KEEPING_POLICY ? undefined : policy);
  }

  /** A new connection that waits until Redis is available; the caller must close it. */
  connect(): Redis {
    const redis = new Redis(this.url, {
      ...RECONNECTING,
      maxRetriesPerRequest: null,
      disconnectTimeout: DISCONNECT_WITHIN_MS,
      socketTimeout: this.silentForMs.patient,
    });
    // The other connection reports errors.
    redis.on('error', () => undefined);
    return redis;
  }

  /**
   * Runs a request and turns failures of Redis into an error for clients.
   * @throws CodedError of the function, or JOBS_UNAVAILABLE
   */
  readonly reach = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await withTimeout(ANSWER_WITHIN_MS, ask(), () => {
        throw new Error('no answer');
      });
    } catch (cause) {
      if (cause instanceof CodedError) throw cause;
      if (isDamaged(cause)) {
        // Logs only the name, because the message may quote the record.
        log.warn(`The record of a job cannot be read: ${(cause as Error).name}`);
        const message = 'The job has no results: its record in the store of jobs is damaged. Begin it again.';
        throw new CodedError('NOT_FOUND', message, { cause });
      }
      // A TypeError is a bug, not a failure of Redis.
      if (cause instanceof TypeError) throw cause;
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
