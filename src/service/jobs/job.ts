/** A job: an experiment in the background. All of this is plain data that other processes may read. */
import type { ExperimentDocument } from '../../experiments/document/document.js';
import type { ExperimentLimits } from '../../experiments/plan/experiment-limits.js';
import type { Failure } from '../../engine/errors.js';
import { ANSWER_VERSION } from '../../experiments/plan/experiment-head.js';
import { RESULT_VERSION } from '../../experiments/run/condition-result.js';

/** Versions compute different results, so no other one goes on with a job. */
export const JOB_VERSION = `${ANSWER_VERSION}.${RESULT_VERSION}`;

/** Status codes of OGC API - Processes. */
export const JOB_STATUSES = ['accepted', 'running', 'successful', 'failed', 'dismissed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** The part of a job without its document, which may be large. */
export interface JobHead {
  /** Random, so only the client who received it can use it. */
  readonly id: string;
  /** The client to whom the job is counted and charged. */
  readonly client: string;
  /** Id of the model, which includes the digest of its connectome. */
  readonly model: string;
  readonly experimentId: string;
  /** First condition of the results. */
  readonly from: number;
  /** Number of conditions to compute: those of the results and the baselines that they depend on. */
  readonly conditions: number;
  /** Largest simulated time of these conditions. */
  readonly brainMs: number;
  /** Estimated price; see experiments/plan/prices.ts. */
  readonly priceMs: number;
  /** Milliseconds since the epoch, like all other times. */
  readonly createdMs: number;
}

/** The experiment of a job. */
export interface JobWork {
  /** Complete. */
  readonly document: ExperimentDocument;
  /** Limits of the service that accepted the job. They hold for every process that computes it. */
  readonly limits: ExperimentLimits;
}

/** A complete job. With the connectome it determines every byte of the results. */
export interface JobRecord extends JobHead, JobWork {}

/** Progress of a job. */
export interface JobProgress {
  readonly status: JobStatus;
  /** Time at which its first chunk began. */
  readonly startedMs?: number;
  readonly updatedMs: number;
  /** Time at which it succeeded, failed or was dismissed. */
  readonly finishedMs?: number;
  readonly conditionsDone: number;
  /** Largest simulated time of these conditions. */
  readonly brainMsDone: number;
  /** CPU time of the most expensive condition whose time is known; 0 if none is. */
  readonly highestCostMs: number;
  readonly resultBytes: number;
  readonly failure?: Failure;
}

/** The state of a job for a client that polls it. */
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

/** Some conditions of one phase, which are computed together. */
export interface Chunk {
  readonly job: string;
  /** Model of the job; no other model may compute it. */
  readonly model: string;
  readonly phase: number;
  /** Positions [from, to) in the phase's list of conditions. */
  readonly from: number;
  readonly to: number;
  /** Number of the job's conditions in earlier phases. */
  readonly before: number;
}
