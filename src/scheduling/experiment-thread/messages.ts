/** Plain data that the service and the thread of experiments exchange. */
import type { ConnectionQuestion } from '../../connectome/connections.js';
import type { NeuronPatterns } from '../../connectome/neuron-search.js';
import type { ExperimentDocument } from '../../experiments/document/document.js';
import type { AnswerOrder } from '../../experiments/formats/answer.js';
import type { TableFormat } from '../../experiments/formats/formats.js';
import type { ExperimentLimits } from '../../experiments/plan/experiment-limits.js';
import type { ConditionTask } from '../../experiments/plan/trial.js';

export interface DocumentLimits extends ExperimentLimits {
  /** Types and root ids that a document may name. */
  readonly ids: number;
}

export interface NeuronSearch {
  readonly patterns: NeuronPatterns;
  readonly from: number;
  readonly limit: number;
  readonly format: 'json' | 'csv';
}

export interface ConnectionSearch extends Omit<ConnectionQuestion, 'sources' | 'targets'> {
  /** Selectors as the query has them. */
  readonly source: string;
  readonly target: string;
  /** Types and root ids that they may name. */
  readonly ids: number;
  readonly format: 'json' | TableFormat;
}

export interface ConnectionPage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The row that the next page begins with, if there is one. */
  readonly next: number | undefined;
}

export interface CardSearch {
  readonly of: 'neuron' | 'type';
  readonly index: number;
}

/** An experiment that was found good. Nothing has been simulated. */
export interface PlannedExperiment {
  /** Id of the experiment. */
  readonly id: string;
  /** Conditions of the answer. */
  readonly conditions: number;
  /** All that it may take, in whole milliseconds of simulated time. */
  readonly brainMs: number;
  /** Its price as far as that is known before, in milliseconds of simulated time. */
  readonly priceMs: number;
}

export interface PlannedJob extends PlannedExperiment {
  /** Complete. */
  readonly document: ExperimentDocument;
  /** Conditions that are computed: of the results, and the baselines that decide on them. */
  readonly needed: number;
  readonly phases: readonly (readonly number[])[];
}

/** A job as it was accepted, which decides every byte of its results. */
export interface AcceptedJob {
  readonly id: string;
  /** Complete. */
  readonly document: ExperimentDocument;
  readonly limits: ExperimentLimits;
  readonly from: number;
}

export interface ResultsOrder extends AnswerOrder {
  /** Rows that the tables of an answer in its format may have. */
  readonly limitRows: number;
  /** Tells that some of the conditions that the answer needs may be missing. */
  readonly isPartial: boolean;
}

export interface DryRunAnswer {
  /** Id of the experiment. */
  readonly id: string;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** A condition of a job, computed. */
export interface OutcomePiece {
  readonly index: number;
  /** Its outcome. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Simulated time that the plan expected of it. */
  readonly brainMs: number;
}

/** Trials that are asked for together; the task of a condition that was sent before is not sent again. */
export type TrialBundle = readonly {
  /** A number that stands for the condition from then on. */
  readonly condition: number;
  readonly task?: ConditionTask;
  readonly trial: number;
}[];

/** Conditions whose tasks are remembered, of which those that were used longest ago are forgotten. */
export const KNOWN_CONDITIONS = 32;

/** Outcomes of a job's conditions; undefined where there is none. */
export type Outcomes = readonly (Uint8Array | undefined)[];
