import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { otherVersion } from '../../experiments/run/condition-result.js';
import { CORE_MS_PER_BRAIN_SECOND } from '../../experiments/plan/prices.js';
import { failureOf, type Failure } from '../../engine/errors.js';
import { luaScript } from '../redis/lua-script.js';
import { limitFor } from '../../workers/queue/client-shares.js';
import {
  JOB_VERSION,
  type Job,
  type JobHead,
  type JobProgress,
  type JobRecord,
  type JobState,
  type JobStatus,
  type JobWork,
} from './job.js';
import { checkAdmission, resultsTooLarge } from './job-admission.js';
import type { ComputedCondition, DismissedJob, JobLimits, JobStore } from './job-store.js';
import { isDamaged } from './jobs-redis.js';

/** Hash of unfinished jobs: from id to client. */
const OPEN = 'nes:jobs:open';
/** Sorted set of finished jobs, by the time of their end. */
const FINISHED = 'nes:jobs:finished';
/** Prefix of keys from a client's idempotency key to the id of its job. */
const REQUEST_PREFIX = 'nes:jobs:request:';

/** Key that exists while a process serves a version. */
const servingKeyOf = (version: string) => `nes:jobs:serving:${version}`;
/** A version without an announcement for this long is not served any more. */
const SERVED_MS = 300_000;
export const ANNOUNCE_EVERY_MS = 60_000;

const keyOf = (id: string) => `nes:job:${id}`;
/** `outcomes` is an old word for results. Stored jobs have keys with it, so it stays. */
const resultsKeyOf = (id: string) => `nes:job:${id}:outcomes`;

/** Fields of a job's hash: its JobHead as JSON, and its progress. */
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
/** The JobWork as JSON. It may be large, so it is read only to compute the job or to read its results. */
const WORK_FIELD = 'work';

/** JOB_VERSION of the service that created the job; absent if an older one did. */
const VERSION_FIELD = 'version';

/** Scripts with their numbers of keys. Their first two arguments are the id and storedForMs. */
const SCRIPTS = { 'create-job': 5, 'begin-job': 4, 'keep-condition': 4, 'end-job': 4 } as const;
type Argument = string | number | Buffer;

