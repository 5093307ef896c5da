import { Redis } from 'ioredis';
import type { SlidingWindow, WindowReading } from './sliding-window.js';

/** A rate limit that takes longer than this to ask is not worth waiting for. */
const ANSWER_WITHIN_MS = 250;
const CONNECT_WITHIN_MS = 2_000;
/** How often an unavailable Redis is retried. */
const RETRY_MS = 500;
const KEY_PREFIX = 'nes:runs:';
/** No client is called so: clients are addresses. Its key lies where theirs do, for rules that go by names. */
const PROBE = 'probe';
const PROBE_WINDOW_MS = 1;

/**
 * The moments of a client's last runs, oldest first, as in SlidingLog. Redis runs a script as a whole, so no two
 * replicas can let the same last run pass; the clock is that of Redis, so replicas need not agree on theirs. That clock
 * may be set back, or be another one after a failover: moments later than now no longer count, or a client would be
 * refused until the clock has caught up. A key that holds anything but such a list is replaced; keys with our prefix
 * are ours.
 */
const COUNT_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local function counts(text)
  local moment = tonumber(text)
  return moment and moment > now - window and moment <= now
end
local length = redis.pcall('LLEN', KEYS[1])
if type(length) == 'table' then
  if not string.find(length.err, 'WRONGTYPE', 1, true) then return length end
  redis.call('DEL', KEYS[1])
end
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and not counts(oldest) do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
local newest = redis.call('LINDEX', KEYS[1], -1)
while newest and not counts(newest) do
  redis.call('RPOP', KEYS[1])
  newest = redis.call('LINDEX', KEYS[1], -1)
end
local count = redis.call('LLEN', KEYS[1])
local allowed = 0
if count < limit then
  allowed = 1
  count = count + 1
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], window)
end
return { allowed, limit - count, tonumber(oldest or now) + window - now, now }
`;

export interface RedisWindowOptions {
  readonly url: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Decides while Redis is unavailable; until then it records every run allowed here. */
  readonly local: SlidingWindow;
  /** Redis is unreachable or refuses commands. */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

type ScriptedRedis = Redis & {
  count(key: string, limit: number, windowMs: number): Promise<[number, number, number, number]>;
};

/**
 * One window for all replicas, in Redis. While Redis is unavailable, each replica uses its own. A Redis that cannot
 * count because it is full, read-only or denies us access is treated as unavailable.
 */
export class RedisWindow implements SlidingWindow {
  readonly #redis: ScriptedRedis;
  #isAway = false;
  #closed = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: RedisWindowOptions) {
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
    }) as ScriptedRedis;
    this.#redis.defineCommand('count', { numberOfKeys: 1, lua: COUNT_SCRIPT });
    this.#redis.on('error', (error: Error) => this.#leave(error));
    this.#redis.on('close', () => this.#leave(new Error('the connection was closed')));
  }

  async count(client: string): Promise<WindowReading> {
    const { limit, windowMs, local } = this.options;
    if (this.#isAway) return local.count(client);
    const key = `${KEY_PREFIX}${client}`;
    try {
      const [allowed, remaining, resetMs, moment] = await this.#redis.count(key, limit, windowMs);
      if (allowed !== 1) return { allowed: false, remaining, resetMs };
      const here = await local.count(client);
      const giveBack = async () => {
        await here.giveBack?.();
        await this.#takeOut(key, moment);
      };
      return { allowed: true, remaining, resetMs, giveBack };
    } catch (error) {
      this.#leave(error as Error);
      return local.count(client);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    this.#redis.disconnect();
  }

  async #takeOut(key: string, moment: number): Promise<void> {
    if (this.#isAway) return;
    try {
      await this.#redis.lrem(key, -1, moment);
    } catch {
      // The next count shows whether Redis is available. An entry that stays expires with its minute.
    }
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

  /** A connection and a PING prove nothing: they also work when Redis is full or read-only. Only counting does. */
  async #probe(): Promise<void> {
    try {
      await this.#redis.count(`${KEY_PREFIX}${PROBE}`, 1, PROBE_WINDOW_MS);
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
