import { randomBytes } from 'node:crypto';
import { decodeOutcome, neededIndices, type ConditionOutcome } from '../answers/v2/outcomes.js';
import type { ExperimentLimits, ExperimentPlan } from '../answers/v2/plan.js';
import { CodedError, describeValue } from '../errors.js';
import type { ChunkQueue } from './chunk-queue.js';
import type { ChunkWorker } from './chunk-worker.js';
import type { Job, JobRecord } from './job.js';
import type { JobStore } from './job-store.js';
import { chunksOf, phasesOf } from './phases.js';

/** In base64url, of which 24 characters nobody guesses. */
const NAME_BYTES = 18;
/** Outcomes that are read from the store at once. */
const READ_AT_ONCE = 32;

/** An experiment that was found good and is to become a job. */
export interface JobOrder {
  readonly client: string;
  readonly model: string;
  readonly plan: ExperimentPlan;
  readonly limits: ExperimentLimits;
}

/** The jobs that clients begin, follow and end. */
export class JobsService {
  constructor(
    private readonly store: JobStore,
    private readonly queue: ChunkQueue,
    private readonly worker: ChunkWorker,
  ) {}

  /**
   * @returns the job as it was accepted
   * @throws CodedError QUEUE_FULL, TOO_EXPENSIVE
   */
  async begin({ client, model, plan, limits }: JobOrder): Promise<Job> {
    const record: JobRecord = {
      id: randomBytes(NAME_BYTES).toString('base64url'),
      client,
      model,
      experimentId: plan.head.id,
      document: plan.head.experiment,
      limits,
      conditions: plan.conditions,
      brainMs: plan.brainSeconds() * 1000,
      createdMs: Date.now(),
    };
    await this.store.create(record);
    const job = await this.job(record.id);
    const [first] = phasesOf(plan.grid);
    await this.queue.add(chunksOf(record.id, 0, first!.length, 1));
    return job;
  }

  /** @throws CodedError NOT_FOUND */
  async job(id: string): Promise<Job> {
    return known(id, await this.store.find(id));
  }

  /**
   * Ends a job and removes its results.
   * @throws CodedError NOT_FOUND
   */
  async dismiss(id: string): Promise<Job> {
    const job = known(id, await this.store.dismiss(id));
    this.worker.stop(id);
    await this.queue.remove(id);
    return job;
  }

  /**
   * What eventsOfOutcomes takes.
   * @param from the first condition of the answer
   */
  async *outcomes(
    id: string,
    plan: ExperimentPlan,
    from: number,
  ): AsyncGenerator<readonly [index: number, outcome: ConditionOutcome | undefined], void, void> {
    const indices = neededIndices(plan, from);
    for (let at = 0; at < indices.length; at += READ_AT_ONCE) {
      const some = indices.slice(at, at + READ_AT_ONCE);
      const outcomes = await this.store.outcomes(id, some);
      for (const [place, index] of some.entries()) {
        const bytes = outcomes[place];
        yield [index, bytes && decodeOutcome(bytes)];
      }
    }
  }
}

function known(id: string, job: Job | undefined): Job {
  if (job !== undefined) return job;
  throw new CodedError(
    'NOT_FOUND',
    `There is no job ${describeValue(id)}: it was never there, or its results were kept long enough.`,
  );
}
