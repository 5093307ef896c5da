import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { failureOf, type Failure } from '../errors.js';
import type { Job, JobHead, JobProgress, JobRecord, JobState, JobStatus, JobWork } from './job.js';
import { checkBounds, resultsTooLarge } from './job-bounds.js';
import type { ComputedCondition, JobLimits, JobStore } from './job-store.js';

const JOB_PREFIX = 'nes:job:';
/** Unfinished jobs: client and simulated time by id. */
const OPEN = 'nes:jobs:open';
/** Finished jobs by the time of their end. */
const FINISHED = 'nes:jobs:finished';
/** The job that was begun with an idempotency key of a client. */
const REQUEST_PREFIX = 'nes:jobs:request:';

const keyOf = (id: string) => `${JOB_PREFIX}${id}`;
const outcomesKeyOf = (id: string) => `${JOB_PREFIX}${id}:outcomes`;

/** Of the hash of a job: the head as JSON, and how far it is. */
const STATE_FIELDS = [
  'head',
  'status',
  'started',
  'updated',
  'finished',
  'done',
  'brainMs',
  'bytes',
  'failure',
] as const;
type StateField = (typeof STATE_FIELDS)[number];
/** The work as JSON. It may be large, so it is read only by those who compute the job or read its results. */
const WORK_FIELD = 'work';

/**
 * What several scripts need. Redis runs a script as a whole, so no two processes see a job half changed; its clock is
 * the one of all times but that of creation. KEYS of each: the job, its outcomes, OPEN, FINISHED.
 */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function unfinished()
  local status = redis.call('HGET', KEYS[1], 'status')
  return status == 'accepted' or status == 'running'
end
local function expire(keptMs)
  redis.call('PEXPIRE', KEYS[1], keptMs)
  redis.call('PEXPIRE', KEYS[2], keptMs)
end
local function finish(id, status, kept, keptMs)
  -- Before anything that needs memory: a Redis that is full refuses a script only as long as it has written nothing.
  redis.call('HDEL', KEYS[3], id)
  if status ~= 'successful' then redis.call('HDEL', KEYS[1], '${WORK_FIELD}') end
  redis.call('HSET', KEYS[1], 'status', status, 'finished', now, 'updated', now)
  redis.call('ZREM', KEYS[4], id)
  redis.call('ZADD', KEYS[4], now, id)
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - keptMs)
  while redis.call('ZCARD', KEYS[4]) > tonumber(kept) do
    -- The oldest of the client that has most, so that no client displaces the jobs of others.
    local ids = redis.call('ZRANGE', KEYS[4], 0, -1)
    local clients, counts = {}, {}
    for at, each in ipairs(ids) do
      clients[at] = redis.call('HGET', '${JOB_PREFIX}' .. each, 'client') or ''
      counts[clients[at]] = (counts[clients[at]] or 0) + 1
    end
    local removed = 1
    for at = 2, #ids do
      if counts[clients[at]] > counts[clients[removed]] then removed = at end
    end
    redis.call('DEL', '${JOB_PREFIX}' .. ids[removed], '${JOB_PREFIX}' .. ids[removed] .. ':outcomes')
    redis.call('ZREM', KEYS[4], ids[removed])
  end
  redis.call('PEXPIRE', KEYS[4], keptMs)
  expire(keptMs)
end
`;

/**
 * KEYS: also that of the request. ARGV: id, client, brainMs, head, work, createdMs, atOnce, perClient,
 * brainMsPerClient, keptMs, and 1 where the request is remembered.
 */
const CREATE = `${COMMON}
if ARGV[11] == '1' then
  local earlier = redis.call('GET', KEYS[5])
  if earlier and redis.call('EXISTS', '${JOB_PREFIX}' .. earlier) == 1 then return { earlier } end
end
local jobs, own, ownBrainMs = 0, 0, 0
local open = redis.call('HGETALL', KEYS[3])
for at = 1, #open, 2 do
  if redis.call('EXISTS', '${JOB_PREFIX}' .. open[at]) == 0 then
    redis.call('HDEL', KEYS[3], open[at])
  else
    local brainMs, client = string.match(open[at + 1], '^(%d+) (.*)$')
    jobs = jobs + 1
    if client == ARGV[2] then
      own = own + 1
      ownBrainMs = ownBrainMs + tonumber(brainMs)
    end
  end
end
local fits = jobs < tonumber(ARGV[7]) and own < tonumber(ARGV[8])
  and ownBrainMs + tonumber(ARGV[3]) <= tonumber(ARGV[9])
