import type { RedisLink, Script } from './redis-link.js';
import type { SlidingWindow, WindowReading } from './sliding-window.js';

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
  readonly link: RedisLink;
  readonly limit: number;
  readonly windowMs: number;
  /** Decides while Redis is unavailable; until then it records every run allowed here. */
  readonly local: SlidingWindow;
}

/** One window for all replicas, in Redis. While Redis is unavailable, each replica uses its own. */
export class RedisWindow implements SlidingWindow {
  readonly #count: Script<[allowed: number, remaining: number, resetMs: number, momentMs: number]>;

  constructor(private readonly options: RedisWindowOptions) {
    this.#count = options.link.script('countRun', COUNT_SCRIPT);
    options.link.addProbe(() => this.#count(`${KEY_PREFIX}${PROBE}`, 1, PROBE_WINDOW_MS));
  }

  count(client: string): Promise<WindowReading> {
    const { link, local } = this.options;
    return link.ask(
      () => this.#countInRedis(client),
      () => local.count(client),
    );
  }

  async #countInRedis(client: string): Promise<WindowReading> {
    const { link, limit, windowMs, local } = this.options;
    const key = `${KEY_PREFIX}${client}`;
    const [allowed, remaining, resetMs, moment] = await this.#count(key, limit, windowMs);
    if (allowed !== 1) return { allowed: false, remaining, resetMs };
    const here = await local.count(client);
    const giveBack = async () => {
      await here.giveBack?.();
      await link.tell((redis) => redis.lrem(key, -1, moment));
    };
    return { allowed: true, remaining, resetMs, giveBack };
  }
}
