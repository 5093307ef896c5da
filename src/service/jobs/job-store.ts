import type { Failure } from '../../engine/errors.js';
import type { Job, JobRecord, JobState } from './job.js';

export interface JobLimits {
  /** Unfinished jobs of one client, and in total. */
  readonly perClient: number;
  readonly atOnce: number;
  /** Remaining price of a client's unfinished jobs. */
  readonly brainMsPerClient: number;
  /** Bytes of compressed results of one job. */
  readonly resultBytes: number;
  /** Finished jobs that are stored. */
  readonly maxFinished: number;
  /** A job that nothing changes for this long expires. */
  readonly storedForMs: number;
}

/** A computed condition. */
export interface ComputedCondition {
  readonly index: number;
  readonly result: Buffer;
  /** Simulated time that the plan estimated for it. */
  readonly brainMs: number;
  /** CPU time that it took; 0 if unknown. */
  readonly costMs: number;
}

export interface DismissedJob extends JobState {
  /** False if the job had been dismissed before. */
  readonly isNew: boolean;
}

/** Stores jobs and their results: on disk for one process, or in a Redis that several processes share. */
export interface JobStore {
  /**
   * @param requestKey the client's idempotency key; a repeated one creates nothing
   * @returns the id of the record, or of the job that the client created with this key before
   * @throws CodedError QUEUE_FULL or TOO_EXPENSIVE if there is too much unfinished work
   */
  create(record: JobRecord, requestKey?: string): Promise<string>;

  /** Removes a created job that cannot be computed. */
  remove(id: string): Promise<void>;

  /**
   * @returns undefined if the job is unknown or expired, or if it ended without results and only its state is stored
   */
  find(id: string): Promise<Job | undefined>;

  /** Like find, but without the document, which may be large. Clients that poll use this. */
  state(id: string): Promise<JobState | undefined>;

  /**
   * Marks the job as running.
   * @returns true if it is still wanted
   */
  begin(id: string): Promise<boolean>;

  /**
   * Stores the result of a condition. An existing result stays, and nothing is counted twice. The job succeeds with
   * its last condition; it fails if its results need too many bytes.
   * @param conditions number of conditions of the job
   * @returns true if the job is still wanted
   */
  keep(id: string, condition: ComputedCondition, conditions: number): Promise<boolean>;

  /** @returns results in the order of the indices; undefined for a condition that is not done */
  results(id: string, indices: readonly number[]): Promise<(Buffer | undefined)[]>;

  unfinished(): Promise<number>;

  /** Fails an unfinished job. */
  fail(id: string, failure: Failure): Promise<void>;

  /** Ends a job and removes its results. */
  dismiss(id: string): Promise<DismissedJob | undefined>;
}
