import { LRUCache } from 'lru-cache';
import { CodedError } from '../../engine/errors.js';
import type { ExperimentQueue } from '../../workers/queue/experiment-queue.js';
import type { ExperimentThread } from '../../workers/thread/experiment-thread.js';
import type { JobRecord } from './job.js';
import type { JobStore } from './job-store.js';

/** The members of a loaded model that jobs use. */
export interface JobModel {
  readonly id: string;
  readonly queue: Pick<
    ExperimentQueue,
    'runTrial' | 'trialsAtOnce' | 'trialsInFlight' | 'hasRoomForBackground'
  >;
  readonly experiments: Pick<ExperimentThread, 'openChunk'>;
}

/** Thrown if a job ended while it was being computed, so the rest is not needed. */
export class JobEnded extends Error {}

/** Thrown if this process does not serve the job's model. Another process may serve it and compute the job. */
export class OtherModel extends CodedError {
  constructor(model: string) {
    super('NOT_FOUND', `The job was begun with the model ${model}, which is no longer served.`);
  }
}

/** A job with the conditions of each phase. */
export interface OpenedJob {
  readonly record: JobRecord;
  readonly phases: readonly (readonly number[])[];
}

type OpeningModel = Pick<JobModel, 'id' | 'experiments'>;

/** Number of cached jobs, usually more than are computed at a time. */
const OPENED_JOBS = 8;

/** Caches the jobs that this process opened last. Chunks of a job that begin together share one plan. */
export class OpenedJobs {
  readonly #opened: LRUCache<string, OpenedJob, { id: string; model: OpeningModel }>;

  constructor(store: Pick<JobStore, 'find'>) {
    this.#opened = new LRUCache({
      max: OPENED_JOBS,
      // A caller waits for the job even if newer entries evict it meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: (_, __, { context: { id, model } }) => open(store, id, model),
    });
  }

  /** @throws JobEnded if there is no such job; OtherModel; failures of WorkHandler.openJob */
  async open(id: string, model: OpeningModel): Promise<OpenedJob> {
    return (await this.#opened.fetch(`${model.id} ${id}`, { context: { id, model } }))!;
  }
}

async function open(store: Pick<JobStore, 'find'>, id: string, model: OpeningModel): Promise<OpenedJob> {
  const job = await store.find(id);
  if (job === undefined) throw new JobEnded();
  const { record } = job;
  if (record.model !== model.id) throw new OtherModel(record.model);
  const work = model.experiments.openChunk(record.client, id);
  try {
    return { record, phases: await work.call('openJob', record) };
  } finally {
    work.end();
  }
}
