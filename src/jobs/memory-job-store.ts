import { deserialize, serialize } from 'node:v8';
import { failureOf, type Failure } from '../errors.js';
import {
  isFinished,
  type Job,
  type JobHead,
  type JobProgress,
  type JobRecord,
  type JobState,
  type JobWork,
} from './job.js';
import { checkBounds, heldMs, noRoomForResults, resultsTooLarge } from './job-bounds.js';
import type { ComputedCondition, JobLimits, JobStore } from './job-store.js';

/** setTimeout takes no longer one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface KeptJob {
  readonly record: JobHead;
  /**
   * Its JobWork, serialized: as objects a document takes several times its length. Undefined where the job ended without
   * results: nobody computes or reads it any more.
   */
  work: Buffer | undefined;
  progress: JobProgress;
  readonly outcomes: Map<number, Buffer>;
  /** Conditions of which is known what they took. */
  readonly timed: { brainMs: number; costMs: number };
  /** In the list of requests. */
  readonly requestKey?: string;
  expiry?: NodeJS.Timeout;
}

export interface MemoryLimits extends JobLimits {
  /** Results of all jobs together. */
  readonly keptBytes: number;
}

/** The jobs of this process, in its memory. They end with it. */
export class MemoryJobStore implements JobStore {
  /** Finished ones in the order in which they finished, the others anywhere among them. */
  readonly #jobs = new Map<string, KeptJob>();
  /** Jobs by the client and the key of the request that created them. */
  readonly #requests = new Map<string, string>();
  #bytes = 0;

  constructor(
    private readonly limits: MemoryLimits,
    private readonly nowMs: () => number = Date.now,
  ) {}

