import type { BatchOperation } from 'classic-level';
import { CodedError, failureOf, type Failure } from '../../engine/errors.js';
import { otherVersion } from '../../experiments/run/condition-result.js';
import { MAX_DEATHS_OF_CHUNK } from '../../workers/pool/retries.js';
import {
  isFinished,
  JOB_VERSION,
  type Job,
  type JobProgress,
  type JobRecord,
  type JobState,
  type JobWork,
} from './job.js';
import { checkAdmission, heldMs, noRoomForResults, resultsTooLarge, tooManyDeaths } from './job-admission.js';
import type { ComputedCondition, DismissedJob, JobLimits, JobStore } from './job-store.js';
import type { JobsDisk, Level } from './jobs-disk.js';

/** Interval at which expired jobs are removed. */
const MAX_SWEEP_MS = 60_000;

/**
 * Keys: the state of a job, its JobWork as JSON, and the results of its conditions. A name has no `/`, and `0` is the
 * character after it, so the keys of a job are those from `result/NAME/` to `result/NAME0`.
 */
const stateKey = (id: string) => `job/${id}`;
const workKey = (id: string) => `work/${id}`;
const resultKey = (id: string, index: number) => `result/${id}/${index}`;
const resultsOf = (id: string) => ({ gte: `result/${id}/`, lt: `result/${id}0` });

/** The state of a job on disk. */
interface StoredJob extends JobState {
  /** JOB_VERSION of the service that began it. */
  readonly version: string;
  /** Totals over the conditions whose CPU time is known. */
  readonly timed: { readonly brainMs: number; readonly costMs: number };
  /** The client with its idempotency key. */
  readonly requestKey?: string;
  /** Number of processes that ended during this job since its last result. */
  readonly deaths: number;
}

/** A job in memory. It is replaced after the new state is on disk, so a failed write changes nothing. */
interface LoadedJob extends StoredJob {
  /** Infinite while this process computes the job. */
  readonly expiresMs: number;
}

type Operation = BatchOperation<Level, string, Buffer>;

export interface DiskLimits extends JobLimits {
  /** Bytes of the results of all jobs. */
  readonly maxStoredBytes: number;
  /** Bytes of the results of a client's unfinished jobs, which cannot be removed to make room. */
  readonly unfinishedBytesPerClient: number;
}

/**
 * Stores jobs on disk, for one process. Documents and results are only there; the states are in memory too. Each
 * change is one write that LevelDB makes completely or not at all, so the process may end at any moment.
 */
