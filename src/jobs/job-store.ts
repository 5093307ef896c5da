import type { Failure } from '../errors.js';
import type { Job, JobRecord, JobState } from './job.js';

export interface JobLimits {
  /** Unfinished jobs of a client, and of all clients. */
  readonly perClient: number;
  readonly atOnce: number;
  /** Price of what is left of the unfinished jobs of a client. */
  readonly brainMsPerClient: number;
  /** Compressed results of one job. */
  readonly resultBytes: number;
  /** Finished jobs. */
  readonly kept: number;
  readonly keptMs: number;
}

/** A condition that was computed. */
export interface ComputedCondition {
  readonly index: number;
  readonly outcome: Buffer;
  /** Simulated time that the plan expected of it. */
  readonly brainMs: number;
  /** Time of one core that it took; 0 where that is not known. */
  readonly costMs: number;
}

/** Where jobs and their results are: in this process, or in a Redis that several processes share. */
export interface JobStore {
  /**
   * @param requestKey what the client calls its request; a repeated one creates nothing
   * @returns the id of the record, or that of the job which the client created with the same key before
   * @throws CodedError QUEUE_FULL, TOO_EXPENSIVE where the client or all clients have too much already
   */
  create(record: JobRecord, requestKey?: string): Promise<string>;

  /** Removes a job that was created but of which nothing can be computed. */
  remove(id: string): Promise<void>;

  /** @returns undefined where it is not known, or no longer, or ended without results: then its state alone is kept */
  find(id: string): Promise<Job | undefined>;

  /** As find, without the document, which may be large: what those who follow the job ask for again and again. */
  state(id: string): Promise<JobState | undefined>;

  /** Says that the job is being computed. Tells whether it is still wanted. */
  begin(id: string): Promise<boolean>;

  /**
   * Keeps the outcome of a condition. One that is there already stays, and nothing is counted twice. The job succeeds
   * with its last condition, and fails when its results need too many bytes.
   * @param conditions how many the job has
   * @returns whether the job is still wanted
   */
  keep(id: string, condition: ComputedCondition, conditions: number): Promise<boolean>;

  /** In the order of the indices; undefined where a condition is not done. */
  outcomes(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]>;

  unfinished(): Promise<number>;

  /** Ends a job that is not finished. */
  fail(id: string, failure: Failure): Promise<void>;

  /** Ends a job and removes its results. */
  dismiss(id: string): Promise<JobState | undefined>;
}