  async create(record: JobRecord, key?: string): Promise<string> {
    const requestKey = key === undefined ? undefined : `${record.client}\n${key}`;
    const earlier = requestKey === undefined ? undefined : this.#requests.get(requestKey);
    if (earlier !== undefined) return earlier;
    const unfinished = [...this.#jobs.values()].filter(({ progress }) => !isFinished(progress));
    const own = unfinished.filter((job) => job.record.client === record.client);
    checkBounds(
      record,
      {
        jobs: unfinished.length,
        ownJobs: own.length,
        ownMs: own.reduce((sum, job) => sum + heldMs(job.record, job.progress.brainMsDone, job.timed), 0),
      },
      this.limits,
    );
    const { document, limits, ...head } = record;
    this.#jobs.set(record.id, {
      record: head,
      work: serialize({ document, limits } satisfies JobWork),
      progress: {
        status: 'accepted',
        updatedMs: record.createdMs,
        conditionsDone: 0,
        brainMsDone: 0,
        highestCostMs: 0,
        resultBytes: 0,
      },
      outcomes: new Map(),
      timed: { brainMs: 0, costMs: 0 },
      ...(requestKey !== undefined && { requestKey }),
    });
    if (requestKey !== undefined) this.#requests.set(requestKey, record.id);
    return record.id;
  }

  async remove(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    if (job !== undefined) this.#remove(job);
  }

  async find(id: string): Promise<Job | undefined> {
    const job = this.#jobs.get(id);
    if (job?.work === undefined) return undefined;
    return { record: { ...job.record, ...(deserialize(job.work) as JobWork) }, progress: job.progress };
  }

  async state(id: string): Promise<JobState | undefined> {
    const job = this.#jobs.get(id);
    return job && { record: job.record, progress: job.progress };
  }

  async begin(id: string): Promise<boolean> {
    const job = this.#unfinished(id);
    if (job?.progress.status === 'accepted') {
      this.#change(job, { status: 'running', startedMs: this.nowMs() });
    }
    return job !== undefined;
  }

  async keep(id: string, condition: ComputedCondition, conditions: number): Promise<boolean> {
    const job = this.#unfinished(id);
    if (job === undefined) return false;
    const { index, outcome, brainMs, costMs } = condition;
    if (job.outcomes.has(index)) return true;
    const { conditionsDone, brainMsDone, highestCostMs, resultBytes } = job.progress;
    const { resultBytes: mostBytes, keptBytes } = this.limits;
    const isTooLarge = resultBytes + outcome.length > mostBytes;
    if (!isTooLarge) this.#makeRoom(outcome.length);
    if (isTooLarge || this.#bytes + outcome.length > keptBytes) {
      const error = isTooLarge ? resultsTooLarge(mostBytes) : noRoomForResults(keptBytes);
      await this.fail(id, failureOf(error));
      return false;
    }
    job.outcomes.set(index, outcome);
    this.#bytes += outcome.length;
    if (costMs > 0) {
      job.timed.brainMs += brainMs;
      job.timed.costMs += costMs;
    }
    this.#change(job, {
      conditionsDone: conditionsDone + 1,
      brainMsDone: brainMsDone + brainMs,
      highestCostMs: Math.max(highestCostMs, costMs),
      resultBytes: resultBytes + outcome.length,
    });
    if (job.outcomes.size === conditions) this.#finish(job, { status: 'successful' });
    return true;
  }

  async outcomes(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    const job = this.#jobs.get(id);
    return indices.map((index) => job?.outcomes.get(index));
  }

  async unfinished(): Promise<number> {
    return [...this.#jobs.values()].filter(({ progress }) => !isFinished(progress)).length;
  }

  async fail(id: string, failure: Failure): Promise<void> {
    const job = this.#unfinished(id);
    if (job === undefined) return;
    this.#removeResults(job);
    this.#finish(job, { status: 'failed', failure });
  }

  async dismiss(id: string): Promise<JobState | undefined> {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    this.#removeResults(job);
    if (job.progress.status !== 'dismissed') this.#finish(job, { status: 'dismissed' });
    return this.state(id);
  }

  #unfinished(id: string): KeptJob | undefined {
    const job = this.#jobs.get(id);
    return job === undefined || isFinished(job.progress) ? undefined : job;
  }

  #change(job: KeptJob, change: Partial<JobProgress>): void {
    job.progress = { ...job.progress, ...change, updatedMs: this.nowMs() };
  }

  #finish(job: KeptJob, change: Pick<JobProgress, 'status' | 'failure'>): void {
    const { id } = job.record;
    this.#change(job, { ...change, finishedMs: this.nowMs() });
    if (change.status !== 'successful') job.work = undefined;
    // At the end of those that finished.
    this.#jobs.delete(id);
    this.#jobs.set(id, job);
    clearTimeout(job.expiry);
    job.expiry = setTimeout(() => this.#remove(job), Math.min(this.limits.keptMs, LONGEST_TIMER_MS)).unref();
    while (this.#finished().length > this.limits.kept) this.#removeOldest(() => 1);
  }

  /** Removes finished jobs while results would need too much memory. */
  #makeRoom(bytes: number): void {
    // Those of a job that failed or was dismissed are gone.
    const bytesOf = ({ outcomes, progress }: KeptJob) => (outcomes.size > 0 ? progress.resultBytes : 0);
    while (this.#bytes + bytes > this.limits.keptBytes && this.#removeOldest(bytesOf));
  }

  /**
   * Removes the oldest finished job of the client that has most, so that no client displaces the jobs of others.
   * @param sizeOf of a job, whose sum a client has most of; jobs of size 0 stay
   * @returns whether there was one
   */
  #removeOldest(sizeOf: (job: KeptJob) => number): boolean {
    const finished = this.#finished().filter((job) => sizeOf(job) > 0);
    const sizes = new Map<string, number>();
    for (const job of finished) {
      const { client } = job.record;
      sizes.set(client, (sizes.get(client) ?? 0) + sizeOf(job));
    }
    const largest = Math.max(...sizes.values());
    const oldest = finished.find(({ record }) => sizes.get(record.client) === largest);
    if (oldest !== undefined) this.#remove(oldest);
    return oldest !== undefined;
  }

  /** Oldest first. */
  #finished(): KeptJob[] {
    return [...this.#jobs.values()].filter(({ progress }) => isFinished(progress));
  }

  #remove(job: KeptJob): void {
    clearTimeout(job.expiry);
    this.#removeResults(job);
    this.#jobs.delete(job.record.id);
    if (job.requestKey !== undefined) this.#requests.delete(job.requestKey);
  }

  #removeResults(job: KeptJob): void {
    for (const outcome of job.outcomes.values()) this.#bytes -= outcome.length;
    job.outcomes.clear();
  }
}
