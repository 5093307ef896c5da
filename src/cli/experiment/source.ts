import type { LabelledNeurons } from '../../answers/v2/formats/tables.js';
import type { DryRun, ExperimentEvent } from '../../answers/v2/result.js';

/** Trials in all and those that are done. Their number shrinks when it is known which conditions are not run. */
export interface TrialProgress {
  readonly trials: number;
  readonly trialsDone: number;
  /** Of a job, whose conditions come when all are done. */
  readonly conditionsDone?: number;
  /** Where the source has an estimate of its own. */
  readonly secondsLeft?: number;
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
  /** What files of spikes say of the neurons, by their index. */
  neurons(): Promise<LabelledNeurons>;
}