export class DiskJobStore implements JobStore {
  /** Finished jobs are in the order in which they finished; the others may be anywhere between. */
  #jobs = new Map<string, LoadedJob>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly disk: JobsDisk,
    private readonly limits: DiskLimits,
    private readonly nowMs: () => number = Date.now,
  ) {}

  /** Resolves when the store was opened, or when it is known that it cannot be. */
  async open(): Promise<void> {
    const sweep = () => void this.disk.change((level) => this.#sweep(level)).catch(() => undefined);
    this.#timer = setInterval(sweep, Math.min(this.limits.storedForMs, MAX_SWEEP_MS)).unref();
    await this.disk.open((level) => this.#load(level));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.disk.close();
  }

  /**
   * Takes over unfinished jobs that an earlier process left. Those of another model wait for it until they expire, counted
   * from their last change, however often a process starts. A job is given up after too many processes ended during it.
   * @returns the names of the jobs to compute, and the number of those that wait
   */
  adopt(model: string): Promise<{ readonly ids: readonly string[]; readonly others: number }> {
    return this.disk.change(async (level) => {
      for (const job of this.#unfinishedJobs()) {
        const { record, expiresMs } = job;
        if (record.model === model) continue;
        // This process stops computing it, which is no death.
        const progress =
          expiresMs === Infinity ? { ...job.progress, status: 'accepted' as const } : job.progress;
        const keptUntilMs = progress.updatedMs + this.limits.storedForMs;
        this.#jobs.set(record.id, { ...job, progress, expiresMs: keptUntilMs });
      }
      const waiting = this.#unfinishedJobs().filter(({ expiresMs }) => expiresMs !== Infinity);
      const computable = waiting.filter(({ record }) => record.model === model);
      for (const job of computable) {
        const deaths = job.deaths + (job.progress.status === 'running' ? 1 : 0);
        await this.#write(level, { ...job, deaths });
        if (deaths > MAX_DEATHS_OF_CHUNK)
          await this.#fail(level, job.record.id, failureOf(tooManyDeaths(deaths)));
      }
      // Only now, because nobody would compute a job that was marked before a write failed.
      const adopted = computable.flatMap(({ record: { id } }) => this.#unfinished(id) ?? []);
      for (const job of adopted) this.#jobs.set(job.record.id, { ...job, expiresMs: Infinity });
      return { ids: adopted.map(({ record }) => record.id), others: waiting.length - computable.length };
    });
  }

  create(record: JobRecord, key?: string): Promise<string> {
    const requestKey = key === undefined ? undefined : `${record.client}\n${key}`;
    return this.disk.change(async (level) => {
      await this.#sweep(level);
      const jobs = [...this.#jobs.values()];
      const earlier = requestKey && jobs.find((job) => job.requestKey === requestKey);
      if (earlier) return earlier.record.id;
      const unfinished = this.#unfinishedJobs();
      const ofClient = unfinished.filter((job) => job.record.client === record.client);
      const ownMs = sum(ofClient, (job) => heldMs(job.record, job.progress.brainMsDone, job.timed));
      checkAdmission(record, { jobs: unfinished.length, ownJobs: ofClient.length, ownMs }, this.limits);
      const { document, limits, ...head } = record;
      const progress = { conditionsDone: 0, brainMsDone: 0, highestCostMs: 0, resultBytes: 0 };
      const job = {
        record: head,
        progress: { status: 'accepted' as const, updatedMs: record.createdMs, ...progress },
        version: JOB_VERSION,
        timed: { brainMs: 0, costMs: 0 },
        ...(requestKey !== undefined && { requestKey }),
        deaths: 0,
        expiresMs: Infinity,
      };
      const work = json({ document, limits } satisfies JobWork);
      // The client counts on an accepted job, so it outlasts a power failure. All else can be computed again.
      await this.#write(level, job, [{ type: 'put', key: workKey(record.id), value: work }], true);
      return record.id;
    });
  }

  remove(id: string): Promise<void> {
    return this.disk.change((level) => this.#remove(level, id));
  }

  find(id: string): Promise<Job | undefined> {
    return this.disk.read(async (level) => {
      const job = this.#job(id);
      const work = job && (await level.get(workKey(id)));
      if (work === undefined) return undefined;
      return {
        record: { ...job!.record, ...(JSON.parse(work.toString()) as JobWork) },
        progress: job!.progress,
      };
    });
  }

  state(id: string): Promise<JobState | undefined> {
    return this.disk.read(async () => {
      const job = this.#job(id);
      return job && { record: job.record, progress: job.progress };
    });
  }

  begin(id: string): Promise<boolean> {
    return this.disk.change(async (level) => {
      const job = this.#unfinished(id);
      if (job?.progress.status === 'accepted') {
        await this.#change(level, job, { status: 'running', startedMs: this.nowMs() });
      }
      return job !== undefined;
    });
  }

  keep(id: string, condition: ComputedCondition, conditions: number): Promise<boolean> {
    return this.disk.change(async (level) => {
      const job = this.#unfinished(id);
      if (job === undefined) return false;
      const { index, result, brainMs, costMs } = condition;
      const key = resultKey(id, index);
      if (await level.has(key)) return true;
      const refusal = await this.#refusalOf(level, job, result.length);
      if (refusal !== undefined) {
        await this.#fail(level, id, failureOf(refusal));
        return false;
      }
      const { timed, progress } = job;
      const progressed = {
        conditionsDone: progress.conditionsDone + 1,
        brainMsDone: progress.brainMsDone + brainMs,
        highestCostMs: Math.max(progress.highestCostMs, costMs),
        resultBytes: progress.resultBytes + result.length,
      };
      const next = {
        ...job,
        deaths: 0,
        ...(costMs > 0 && {
          timed: { brainMs: timed.brainMs + brainMs, costMs: timed.costMs + costMs },
        }),
      };
      const put: Operation[] = [{ type: 'put', key, value: result }];
      if (progressed.conditionsDone < conditions) await this.#change(level, next, progressed, put);
      else await this.#finish(level, next, { ...progressed, status: 'successful' }, put);
      return true;
    });
  }

  results(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    return this.disk.read(async (level) => {
      if (this.#job(id) === undefined) return indices.map(() => undefined);
      return level.getMany(indices.map((index) => resultKey(id, index)));
    });
  }

  unfinished(): Promise<number> {
    return this.disk.read(async () => this.#unfinishedJobs().length);
  }

  fail(id: string, failure: Failure): Promise<void> {
    return this.disk.change((level) => this.#fail(level, id, failure));
  }

  dismiss(id: string): Promise<DismissedJob | undefined> {
    return this.disk.change(async (level) => {
      const job = this.#job(id);
      const isNew = job !== undefined && job.progress.status !== 'dismissed';
      if (isNew) await this.#finish(level, job, { status: 'dismissed' });
      const ended = this.#job(id);
      return ended && { record: ended.record, progress: ended.progress, isNew };
    });
  }

  /** Reads the states, ends jobs of other versions, and removes results that a process did not come to remove. */
  async #load(level: Level): Promise<void> {
    const nowMs = this.nowMs();
    const loaded: LoadedJob[] = [];
    for await (const value of level.values({ gte: stateKey(''), lt: 'job0' })) {
      const job = JSON.parse(value.toString()) as StoredJob;
      const { id } = job.record;
      const expiresMs =
        this.#jobs.get(id)?.expiresMs ?? (job.progress.finishedMs ?? nowMs) + this.limits.storedForMs;
      loaded.push({ ...job, expiresMs });
    }
    loaded.sort((a, b) => (a.progress.finishedMs ?? 0) - (b.progress.finishedMs ?? 0));
    this.#jobs = new Map(loaded.map((job) => [job.record.id, job]));
    for (const { record, version } of loaded) {
      if (version !== JOB_VERSION) await this.#fail(level, record.id, failureOf(otherVersion()));
    }
    const keys = level.keys({ gte: 'result/', lt: 'result0' });
    for (let key = await keys.next(); key !== undefined; key = await keys.next()) {
      const id = key.split('/')[1]!;
      if (!hasResults(this.#jobs.get(id))) await level.clear(resultsOf(id));
      keys.seek(resultsOf(id).lt);
    }
    await keys.close();
  }

  /** Removes expired jobs. */
  async #sweep(level: Level): Promise<void> {
    for (const id of this.#jobs.keys()) if (this.#job(id) === undefined) await this.#remove(level, id);
  }

  #job(id: string): LoadedJob | undefined {
    const job = this.#jobs.get(id);
    return job !== undefined && job.expiresMs > this.nowMs() ? job : undefined;
  }

  #unfinished(id: string): LoadedJob | undefined {
    const job = this.#job(id);
    return job === undefined || isFinished(job.progress) ? undefined : job;
  }

  #unfinishedJobs(): LoadedJob[] {
    return [...this.#jobs.keys()].map((id) => this.#unfinished(id)).filter((job) => job !== undefined);
  }

  async #change(
    level: Level,
    job: LoadedJob,
    change: Partial<JobProgress>,
    operations: readonly Operation[] = [],
  ): Promise<void> {
    const progress = { ...job.progress, ...change, updatedMs: this.nowMs() };
    await this.#write(level, { ...job, progress }, operations);
  }

  /** Writes a state, and the entries that belong to it, at once. */
  async #write(
    level: Level,
    job: LoadedJob,
    operations: readonly Operation[] = [],
    sync = false,
  ): Promise<void> {
    const { expiresMs: _, ...stored } = job;
    const { id } = job.record;
    await level.batch(
      [{ type: 'put', key: stateKey(id), value: json(stored satisfies StoredJob) }, ...operations],
      { sync },
    );
    this.#jobs.set(id, job);
  }

  async #fail(level: Level, id: string, failure: Failure): Promise<void> {
    const job = this.#unfinished(id);
    if (job !== undefined) await this.#finish(level, job, { status: 'failed', failure });
  }

  async #finish(
    level: Level,
    job: LoadedJob,
    change: Partial<JobProgress> & Pick<JobProgress, 'status'>,
    operations: readonly Operation[] = [],
  ): Promise<void> {
    const { id } = job.record;
    const nowMs = this.nowMs();
    const isSuccessful = change.status === 'successful';
    const finished = { ...job, expiresMs: nowMs + this.limits.storedForMs };
    const removal: readonly Operation[] = isSuccessful ? [] : [{ type: 'del', key: workKey(id) }];
    await this.#change(level, finished, { ...change, finishedMs: nowMs }, [...operations, ...removal]);
    if (!isSuccessful) await level.clear(resultsOf(id));
    // Moves the job to the end of the finished ones.
    const written = this.#jobs.get(id)!;
    this.#jobs.delete(id);
    this.#jobs.set(id, written);
    const countOf = (each: StoredJob) => Number(isFinished(each.progress));
    while (this.#finished().length > this.limits.maxFinished) await this.#removeOldest(level, countOf);
  }

  /** Makes room for more bytes of a job, or says why there is none. */
  async #refusalOf(
    level: Level,
    { record: { client }, progress }: LoadedJob,
    moreBytes: number,
  ): Promise<CodedError | undefined> {
    const { resultBytes: maxBytes, maxStoredBytes, unfinishedBytesPerClient: maxOwnBytes } = this.limits;
    if (progress.resultBytes + moreBytes > maxBytes) return resultsTooLarge(maxBytes);
    const own = this.#unfinishedJobs().filter(({ record }) => record.client === client);
    if (sum(own, bytesOf) + moreBytes > maxOwnBytes) return noRoomForResults(maxOwnBytes, ' of this client');
    const isFull = () => sum(this.#jobs.values(), bytesOf) + moreBytes > maxStoredBytes;
    while (isFull() && (await this.#removeOldest(level, bytesOf)));
    return isFull() ? noRoomForResults(maxStoredBytes) : undefined;
  }

  /**
   * Removes the oldest finished job of the client whose jobs are largest together, so no client displaces the jobs of
   * others. Unfinished jobs stay, but they count.
   * @param sizeOf size of a job; jobs of size 0 stay
   * @returns true if a job was removed
   */
  async #removeOldest(level: Level, sizeOf: (job: StoredJob) => number): Promise<boolean> {
    const sizes = new Map<string, number>();
    for (const job of this.#jobs.values()) {
      const { client } = job.record;
      sizes.set(client, (sizes.get(client) ?? 0) + sizeOf(job));
    }
    const removable = this.#finished().filter((job) => sizeOf(job) > 0);
    const largest = Math.max(...removable.map(({ record }) => sizes.get(record.client)!));
    const oldest = removable.find(({ record }) => sizes.get(record.client) === largest);
    if (oldest !== undefined) await this.#remove(level, oldest.record.id);
    return oldest !== undefined;
  }

  /** Oldest first. */
  #finished(): LoadedJob[] {
    return [...this.#jobs.values()].filter(({ progress }) => isFinished(progress));
  }

  async #remove(level: Level, id: string): Promise<void> {
    await level.batch([
      { type: 'del', key: stateKey(id) },
      { type: 'del', key: workKey(id) },
    ]);
    this.#jobs.delete(id);
    await level.clear(resultsOf(id));
  }
}

/** Failed and dismissed jobs have no results any more. */
function hasResults(job: StoredJob | undefined): job is StoredJob {
  return job !== undefined && (job.progress.status === 'successful' || !isFinished(job.progress));
}

function bytesOf(job: StoredJob): number {
  return hasResults(job) ? job.progress.resultBytes : 0;
}

function sum(jobs: Iterable<StoredJob>, sizeOf: (job: StoredJob) => number): number {
  return [...jobs].reduce((size, job) => size + sizeOf(job), 0);
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
