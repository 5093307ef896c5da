import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { CORE_MS_PER_BRAIN_SECOND } from '../experiments/plan/prices.js';
import { failureOf, type Failure } from '../errors.js';
import { luaScript } from '../lua-script.js';
import { placesFor } from '../scheduling/client-shares.js';
import type { Job, JobHead, JobProgress, JobRecord, JobState, JobStatus, JobWork } from './job.js';
import { checkBounds, resultsTooLarge } from './job-bounds.js';
import type { ComputedCondition, JobLimits, JobStore } from './job-store.js';

/** Unfinished jobs: the client by id. */
const OPEN = 'nes:jobs:open';
/** Finished jobs by the time of their end. */
const FINISHED = 'nes:jobs:finished';
/** The job that was begun with an idempotency key of a client. */
const REQUEST_PREFIX = 'nes:jobs:request:';

const keyOf = (id: string) => `nes:job:${id}`;
const outcomesKeyOf = (id: string) => `nes:job:${id}:outcomes`;

/** Fields of the hash of a job: the head as JSON, and how far it is. */
const STATE_FIELDS = [
  'head',
  'status',
  'started',
  'updated',
  'finished',
  'done',
  'brainMs',
  'costMs',
  'bytes',
  'failure',
] as const;
/** The work as JSON. It may be large, so it is read only by those who compute the job or read its results. */
const WORK_FIELD = 'work';

/** Scripts, with the number of their keys. ARGV of each begins with the id and keptMs. */
const SCRIPTS = { 'create-job': 5, 'begin-job': 4, 'keep-condition': 4, 'end-job': 4 } as const;
type Argument = string | number | Buffer;

/** Jobs that several processes share, in Redis. What of them is not written for a while expires there. */
export class RedisJobStore implements JobStore {
  constructor(
    private readonly redis: Redis,
    private readonly limits: JobLimits,
  ) {
    for (const [name, numberOfKeys] of Object.entries(SCRIPTS)) {
      const lua = luaScript(new URL(`./lua/${name}.lua`, import.meta.url));
      redis.defineCommand(name, { lua, numberOfKeys });
    }
  }

  async create(record: JobRecord, requestKey?: string): Promise<string> {
    const { atOnce, perClient, brainMsPerClient } = this.limits;
    const { document, limits, ...head } = record;
    const reply = await this.#run(
      'create-job',
      record.id,
      [requestKeyOf(record.client, requestKey ?? record.id)],
      record.client,
      record.priceMs,
      JSON.stringify(head satisfies JobHead),
      JSON.stringify({ document, limits } satisfies JobWork),
      record.createdMs,
      perClient,
      brainMsPerClient,
      requestKey === undefined ? 0 : 1,
      placesFor(0, atOnce),
      placesFor(1, atOnce),
      CORE_MS_PER_BRAIN_SECOND,
    );
    const [id, jobs, ownJobs, ownMs] = reply as [string | null, number, number, number];
    if (id === null) checkBounds(record, { jobs, ownJobs, ownMs }, this.limits);
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
    return (await this.#run('begin-job', id)) === 1;
  }

  async keep(id: string, condition: ComputedCondition, conditions: number): Promise<boolean> {
    const { index, outcome, brainMs, costMs } = condition;
    const { resultBytes, kept } = this.limits;
    const failure = JSON.stringify(failureOf(resultsTooLarge(resultBytes)));
    const given = [index, outcome, brainMs, costMs, conditions, resultBytes, failure, kept];
    return (await this.#run('keep-condition', id, [], ...given)) === 1;
  }

  async outcomes(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    if (indices.length === 0) return [];
    const found = await this.redis.hmgetBuffer(outcomesKeyOf(id), ...indices.map(String));
    return found.map((bytes) => bytes ?? undefined);
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
    await this.#run('end-job', id, [], status, failure, this.limits.kept);
  }

  #run(
    script: keyof typeof SCRIPTS,
    id: string,
    furtherKeys: readonly string[] = [],
    ...given: readonly Argument[]
  ): Promise<unknown> {
    const scripts = this.redis as unknown as Record<string, (...all: Argument[]) => Promise<unknown>>;
    const keys = [keyOf(id), outcomesKeyOf(id), OPEN, FINISHED, ...furtherKeys];
    return scripts[script]!(...keys, id, this.limits.keptMs, ...given);
  }
}

/** Digest of a request key: of any length, and different for two clients that chose the same key. */
function requestKeyOf(client: string, key: string): string {
  return REQUEST_PREFIX + hash('sha256', `${client}\n${key}`);
}

/** @param values of STATE_FIELDS */
function stateOf(values: readonly (string | null)[]): JobState | undefined {
  const [head, status, started, updated, finished, done, brainMs, costMs, bytes, failure] = values;
  if (typeof head !== 'string') return undefined;
  const progress: JobProgress = {
    status: status as JobStatus,
    ...(typeof started === 'string' && { startedMs: Number(started) }),
    updatedMs: Number(updated),
    ...(typeof finished === 'string' && { finishedMs: Number(finished) }),
    conditionsDone: Number(done),
    brainMsDone: Number(brainMs),
    highestCostMs: Number(costMs),
    resultBytes: Number(bytes),
    ...(typeof failure === 'string' && { failure: JSON.parse(failure) as Failure }),
  };
  return { record: JSON.parse(head) as JobHead, progress };
}
