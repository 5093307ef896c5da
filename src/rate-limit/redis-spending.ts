import type { RedisLink, Script } from './redis-link.js';
import { SLOTS, type SpendingReading, type SpendingWindow } from './spending-window.js';

const KEY_PREFIX = 'nes:brain:';
/** No client is called so: clients are addresses. Its key lies where theirs do, for rules that go by names. */
const PROBE = 'probe';
const PROBE_LIMIT = 1_000_000;
const PROBE_WINDOW_MS = SLOTS;

/**
 * What a client spent, by slots of time, as in SpendingLog. As with runs, the clock is that of Redis and may be set
 * back: slots later than now no longer count. A key or a field that holds anything else is removed.
 */
const SPEND_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local length = tonumber(ARGV[3])
local amount = tonumber(ARGV[4])
local current = math.floor(now / length)
local function leaves(slot)
  return (slot + 1) * length + window
end
local fields = redis.pcall('HGETALL', KEYS[1])
if fields.err then
  if not string.find(fields.err, 'WRONGTYPE', 1, true) then return fields end
  redis.call('DEL', KEYS[1])
  fields = {}
end
local slots = {}
local free = limit
for at = 1, #fields, 2 do
  local slot = tonumber(fields[at])
  local spent = tonumber(fields[at + 1])
  local whole = spent and spent > 0 and spent < 2 ^ 53 and spent == math.floor(spent)
  if whole and slot and slot == math.floor(slot) and slot <= current and leaves(slot) > now then
    slots[#slots + 1] = { slot, spent }
    free = free - spent
  else
    redis.call('HDEL', KEYS[1], fields[at])
  end
end
table.sort(slots, function(a, b) return a[1] < b[1] end)
local remaining = free - amount
if remaining < 0 then
  for _, entry in ipairs(slots) do
    free = free + entry[2]
    if free >= amount then return { 0, remaining + amount, leaves(entry[1]) - now, current } end
  end
  return { 0, remaining + amount, window, current }
end
redis.call('HINCRBY', KEYS[1], string.format('%.0f', current), string.format('%.0f', amount))
redis.call('PEXPIRE', KEYS[1], window + length)
local oldest = slots[1] and slots[1][1] or current
return { 1, remaining, leaves(oldest) - now, current }
`;

/** Of a key that has expired meanwhile nothing is left to take back, and none must be made that never expires. */
const GIVE_BACK_SCRIPT = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], -tonumber(ARGV[2]))
end
return 1
`;

export interface RedisSpendingOptions {
  readonly link: RedisLink;
  readonly limit: number;
  readonly windowMs: number;
  /** Decides while Redis is unavailable; until then it records all that is spent here. */
  readonly local: SpendingWindow;
}

/** What clients spend at all replicas, in Redis. While Redis is unavailable, each replica sums up its own. */
export class RedisSpending implements SpendingWindow {
  readonly #spend: Script<[allowed: number, remaining: number, resetMs: number, slot: number]>;
  readonly #giveBack: Script<number>;

  constructor(private readonly options: RedisSpendingOptions) {
    const { link } = options;
    this.#spend = link.script('spendBrainTime', SPEND_SCRIPT);
    this.#giveBack = link.script('giveBackBrainTime', GIVE_BACK_SCRIPT);
    link.addProbe(() =>
      this.#spend(`${KEY_PREFIX}${PROBE}`, PROBE_LIMIT, PROBE_WINDOW_MS, PROBE_WINDOW_MS / SLOTS, 1),
    );
  }

  spend(client: string, amount: number): Promise<SpendingReading> {
    const { link, local } = this.options;
    return link.ask(
      () => this.#spendInRedis(client, amount),
      () => local.spend(client, amount),
    );
  }

  async #spendInRedis(client: string, amount: number): Promise<SpendingReading> {
    const { link, limit, windowMs, local } = this.options;
    const key = `${KEY_PREFIX}${client}`;
    const [allowed, remaining, resetMs, slot] = await this.#spend(
      key,
      limit,
      windowMs,
      windowMs / SLOTS,
      amount,
    );
    if (allowed !== 1) return { allowed: false, remaining, resetMs };
    const here = await local.spend(client, amount);
    const giveBack = async (part: number) => {
      await here.giveBack?.(part);
      await link.tell(() => this.#giveBack(key, slot, part));
    };
    return { allowed: true, remaining, resetMs, giveBack };
  }
}