/** Stores jobs in Redis, so that several processes can share them. Entries expire storedForMs after their last write. */
export class RedisJobStore implements JobStore {
  #announcedMs = -Infinity;

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
      perClient,
      brainMsPerClient,
      requestKey === undefined ? 0 : 1,
      // The script needs two limits: for a client that has no unfinished job, and for one that has some.
      limitFor(0, atOnce),
      limitFor(1, atOnce),
      CORE_MS_PER_BRAIN_SECOND,
      JOB_VERSION,
    );
    const [id, jobs, ownJobs, ownMs] = reply as [string | null, number, number, number];
    if (id === null) checkAdmission(record, { jobs, ownJobs, ownMs }, this.limits);
    return id!;
  }

  async remove(id: string): Promise<void> {
    // These commands need no memory, so they work even if Redis is full.
    await this.redis.multi().unlink(keyOf(id), resultsKeyOf(id)).hdel(OPEN, id).zrem(FINISHED, id).exec();
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
    const { index, result, brainMs, costMs } = condition;
    const { resultBytes, maxFinished } = this.limits;
    const failure = JSON.stringify(failureOf(resultsTooLarge(resultBytes)));
    const given = [index, result, brainMs, costMs, conditions, resultBytes, failure, maxFinished];
    return (await this.#run('keep-condition', id, [], ...given)) === 1;
  }

  async results(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    if (indices.length === 0) return [];
    const found = await this.redis.hmgetBuffer(resultsKeyOf(id), ...indices.map(String));
    return found.map((bytes) => bytes ?? undefined);
  }

  /** Includes jobs that expired unfinished, until the next job begins. */
  async unfinished(): Promise<number> {
    return this.redis.hlen(OPEN);
  }

  async fail(id: string, failure: Failure): Promise<void> {
    await this.#end(id, 'failed', JSON.stringify(failure));
  }

  async dismiss(id: string): Promise<DismissedJob | undefined> {
    const isNew = await this.#end(id, 'dismissed', '');
    const state = await this.state(id);
    return state && { ...state, isNew };
  }

  /**
   * Announces the version of this process, and ends jobs of versions that nobody serves. A process calls it every
   * ANNOUNCE_EVERY_MS.
   */
  async announceVersion(): Promise<void> {
    await this.redis.set(servingKeyOf(JOB_VERSION), '', 'PX', SERVED_MS);
    const nowMs = performance.now();
    const pauseMs = nowMs - this.#announcedMs;
    this.#announcedMs = nowMs;
    // After an outage of Redis, other processes may not have announced their versions yet.
    if (pauseMs > 2 * ANNOUNCE_EVERY_MS) return;
    for (const id of await this.redis.hkeys(OPEN)) {
      const job = await this.#openJob(id);
      if (job === undefined) await this.redis.hdel(OPEN, id);
      else if (!(await this.#isServed(job.version))) await this.fail(id, failureOf(otherVersion()));
    }
  }

  /** @returns ids of the unfinished jobs of a model and of this version that nothing has changed for this long */
  async standing(model: string, forMs: number): Promise<string[]> {
    const [seconds, microseconds] = (await this.redis.time()).map(Number) as [number, number];
    const beforeMs = seconds * 1000 + microseconds / 1000 - forMs;
    const ids = await this.redis.hkeys(OPEN);
    const areStanding = await Promise.all(
      ids.map(async (id) => {
        const job = await this.#openJob(id);
        if (job?.version !== JOB_VERSION) return false;
        const { record, progress } = job.state;
        return record.model === model && progress.updatedMs <= beforeMs;
      }),
    );
    return ids.filter((_, at) => areStanding[at]);
  }

  /**
   * Reads a job for a search through all of them, which one damaged record must not stop.
   * @returns undefined if the job has expired or its record is damaged
   */
  async #openJob(id: string): Promise<{ state: JobState; version: string | null } | undefined> {
    try {
      const [version = null, ...fields] = await this.redis.hmget(keyOf(id), VERSION_FIELD, ...STATE_FIELDS);
      const state = stateOf(fields);
      return state && { state, version };
    } catch (error) {
      if (isDamaged(error)) return undefined;
      throw error;
    }
  }

  async #isServed(version: string | null): Promise<boolean> {
    if (version === JOB_VERSION) return true;
    return version !== null && (await this.redis.exists(servingKeyOf(version))) === 1;
  }

  /** @returns true if the job changed */
  async #end(id: string, status: JobStatus, failure: string): Promise<boolean> {
    return (await this.#run('end-job', id, [], status, failure, this.limits.maxFinished)) === 1;
  }

  #run(
    script: keyof typeof SCRIPTS,
    id: string,
    furtherKeys: readonly string[] = [],
    ...given: readonly Argument[]
  ): Promise<unknown> {
    const scripts = this.redis as unknown as Record<string, (...all: Argument[]) => Promise<unknown>>;
    const keys = [keyOf(id), resultsKeyOf(id), OPEN, FINISHED, ...furtherKeys];
    return scripts[script]!(...keys, id, this.limits.storedForMs, ...given);
  }
}

/**
 * A digest, because a key may have any length. Two clients with the same key get different digests, and so do two versions:
 * neither can add chunks to a job of the other.
 */
function requestKeyOf(client: string, key: string): string {
  return REQUEST_PREFIX + hash('sha256', `${client}\n${key}\n${JOB_VERSION}`);
}

/**
 * @param values values of STATE_FIELDS, in their order
 * @throws SyntaxError if the record is damaged
 */
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
  const record = JSON.parse(head) as JobHead | null;
  if (typeof record !== 'object' || record === null) throw new SyntaxError('The head of a job is no object.');
  return { record, progress };
}
