import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { refuseCluster } from '../redis/cluster.js';
import { luaScript } from '../redis/lua-script.js';
import { FAILING_AT_ONCE, RedisPresence, type PresenceListener } from '../redis/redis-presence.js';

/** A request shall not wait longer than this for its limit. */
const ANSWER_WITHIN_MS = 250;
/** After this silence the connection is replaced: a network may drop it without telling either end. */
const SILENT_FOR_MS = 1_000;

/** Calls a Lua script on one key. */
export type Script<Reply> = (key: string, ...args: readonly number[]) => Promise<Reply>;

/**
 * The connection to Redis that all limits share. A Redis counts as unavailable also if it cannot count because it is
 * full, read-only or denies access. It then stays unavailable for all limits until each can count again.
 */
export class RedisLink implements OnApplicationShutdown {
  readonly #redis: Redis;
  readonly #probes: (() => Promise<unknown>)[] = [];
  readonly #presence: RedisPresence;

  constructor(url: string, listener: PresenceListener) {
    this.#redis = new Redis(url, {
      // Without a connection, this process decides itself.
      ...FAILING_AT_ONCE,
      commandTimeout: ANSWER_WITHIN_MS,
      disconnectTimeout: ANSWER_WITHIN_MS,
      socketTimeout: SILENT_FOR_MS,
    });
    const probe = async () => {
      await refuseCluster(this.#redis);
      for (const each of this.#probes) await each();
    };
    this.#presence = new RedisPresence(probe, listener);
    // Shows a Redis that cannot count before a run needs it.
    this.#redis.on('ready', () => void probe().catch((error: Error) => this.#presence.leave(error)));
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
   * Adds a check that must succeed before Redis counts as available again. A connection and a PING prove nothing,
   * because they also work if Redis is full or read-only. Only counting proves it.
   */
  addProbe(probe: () => Promise<unknown>): void {
    this.#probes.push(probe);
  }

  /** Asks Redis, or decides locally while Redis is unavailable. */
  async withFallback<T>(remote: () => Promise<T>, local: () => T | Promise<T>): Promise<T> {
    if (this.#presence.isAway) return local();
    try {
      return await remote();
    } catch (error) {
      this.#presence.leave(error as Error);
      return local();
    }
  }

  /**
   * Runs a command that may fail: an entry that stays expires with its window, and the next count shows whether Redis
   * works.
   */
  async bestEffort(command: () => Promise<unknown>): Promise<void> {
    if (!this.#presence.isAway) await command().catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.#presence.close();
    this.#redis.disconnect();
  }
}
