import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { luaScript } from '../../lua-script.js';
import { FAILING_AT_ONCE, RedisPresence, type PresenceListener } from '../../redis-presence.js';

/** A limit that takes longer than this to ask is not worth waiting for. */
const ANSWER_WITHIN_MS = 250;

/** Runs a script on one key. */
export type Script<Reply> = (key: string, ...args: readonly number[]) => Promise<Reply>;

/**
 * The connection to Redis that all limits share. A Redis that cannot count because it is full, read-only or denies us
 * access is treated as unavailable, and so for all of them until each can count again.
 */
export class RedisLink implements OnApplicationShutdown {
  readonly #redis: Redis;
  readonly #probes: (() => Promise<unknown>)[] = [];
  readonly #presence: RedisPresence;

  constructor(url: string, listener: PresenceListener) {
    this.#redis = new Redis(url, {
      // Without a connection the decision is made here.
      ...FAILING_AT_ONCE,
      commandTimeout: ANSWER_WITHIN_MS,
      disconnectTimeout: ANSWER_WITHIN_MS,
    });
    this.#presence = new RedisPresence(async () => {
      for (const probe of this.#probes) await probe();
    }, listener);
    this.#redis.on('error', (error: Error) => this.#presence.leave(error));
    this.#redis.on('close', () => this.#presence.leave(new Error('the connection was closed')));
  }

  /** Makes the Lua script of a file in this folder callable. */
  script<Reply>(name: string): Script<Reply> {
    const file = new URL(`./${name}.lua`, import.meta.url);
    this.#redis.defineCommand(name, { numberOfKeys: 1, lua: luaScript(file) });
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
  async withFallback<T>(remote: () => Promise<T>, local: () => T | Promise<T>): Promise<T> {
    if (this.#presence.isAway) return local();
    try {
      return await remote();
    } catch (error) {
      this.#presence.leave(error as Error);
      return local();
    }
  }

  /** For what may fail: an entry that stays expires with its window, and the next count shows whether Redis is there. */
  async bestEffort(command: () => Promise<unknown>): Promise<void> {
    if (!this.#presence.isAway) await command().catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.#presence.close();
    this.#redis.disconnect();
  }
}
