/** Plain data in messages between the service and the experiment thread. */
import type { ExperimentDocument } from '../../experiments/document/document.js';
import type { AnswerRequest } from '../../experiments/formats/answer.js';
import type { ExperimentLimits } from '../../experiments/plan/experiment-limits.js';
import type { ConditionTask } from '../../experiments/plan/trial.js';

export interface DocumentLimits extends ExperimentLimits {
  /** Limit of types and root ids that a document names. */
  readonly ids: number;
}

export interface CardSearch {
  readonly of: 'neuron' | 'type';
  readonly index: number;
}

/** An accepted experiment; nothing has been simulated yet. */
export interface PlannedExperiment {
  /** Id of the experiment. */
  readonly id: string;
  /** Number of conditions in the answer. */
  readonly conditions: number;
  /** Largest simulated time, in whole milliseconds. */
  readonly brainMs: number;
  /** The estimated price, in milliseconds of simulated time. */
  readonly priceMs: number;
}

export interface PlannedJob extends PlannedExperiment {
  /** Complete. */
  readonly document: ExperimentDocument;
  /** Number of conditions to compute: those of the answer and the baselines that they depend on. */
  readonly needed: number;
  readonly phases: readonly (readonly number[])[];
}

/** A job as accepted. With the connectome it determines every byte of the results. */
export interface AcceptedJob {
  readonly id: string;
  readonly experimentId: string;
  /** Complete. */
  readonly document: ExperimentDocument;
  readonly limits: ExperimentLimits;
  readonly from: number;
}

export interface ResultsRequest extends AnswerRequest {
  /** Limit of rows in the tables of an answer in this format. */
  readonly limitRows: number;
  /** True if some conditions of the answer may be missing. */
  readonly isPartial: boolean;
}

export interface DryRunAnswer {
  /** Id of the experiment. */
  readonly id: string;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** A condition of a job, computed. */
export interface ConditionPiece {
  readonly index: number;
  /** Its result, encoded. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Simulated time that the plan estimated for it. */
  readonly brainMs: number;
}

/** Trials that one message asks for. The task of a condition is sent only with its first trial. */
export type TrialBundle = readonly {
  /** Number of the condition in later messages. */
  readonly condition: number;
  readonly task?: ConditionTask;
  readonly trial: number;
}[];

/** Number of condition tasks that both sides remember, most recently used ones first. */
export const KNOWN_CONDITIONS = 32;

/** Stored results of some conditions of a job; undefined for a condition that has none. */
export type StoredResults = readonly (Uint8Array | undefined)[];