if fits then
  redis.call('HSET', KEYS[1], 'head', ARGV[4], '${WORK_FIELD}', ARGV[5], 'client', ARGV[2], 'status', 'accepted',
    'updated', ARGV[6])
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[3] .. ' ' .. ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[10])
  redis.call('PEXPIRE', KEYS[1], ARGV[10])
  if ARGV[11] == '1' then redis.call('SET', KEYS[5], ARGV[1], 'PX', ARGV[10]) end
  return { ARGV[1] }
end
return { false, jobs, own, ownBrainMs }
`;

/** ARGV: keptMs. */
const BEGIN = `${COMMON}
if not unfinished() then return 0 end
if redis.call('HGET', KEYS[1], 'status') == 'accepted' then
  redis.call('HSET', KEYS[1], 'status', 'running', 'started', now, 'updated', now)
end
expire(ARGV[1])
redis.call('PEXPIRE', KEYS[3], ARGV[1])
return 1
`;

/** ARGV: id, index, phase, outcome, brainMs, costMs, conditions, resultBytes, failure, kept, keptMs. */
const KEEP = `${COMMON}
if not unfinished() then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[4]) == 0 then return 1 end
local bytes = redis.call('HINCRBY', KEYS[1], 'bytes', #ARGV[4])
if bytes > tonumber(ARGV[8]) then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'failure', ARGV[9])
  finish(ARGV[1], 'failed', ARGV[10], ARGV[11])
  return 0
end
redis.call('HINCRBY', KEYS[1], 'phase:' .. ARGV[3], 1)
redis.call('HINCRBY', KEYS[1], 'brainMs', ARGV[5])
if tonumber(ARGV[6]) > tonumber(redis.call('HGET', KEYS[1], 'costMs') or 0) then
  redis.call('HSET', KEYS[1], 'costMs', ARGV[6])
end
redis.call('HSET', KEYS[1], 'updated', now)
if redis.call('HINCRBY', KEYS[1], 'done', 1) == tonumber(ARGV[7]) then
  finish(ARGV[1], 'successful', ARGV[10], ARGV[11])
else
  expire(ARGV[11])
