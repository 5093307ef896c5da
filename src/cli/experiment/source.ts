import type { LabelledNeurons } from '../../experiments/formats/tables.js';
import type { DryRun, ExperimentEvent } from '../../experiments/run/result.js';

/** Trials in all and those that are done. Their number shrinks when it is known which conditions are not run. */
export interface TrialProgress {
  readonly trials: number;
  readonly trialsDone: number;
  /** Conditions of a job that are done; they come when all are. */
  readonly conditionsDone?: number;
  /** Where the source has an estimate of its own. */
  readonly secondsLeft?: number | undefined;
}

export interface SourceOptions {
  /** Ends the experiment, which then throws the reason of the signal. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: TrialProgress) => void;
}

/** Where one open experiment is computed: in this process, or by a service. */
export interface ExperimentSource {
  /** @throws CodedError for a document that is refused */
  dryRun(): Promise<DryRun>;
  /**
   * The head, the conditions in the order of their index, the totals.
   * @throws CodedError for a document that is refused, before the head
   */
  events(options: SourceOptions): AsyncGenerator<ExperimentEvent, void, void>;
  /** Labels of neurons in answers, by their index. */
  neurons(): Promise<LabelledNeurons>;
}
