import { LRUCache } from 'lru-cache';
import { ConditionsApart } from '../answers/v2/run-apart.js';
import { decodeOutcome } from '../answers/v2/outcomes.js';
import { planInParts, type ExperimentPlan } from '../answers/v2/plan.js';
import type { Connectome } from '../connectome/connectome.js';
import { NodeSetResolver } from '../connectome/node-set-resolver.js';
import { CodedError } from '../errors.js';
import type { LoadedModel } from '../health/model-health.js';
import type { InParts } from '../parts.js';
import { withPauses } from '../pauses.js';
import type { JobRecord } from './job.js';
import type { JobStore } from './job-store.js';
import { phasesOf } from './phases.js';

/** A job ended while it was being computed: nobody wants the rest. */
export class JobEnded extends Error {}

/** A job was begun with a model that this process does not serve. Another process may, and computes it. */
export class OtherModel extends CodedError {
  constructor(model: string) {
    super('NOT_FOUND', `The job was begun with the model ${model}, which is no longer served.`);
  }
}

/** A job with the plan of its experiment. */
export interface OpenedJob {
  readonly record: JobRecord;
  readonly plan: ExperimentPlan;
  readonly phases: readonly (readonly number[])[];
  readonly conditions: ConditionsApart;
  /** Ends what this process computes of it. */
  readonly stop: AbortController;
}

/** Jobs whose plans are kept: more than are computed in turn, as a rule. */
const OPENED_JOBS = 8;

/** The jobs that a process has opened last. Chunks of a job that begin together wait for one plan. */
export class OpenedJobs {
  /** By model and job. */
  readonly #opened = new LRUCache<string, Promise<OpenedJob>>({ max: OPENED_JOBS });

  constructor(private readonly store: JobStore) {}

  /** @throws JobEnded where there is no such job, OtherModel */
  async open(id: string, model: Pick<LoadedModel, 'id' | 'connectome'>): Promise<OpenedJob> {
    const key = `${model.id} ${id}`;
    const known = this.#opened.get(key);
    if (known !== undefined && !(await known).stop.signal.aborted) return known;
    // While this one waited, another chunk may have opened it anew.
    const newer = this.#opened.get(key);
    if (newer !== undefined && newer !== known) return newer;
    const opening = this.#open(id, model);
    this.#opened.set(key, opening);
    opening.catch(() => {
      if (this.#opened.peek(key) === opening) this.#opened.delete(key);
    });
    return opening;
  }

  async #open(id: string, { id: modelId, connectome }: Pick<LoadedModel, 'id' | 'connectome'>) {
    const job = await this.store.find(id);
    if (job === undefined) throw new JobEnded();
    if (job.record.model !== modelId) throw new OtherModel(job.record.model);
    return openJob(job.record, connectome, this.store);
  }
}

/** @throws CodedError where the document does not fit the connectome, which the service that accepted it has ruled out */
async function openJob(record: JobRecord, connectome: Connectome, store: JobStore): Promise<OpenedJob> {
  const plan = await withPauses(planJob(record, connectome));
  const load = async (index: number) => {
    const [bytes] = await store.outcomes(record.id, [index]);
    if (bytes === undefined) throw new JobEnded();
    return decodeOutcome(bytes);
  };
  return {
    record,
    plan,
    phases: phasesOf(plan.grid, record.from),
    conditions: new ConditionsApart(plan, load),
    stop: new AbortController(),
  };
}

export function planJob({ document, limits }: JobRecord, connectome: Connectome): InParts<ExperimentPlan> {
  return planInParts(connectome, document, new NodeSetResolver(connectome, document), limits);
}
