/** A job: an experiment that nobody waits for. Everything here is plain data, which other processes may read. */
import type { ExperimentDocument } from '../experiments/document/document.js';
import type { ExperimentLimits } from '../experiments/plan/experiment-limits.js';
import type { Failure } from '../errors.js';

/** As in OGC API - Processes. */
export const JOB_STATUSES = ['accepted', 'running', 'successful', 'failed', 'dismissed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** State of a job: small, however large its document is. */
export interface JobHead {
  /** Random, so that only those know it who were told. */
  readonly id: string;
  /** Client whose places and turns it takes. */
  readonly client: string;
  /** Id of the model, with the digest of its connectome. */
  readonly model: string;
  readonly experimentId: string;
  /** The first condition of the results. */
  readonly from: number;
  /** Those that are computed: of the results, and the baselines that decide on them. */
  readonly conditions: number;
  /** Simulated time of these conditions, at most. */
  readonly brainMs: number;
  /** Price of all that is known of it before; see experiments/plan/prices.ts. */
  readonly priceMs: number;
  /** Since the epoch, as are all other times. */
  readonly createdMs: number;
}

/** Experiment that is computed. */
export interface JobWork {
  /** Complete. */
  readonly document: ExperimentDocument;
  /** Those of the service that accepted the job hold for all that compute it. */
  readonly limits: ExperimentLimits;
}

/** A job, from its beginning on. With the connectome of the model it decides every byte of the results. */
export interface JobRecord extends JobHead, JobWork {}

/** How far a job is. */
export interface JobProgress {
  readonly status: JobStatus;
  /** When its first chunk began. */
  readonly startedMs?: number;
  readonly updatedMs: number;
  /** When it succeeded, failed or was dismissed. */
  readonly finishedMs?: number;
  readonly conditionsDone: number;
  /** Simulated time of these conditions, at most. */
  readonly brainMsDone: number;
  /** The most that one of them took of one core, as far as is known; 0 where it is of none. */
  readonly highestCostMs: number;
  readonly resultBytes: number;
  readonly failure?: Failure;
}

/** State of a job for a client that follows it. */
export interface JobState {
  readonly record: JobHead;
  readonly progress: JobProgress;
}

export interface Job extends JobState {
  readonly record: JobRecord;
}

export function isFinished({ status }: Pick<JobProgress, 'status'>): boolean {
  return status !== 'accepted' && status !== 'running';
}

/** Some conditions of a phase of a job, which are computed together. */
export interface Chunk {
  readonly job: string;
  /** Model of the job: other models cannot compute it. */
  readonly model: string;
  readonly phase: number;
  /** Places in the list of the phase: from `from` up to, not including, `to`. */
  readonly from: number;
  readonly to: number;
  /** Conditions of the job in the phases before it. */
  readonly before: number;
}
