/**
 * Limits on one experiment. Infinity means no limit. The event budget ends trials, tableRows divides answers into pages, and
 * all others refuse the experiment. Optional limits are absent in jobs that an earlier version has stored.
 */
export interface ExperimentLimits {
  readonly conditions: number;
  /** Neurons of all selectors together. Bounds the work of planning, which is free of charge. */
  readonly selectedNeurons: number;
  /** Conditions x trials x duration. */
  readonly brainSeconds: number;
  /** The same for a job, if the experiment is not one: a message names the job that would be accepted. */
  readonly brainSecondsOfJob?: number;
  /** Expected input events of a trial: the first number or, if larger, the second times the seconds of the trial. */
  readonly inputEventsPerTrial: number;
  readonly inputEventsPerBrainSecond?: number;
  /** Event budget of a trial: the first number or, if larger, the second times the seconds simulated so far. */
  readonly synapticEventsPerTrial: number;
  readonly synapticEventsPerBrainSecond?: number;
  /** Connections of all overrides of a condition. Workers hold them in memory. */
  readonly overriddenPairs?: number;
  /** Rows of all tables of events: on a page of an answer; in a job, of a condition. */
  readonly tableRows: number;
  /** Membrane potentials on all pages of an answer. */
  readonly samples: number;
  /** Numbers of groups in an answer: for each condition and group 10, and one for each trial, bin and control. */
  readonly groupNumbers: number;
}

/** The limits that a service and a tab share: they bound memory, and the work of one trial. */
export const FIXED_LIMITS = {
  /** Types and root ids that a document names. */
  ids: 10_000,
  /** Neurons that all selectors of a document select together. */
  selectedNeurons: 1_000_000,
  inputEventsPerTrial: 2_000_000,
  inputEventsPerBrainSecond: 400_000,
  /**
   * Event budget of a trial: it stops after this many synaptic events, or after the next limit times its simulated
   * seconds, whichever is larger.
   */
  synapticEventsPerTrial: 50_000_000,
  synapticEventsPerBrainSecond: 25_000_000,
  /** Connections that the overrides of one condition name together. */
  overriddenPairs: 1_000_000,
  /** Numbers about groups in an answer: 10 for each condition and group, and one for each trial, bin and control. */
  groupNumbers: 10_000_000,
  /** Membrane potentials in an answer with all its pages, or in a step of a session. */
  samples: 2_000_000,
} as const;
/** Rows of spikes, input events and membrane potentials on a page of JSON or NDJSON. */
export const JSON_ROWS = 200_000;
/** The same for CSV, Arrow and Parquet, and for a condition of a job. */
export const TABLE_ROWS = 2_000_000;
