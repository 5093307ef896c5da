import { randomBytes } from 'node:crypto';
import type { ExperimentLimits } from '../experiments/plan/experiment-limits.js';
import type { PlannedJob } from '../scheduling/experiment-thread/messages.js';
import { CodedError, describeValue } from '../errors.js';
import { chunksOf, type ChunkQueue } from './chunk-queue.js';
import type { ChunkWorker } from './chunk-worker.js';
import type { Job, JobHead, JobRecord, JobState } from './job.js';
import type { JobStore } from './job-store.js';

/** In base64url, of which 24 characters nobody guesses. */
const NAME_BYTES = 18;

/** An experiment that was found good and is to become a job. */
interface JobOrder {
  readonly client: string;
  readonly model: string;
  readonly planned: PlannedJob;
  readonly limits: ExperimentLimits;
  /** The first condition of the results. */
  readonly from: number;
  /** Key of the client for its request, the same when it repeats it. */
  readonly requestKey?: string | undefined;
}

/** The jobs that clients begin, follow and end. */
export class JobsService {
  constructor(
    private readonly store: JobStore,
    private readonly queue: ChunkQueue,
    private readonly worker: ChunkWorker,
    /** Makes failures of the store and the queue those that clients understand. */
    private readonly reach: <T>(ask: () => Promise<T>) => Promise<T> = (ask) => ask(),
  ) {}

  /**
   * @returns the job as it was accepted, or the one that the client began with the same key before
   * @throws CodedError QUEUE_FULL, TOO_EXPENSIVE, IDEMPOTENCY_KEY_REUSED, and as all methods JOBS_UNAVAILABLE
   */
  async begin({ client, model, planned, limits, from, requestKey }: JobOrder): Promise<JobState> {
    const record: JobRecord = {
      id: randomBytes(NAME_BYTES).toString('base64url'),
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
      // Also of an earlier request: the process that it came to may have ended before this.
      if (job.progress.status === 'accepted') await this.#addFirstChunks(job, record.id, planned);
      return job;
    });
  }

  /** @param created id of the job that this request created, if it did */
  async #addFirstChunks({ record }: JobState, created: string, { phases }: PlannedJob): Promise<void> {
    try {
      await this.queue.add(chunksOf(record, phases, 0, 1));
    } catch (error) {
      // A job without chunks would count as unfinished until it expires.
      if (record.id === created) await this.store.remove(created);
      throw error;
    }
  }

  /** Jobs and chunks, of all processes that share them; for the metrics. */
  async load(): Promise<{ readonly unfinished: number; readonly chunksWaiting: number }> {
    const { model } = this.worker;
    return this.reach(async () => ({
      unfinished: await this.store.unfinished(),
      chunksWaiting: model === undefined ? 0 : await this.queue.waiting(model),
    }));
  }

  /**
   * The job with its document.
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
    this.queue.remove(id, job.record.model);
    return job;
  }

  /** Outcomes of conditions as bytes; undefined where a condition is not done. */
  async outcomes(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]> {
    return this.reach(() => this.store.outcomes(id, indices));
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
  throw new CodedError(
    'NOT_FOUND',
    `There is no job ${describeValue(id)}: it never existed, it has expired, or the service lost it in a restart.`,
  );
}