end
return 1
`;

/** ARGV: id, status, failure, kept, keptMs. Only dismissal ends what is finished. Frees memory also in a full Redis. */
const END = `${COMMON}
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return 0 end
if not unfinished() and (ARGV[2] ~= 'dismissed' or status == 'dismissed') then return 0 end
redis.call('UNLINK', KEYS[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'failure', ARGV[3]) else redis.call('HDEL', KEYS[1], 'failure') end
finish(ARGV[1], ARGV[2], ARGV[4], ARGV[5])
return 1
`;

const SCRIPTS = {
  nesCreateJob: { lua: CREATE, numberOfKeys: 5 },
  nesBeginJob: { lua: BEGIN, numberOfKeys: 4 },
  nesKeepCondition: { lua: KEEP, numberOfKeys: 4 },
  nesEndJob: { lua: END, numberOfKeys: 4 },
} as const;
type RunScript = (...keysAndArguments: readonly (string | number | Buffer)[]) => Promise<unknown>;

/** Jobs that several processes share, in Redis. What of them is not written for a while expires there. */
export class RedisJobStore implements JobStore {
  readonly #scripts: Readonly<Record<keyof typeof SCRIPTS, RunScript>>;

  constructor(
    private readonly redis: Redis,
    private readonly limits: JobLimits,
  ) {
    for (const [name, script] of Object.entries(SCRIPTS)) redis.defineCommand(name, script);
    this.#scripts = redis as unknown as Readonly<Record<keyof typeof SCRIPTS, RunScript>>;
  }

  async create(record: JobRecord, requestKey?: string): Promise<string> {
    const { atOnce, perClient, brainMsPerClient, keptMs } = this.limits;
    const { document, limits, ...head } = record;
    const reply = await this.#scripts.nesCreateJob(
      ...keysOf(record.id),
      requestKeyOf(record.client, requestKey ?? record.id),
      record.id,
      record.client,
      record.brainMs,
      JSON.stringify(head satisfies JobHead),
      JSON.stringify({ document, limits } satisfies JobWork),
      record.createdMs,
      atOnce,
      perClient,
      brainMsPerClient,
      keptMs,
      requestKey === undefined ? 0 : 1,
    );
    const [id, jobs, ownJobs, ownBrainMs] = reply as [string | null, number, number, number];
    if (id === null) checkBounds(record, { jobs, ownJobs, ownBrainMs }, this.limits);
    return id!;
  }

  async remove(id: string): Promise<void> {
    // Commands that need no memory.
    await this.redis.multi().unlink(keyOf(id), outcomesKeyOf(id)).hdel(OPEN, id).zrem(FINISHED, id).exec();
  }

  async find(id: string): Promise<Job | undefined> {
    const [work, ...fields] = await this.redis.hmget(keyOf(id), WORK_FIELD, ...STATE_FIELDS);
    const state = stateOf(fields);
    if (state === undefined || typeof work !== 'string') return undefined;
    return { ...state, record: { ...state.record, ...(JSON.parse(work) as JobWork) } };
  }

  async state(id: string): Promise<JobState | undefined> {
    return stateOf(await this.redis.hmget(keyOf(id), ...STATE_FIELDS));
  }

  async begin(id: string): Promise<boolean> {
    return (await this.#scripts.nesBeginJob(...keysOf(id), this.limits.keptMs)) === 1;
  }

  async keep(id: string, condition: ComputedCondition, conditions: number): Promise<boolean> {
    const { index, phase, outcome, brainMs, costMs } = condition;
    const { resultBytes, kept, keptMs } = this.limits;
    const failure = JSON.stringify(failureOf(resultsTooLarge(resultBytes)));
    const reply = await this.#scripts.nesKeepCondition(
      ...keysOf(id),
      id,
      index,
      phase,
      outcome,
      brainMs,
      costMs,
      conditions,
      resultBytes,
      failure,
      kept,
      keptMs,
    );
    return reply === 1;
  }

  async outcomes(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    if (indices.length === 0) return [];
    const found = await this.redis.hmgetBuffer(outcomesKeyOf(id), ...indices.map(String));
    return found.map((bytes) => bytes ?? undefined);
  }

  async doneInPhase(id: string, phase: number): Promise<number> {
    return Number(await this.redis.hget(keyOf(id), `phase:${phase}`));
  }

  async highestCostMs(id: string): Promise<number> {
    return Number(await this.redis.hget(keyOf(id), 'costMs'));
  }

  async fixChunkLength(id: string, phase: number, length: number): Promise<number> {
    const field = `length:${phase}`;
    // Of a job that has expired meanwhile nothing must be made that never does.
    if ((await this.redis.exists(keyOf(id))) === 1) await this.redis.hsetnx(keyOf(id), field, length);
    return Number((await this.redis.hget(keyOf(id), field)) ?? length);
  }

  /** Those that expired unfinished are counted until the next job is begun. */
  async unfinished(): Promise<number> {
    return this.redis.hlen(OPEN);
  }

  async fail(id: string, failure: Failure): Promise<void> {
    await this.#end(id, 'failed', JSON.stringify(failure));
  }

  async dismiss(id: string): Promise<JobState | undefined> {
    await this.#end(id, 'dismissed', '');
    return this.state(id);
  }

  async #end(id: string, status: JobStatus, failure: string): Promise<void> {
    const { kept, keptMs } = this.limits;
    await this.#scripts.nesEndJob(...keysOf(id), id, status, failure, kept, keptMs);
  }
}

function keysOf(id: string): string[] {
  return [keyOf(id), outcomesKeyOf(id), OPEN, FINISHED];
}

/** Of any length, and of two clients that chose the same key not the same. */
function requestKeyOf(client: string, key: string): string {
  return REQUEST_PREFIX + hash('sha256', `${client}\n${key}`);
}

/** @param values of STATE_FIELDS */
function stateOf(values: readonly (string | null)[]): JobState | undefined {
  const given = STATE_FIELDS.flatMap((field, at) => {
    const value = values[at];
    return typeof value === 'string' ? [[field, value] as const] : [];
  });
  const fields: Partial<Record<StateField, string>> = Object.fromEntries(given);
  const { head } = fields;
  return head === undefined
    ? undefined
    : { record: JSON.parse(head) as JobHead, progress: progressOf(fields) };
}

function progressOf(fields: Readonly<Partial<Record<StateField, string>>>): JobProgress {
  const { status, started, updated, finished, failure, done, brainMs, bytes } = fields;
  return {
    status: status as JobStatus,
    ...(started !== undefined && { startedMs: Number(started) }),
    updatedMs: Number(updated),
    ...(finished !== undefined && { finishedMs: Number(finished) }),
    conditionsDone: Number(done ?? 0),
    brainMsDone: Number(brainMs ?? 0),
    resultBytes: Number(bytes ?? 0),
    ...(failure !== undefined && { failure: JSON.parse(failure) as Failure }),
  };
}
