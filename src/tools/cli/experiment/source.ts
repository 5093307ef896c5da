import type { LabelledNeurons } from '../../../experiments/formats/tables.js';
import type { DryRun, ExperimentEvent } from '../../../experiments/document/result.js';

/** Numbers of all trials and of those that are done. The first shrinks if some conditions turn out to need no run. */
export interface TrialProgress {
  readonly trials: number;
  readonly trialsDone: number;
  /** Conditions of a job that are done. The source emits them only after the whole job. */
  readonly conditionsDone?: number;
  /** Present if the source has its own estimate. */
  readonly secondsLeft?: number | undefined;
}

export interface SourceOptions {
  /** Aborts the experiment, which then throws the signal's reason. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: TrialProgress) => void;
}

/** Computes one open experiment, in this process or on a service. */
export interface ExperimentSource {
  /** @throws CodedError if the document is refused */
  dryRun(): Promise<DryRun>;
  /**
   * Yields the head, the conditions in the order of their index, and the totals.
   * @throws CodedError before the head if the document is refused
   */
  events(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void>;
  /** Labels of neurons by their index in answers. */
  neurons(): Promise<LabelledNeurons>;
}
