/**
 * What an open experiment answers: the parts that every format writes, in order. JSON is these objects as they are,
 * but for tables of spikes, which stay columns until a format writes them.
 */
import type { ExperimentDocument } from './document.js';

/** First: known before any trial runs. A dry run has this, with the conditions' parameters and the cost so far. */
export interface ExperimentHead {
  /** 32 hex digits of the SHA-256 of the model and the canonical document. */
  readonly id: string;
  readonly model: string;
  readonly wiring: 'measured' | 'synthetic';
  readonly side_convention: string;
  readonly experiment: ExperimentDocument;
  /** By `inputs.NAME`, `reports.NAME`, `silence`, `sweep.PLACE` (of an `each` axis), or the name of a node set. */
  readonly resolved: Readonly<Record<string, ResolvedSet>>;
}

export interface ResolvedSet {
  readonly neurons: number;
  readonly sides: Readonly<Record<string, number>>;
  /** By cell type, in the order of their names. */
  readonly types: Readonly<Record<string, number>>;
  /** Ids and types that the model lacks. */
  readonly missing: readonly string[];
}

/** A number of a swept parameter; of an `each` axis its group, null in its baseline. */
export type ParameterValue = number | Readonly<Record<string, string>> | null;

export interface ConditionParameters {
  readonly index: number;
  /** In the order of the axes, by `set`, or by `as` of an `each` axis. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

export interface MeanSd {
  readonly mean: number;
  /** Of the population: ddof 0. */
  readonly sd: number;
}

/** A condition that was run. */
export interface ConditionResult extends ConditionParameters {
  readonly complete: boolean;
  /** When the first of its trials that exceeded the event budget ended; rates are null then. */
  readonly stopped_at_ms?: number;
  readonly reason?: 'EVENT_BUDGET';
  readonly spikes: MeanSd | null;
  readonly responding_neurons: MeanSd | null;
  /** Of all trials. */
  readonly synaptic_events: number;
  readonly reports: Readonly<Record<string, ReportResult>>;
}

export type ReportResult = GroupResults | SpikeTable;

/** The groups of a report, in their order: an array, or something that makes each of them when it is asked for. */
export interface GroupResults extends Iterable<GroupResult> {
  readonly length: number;
  at(group: number): GroupResult | undefined;
}

/** A group's labels stand beside these members, by the names of `group_by`; a neuron's is its `root_id`. */
export type GroupResult = Readonly<Partial<Record<'root_id' | 'type' | 'side' | 'super_class', string>>> & {
  readonly neurons: number;
  readonly responding: MeanSd | null;
  /** Neurons with at least one spike in any trial. */
  readonly responding_any: number | null;
  readonly rate_hz: (MeanSd & { readonly trials: readonly number[] }) | null;
  /** Of a histogram: the mean rate in each bin. */
  readonly bins_hz?: readonly number[] | null;
};

/** The rows of all trials of a condition. In JSON: `trial`, `t_ms`, `root_id` (and `input`), `truncated` if so. */
export interface SpikeTable {
  readonly table: 'spikes' | 'inputs';
  readonly trials: Uint8Array;
  readonly steps: Uint16Array;
  /** Indices into the connectome. */
  readonly neurons: Uint32Array;
  /** Of `inputs`: places in `inputNames`. */
  readonly inputs?: Uint8Array;
  readonly inputNames?: readonly string[];
  readonly truncated: boolean;
}

/** Last: what it came to. */
export interface ExperimentTotals {
  /** Conditions of a lesion screen whose group never spikes in the baseline: their result is the baseline's. */
  readonly unchanged: readonly ConditionParameters['parameters'][];
  readonly cost: ExperimentCost;
  readonly warnings: readonly ExperimentWarning[];
  readonly cite: readonly string[];
  /** Of a job that is not finished: only the conditions that are done are there, and count. */
  readonly partial?: true;
}

/** The answer without results. Of an axis of responders only the baseline is among the conditions. */
export interface DryRun extends ExperimentHead {
  readonly conditions: readonly ConditionParameters[];
  readonly unchanged: readonly [];
  /** The most that it can come to; input events are the expected number. */
  readonly cost: Omit<ExperimentCost, 'synaptic_events'>;
  readonly warnings: readonly ExperimentWarning[];
  readonly cite: readonly string[];
}

export interface ExperimentCost {
  /** Conditions x trials x duration. */
  readonly brain_seconds: number;
  readonly input_events: number;
  readonly synaptic_events: number;
}

export const WARNING_CODES = [
  'SYNTHETIC_WIRING',
  'PARTIAL_WIRING',
  'RUNAWAY',
  'READOUT_STIMULATED',
  'MISSING_SKIPPED',
  'SUBSTITUTED',
] as const;

export interface ExperimentWarning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
}

/** What an experiment yields while it runs, in this order: one head, conditions and progress, one total. */
export type ExperimentEvent =
  | { readonly kind: 'head'; readonly head: ExperimentHead }
  | { readonly kind: 'condition'; readonly condition: ConditionResult }
  | { readonly kind: 'totals'; readonly totals: ExperimentTotals };
