import { randomBytes } from 'node:crypto';
import type { ExperimentLimits } from '../../experiments/plan/experiment-limits.js';
import type { PlannedJob } from '../../workers/thread/messages.js';
import { CodedError, describeValue, notFound } from '../../engine/errors.js';
import { chunksOf, type ChunkQueue } from './chunk-queue.js';
import type { ChunkWorker } from './chunk-worker.js';
import type { Job, JobHead, JobRecord, JobState } from './job.js';
import type { JobStore } from './job-store.js';

/** Random bytes of a job's id: 24 characters of base64url, which nobody can guess. */
export const JOB_ID_BYTES = 18;

/** An accepted experiment that shall become a job. */
interface WantedJob {
  readonly client: string;
  readonly model: string;
  readonly planned: PlannedJob;
  readonly limits: ExperimentLimits;
  /** First condition of the results. */
  readonly from: number;
  /** The client's idempotency key, the same if it repeats the request. */
  readonly requestKey?: string | undefined;
}

/** Creates, reports and ends jobs for clients. */
export class JobsService {
  constructor(
    private readonly store: JobStore,
    private readonly queue: ChunkQueue,
    private readonly worker: ChunkWorker,
    /** Turns failures of the store and the queue into errors for clients. */
    private readonly reach: <T>(ask: () => Promise<T>) => Promise<T> = (ask) => ask(),
  ) {}

  /**
   * @returns the accepted job, or the one that the client created with the same key before
   * @throws CodedError QUEUE_FULL, TOO_EXPENSIVE, IDEMPOTENCY_KEY_REUSED; JOBS_UNAVAILABLE, like all methods
   */
  async begin({ client, model, planned, limits, from, requestKey }: WantedJob): Promise<JobState> {
    const record: JobRecord = {
      id: randomBytes(JOB_ID_BYTES).toString('base64url'),
      client,
      model,
      experimentId: planned.id,
      document: planned.document,
      limits,
      from,
      conditions: planned.needed,
      brainMs: planned.brainMs,
      priceMs: planned.priceMs,
      createdMs: Date.now(),
    };
    return this.reach(async () => {
      const id = await this.store.create(record, requestKey);
      const job = known(id, await this.store.state(id));
      checkSameExperiment(record, job.record);
      // Also for a repeated request: the process that received the first one may have died before it added the
      // chunks.
      if (job.progress.status === 'accepted') await this.#addFirstChunks(job, record.id, planned);
      return job;
    });
  }

  /** @param created the id of the job if this request created it */
  async #addFirstChunks({ record }: JobState, created: string, { phases }: PlannedJob): Promise<void> {
    try {
      await this.queue.add(chunksOf(record, phases, 0, 1));
    } catch (error) {
      // A job without chunks would count as unfinished until it expires.
      if (record.id === created) await this.store.remove(created);
      throw error;
    }
  }

  /** Numbers of jobs and waiting chunks in all processes that share them, for metrics. */
  async load(): Promise<{ readonly unfinished: number; readonly chunksWaiting: number }> {
    const { model } = this.worker;
    return this.reach(async () => ({
      unfinished: await this.store.unfinished(),
      chunksWaiting: model === undefined ? 0 : await this.queue.waiting(model),
    }));
  }

  /**
   * Returns the job with its document.
   * @throws CodedError NOT_FOUND
   */
  async job(id: string): Promise<Job> {
    return known(id, await this.reach(() => this.store.find(id)));
  }

  /** @throws CodedError NOT_FOUND */
  async state(id: string): Promise<JobState> {
    return known(id, await this.reach(() => this.store.state(id)));
  }

  /**
   * Ends a job and removes its results.
   * @throws CodedError NOT_FOUND
   */
  async dismiss(id: string): Promise<JobState> {
    const job = known(id, await this.reach(() => this.store.dismiss(id)));
    this.worker.stop(id);
    // In Redis this searches all keys, so a repeated request must not do it again.
    if (job.isNew) this.queue.remove(id, job.record.model);
    return job;
  }

  /** Returns results of conditions as bytes; undefined for a condition that is not done. */
  async results(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    return this.reach(() => this.store.results(id, indices));
  }
}

/** @throws CodedError IDEMPOTENCY_KEY_REUSED */
function checkSameExperiment(wanted: JobHead, begun: JobHead): void {
  if (begun.experimentId === wanted.experimentId && begun.from === wanted.from) return;
  throw new CodedError(
    'IDEMPOTENCY_KEY_REUSED',
    'Idempotency-Key must be a new one for each experiment; with this one the experiment ' +
      `${begun.experimentId} was begun.`,
    { path: '' },
  );
}

function known<T extends JobState>(id: string, job: T | undefined): T {
  if (job !== undefined) return job;
  throw notFound(
    `There is no job ${describeValue(id)}: it never existed, it has expired, or its store was replaced.`,
  );
}
