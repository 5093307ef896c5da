import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';

/** A limit that takes longer than this to ask is not worth waiting for. */
const ANSWER_WITHIN_MS = 250;
const CONNECT_WITHIN_MS = 2_000;
/** How often an unavailable Redis is retried. */
const RETRY_MS = 500;

export interface RedisLinkOptions {
  readonly url: string;
  /** Redis is unreachable or refuses commands. */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

/** Runs a script on one key. */
export type Script<Reply> = (key: string, ...args: readonly number[]) => Promise<Reply>;

/**
 * The connection to Redis that all limits share. A Redis that cannot count because it is full, read-only or denies us
 * access is treated as unavailable, and so for all of them until each can count again.
 */
export class RedisLink implements OnApplicationShutdown {
  readonly #redis: Redis;
  readonly #probes: (() => Promise<unknown>)[] = [];
  #isAway = false;
  #closed = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: RedisLinkOptions) {
    this.#redis = new Redis(options.url, {
      // Without a connection the decision is made here: the command must neither wait nor be sent later.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: ANSWER_WITHIN_MS,
      connectTimeout: CONNECT_WITHIN_MS,
      disconnectTimeout: ANSWER_WITHIN_MS,
      retryStrategy: () => RETRY_MS,
      // This was the master until a failover; only a new connection finds the new one.
      reconnectOnError: ({ message }) => message.includes('READONLY'),
    });
    this.#redis.on('error', (error: Error) => this.#leave(error));
    this.#redis.on('close', () => this.#leave(new Error('the connection was closed')));
  }

  /**
   * Makes a Lua script callable.
   * @param name unique among the scripts of this link
   */
  script<Reply>(name: string, lua: string): Script<Reply> {
    this.#redis.defineCommand(name, { numberOfKeys: 1, lua });
    const commands = this.#redis as unknown as Readonly<Record<string, Script<Reply>>>;
    return (key, ...args) => commands[name]!(key, ...args);
  }

  /**
   * Adds a condition for Redis to count as available again. A connection and a PING prove nothing: they also work when
   * Redis is full or read-only. Only counting does.
   */
  addProbe(probe: () => Promise<unknown>): void {
    this.#probes.push(probe);
  }

  /** Asks Redis, or decides here while Redis is unavailable. */
  async ask<T>(remote: () => Promise<T>, local: () => T | Promise<T>): Promise<T> {
    if (this.#isAway) return local();
    try {
      return await remote();
    } catch (error) {
      this.#leave(error as Error);
      return local();
    }
  }

  /** For what may fail: an entry that stays expires with its window, and the next count shows whether Redis is there. */
  async tell(command: (redis: Redis) => Promise<unknown>): Promise<void> {
    if (this.#isAway) return;
    await command(this.#redis).catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    this.#redis.disconnect();
  }

  #leave(error: Error): void {
    if (this.#isAway || this.#closed) return;
    this.#isAway = true;
    const { code = codeOf(error.message) } = error as NodeJS.ErrnoException;
    this.options.onAway(code);
    this.#probeLater();
  }

  #probeLater(): void {
    this.#retryTimer = setTimeout(() => void this.#probe(), RETRY_MS).unref();
  }

  async #probe(): Promise<void> {
    try {
      for (const probe of this.#probes) await probe();
    } catch {
      if (!this.#closed) this.#probeLater();
      return;
    }
    this.#isAway = false;
    this.options.onBack();
  }
}

/** The first word of a Redis error: it is public at /readyz, and the rest may name users. */
function codeOf(message: string): string {
  return /^(?!ERR )[A-Z]+(?= )/.exec(message)?.[0] ?? message;
}
