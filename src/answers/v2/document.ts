/**
 * The document of an open experiment: what POST /api/v2/experiments and `npm run experiment -- DOCUMENT.json` take.
 * The types here are those of the complete document: every default is written out, and equal experiments have equal
 * documents. Names follow SONATA where it has them.
 */
import type { SetSelector } from '../../connectome/set-selector.js';

/** null: until the end of the trial, where that differs between conditions. */
export type EndMs = number | null;

interface InputWindow {
  readonly node_set: SetSelector;
  readonly delay_ms: number;
  readonly duration_ms: EndMs;
}

export interface PoissonInput extends InputWindow {
  readonly module: 'poisson';
  /** Mean events of each neuron and second. */
  readonly rate_hz: number;
}

export interface SpikesInput extends InputWindow {
  readonly module: 'spikes';
  /** From the start of the trial, ascending multiples of 0.1: one list for every neuron, or one for each root id. */
  readonly times_ms: readonly number[] | Readonly<Record<string, readonly number[]>>;
}

export type InputDocument = PoissonInput | SpikesInput;

export const GROUP_LABELS = ['neuron', 'type', 'side', 'super_class'] as const;
export type GroupLabel = (typeof GROUP_LABELS)[number];

export const REPORT_TYPES = ['rate', 'histogram', 'spikes', 'inputs'] as const;
export type ReportType = (typeof REPORT_TYPES)[number];

export interface ReportDocument {
  readonly node_set: SetSelector;
  readonly type: ReportType;
  /** Empty: all neurons are one group. Of the tables `spikes` and `inputs` it is empty. */
  readonly group_by: readonly GroupLabel[];
  readonly start_ms: number;
  readonly end_ms: EndMs;
  /** Of a histogram alone. */
  readonly bin_ms?: number;
}

/** A parameter with the values that it takes in turn; `from`, `to` and `step` are written out. */
export interface SetAxis {
  /** `duration_ms`, `seed`, `inputs.NAME.rate_hz`, `inputs.NAME.delay_ms` or `inputs.NAME.duration_ms`. */
  readonly set: string;
  readonly values: readonly number[];
}

/** Groups of neurons that are silenced, or stimulated, in turn. The condition without any comes first. */
export interface EachAxis {
  readonly each: SetSelector | RespondersSelector;
  /** What makes a group; empty: all neurons are one. */
  readonly group_by: readonly GroupLabel[];
  /** `silence`, or `inputs.NAME`: the groups in place of that input's neurons. */
  readonly as: string;
}

/** The groups that responded in the baseline, the most active first. */
export interface RespondersSelector {
  readonly responders_of: 'baseline';
  readonly top: number;
}

export type SweepAxis = SetAxis | EachAxis;

export interface ExperimentDocument {
  readonly name?: string;
  readonly node_sets: Readonly<Record<string, SetSelector>>;
  readonly inputs: Readonly<Record<string, InputDocument>>;
  readonly silence: readonly SetSelector[];
  readonly duration_ms: number;
  readonly trials: number;
  readonly seed: number;
  readonly reports: Readonly<Record<string, ReportDocument>>;
  /** Absent without a sweep. The last axis varies fastest. */
  readonly sweep?: readonly SweepAxis[];
  readonly on_missing: 'error' | 'skip';
}
