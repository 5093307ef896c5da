/**
 * Limits on one experiment; Infinity where there is no limit. The event budget ends trials, tableRows makes pages, the
 * others refuse.
 */
export interface ExperimentLimits {
  readonly conditions: number;
  /** Neurons of all selectors together: bounds what it costs to plan, which nobody is charged for. */
  readonly selectedNeurons: number;
  /** Conditions x trials x duration. */
  readonly brainSeconds: number;
  /** Expected input events of a trial, and of a second of a longer one. Jobs of earlier versions have no such number. */
  readonly inputEventsPerTrial: number;
  readonly inputEventsPerBrainSecond?: number;
  /** The event budget of every trial, and of each second of one that goes on for so long. */
  readonly synapticEventsPerTrial: number;
  readonly synapticEventsPerBrainSecond?: number;
  /**
   * Connections that the overrides of a condition name together, as workers keep their memory. Earlier jobs have none.
   */
  readonly overriddenPairs?: number;
  /** Rows of all tables of events together: on a page of an answer; of a condition of a job. */
  readonly tableRows: number;
  /** Membrane potentials in an answer, on all of its pages. */
  readonly samples: number;
  /** Numbers of groups in an answer: of each condition and group one for each trial, bin and control, and 10. */
  readonly groupNumbers: number;
}
