import { LRUCache } from 'lru-cache';
import { CodedError } from '../errors.js';
import type { JobRecord } from './job.js';
import type { JobModel } from './job-host.js';
import type { JobStore } from './job-store.js';

/** A job ended while it was being computed: nobody wants the rest. */
export class JobEnded extends Error {}

/** A job was begun with a model that this process does not serve. Another process may, and computes it. */
export class OtherModel extends CodedError {
  constructor(model: string) {
    super('NOT_FOUND', `The job was begun with the model ${model}, which is no longer served.`);
  }
}

/** A job, and the conditions of each of its phases. */
export interface OpenedJob {
  readonly record: JobRecord;
  readonly phases: readonly (readonly number[])[];
}

type OpeningModel = Pick<JobModel, 'id' | 'experiments'>;

/** Jobs that are kept: more than are computed in turn, as a rule. */
const OPENED_JOBS = 8;

/** The jobs that a process has opened last. Chunks of a job that begin together wait for one plan. */
export class OpenedJobs {
  readonly #opened: LRUCache<string, OpenedJob, { id: string; model: OpeningModel }>;

  constructor(store: Pick<JobStore, 'find'>) {
    this.#opened = new LRUCache({
      max: OPENED_JOBS,
      // Its reader waits for it, also where others take its place meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: (_, __, { context: { id, model } }) => open(store, id, model),
    });
  }

  /** @throws JobEnded where there is no such job, OtherModel, and as WorkHandler.openJob */
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
