/**
 * The task of a trial, which a worker receives, and the trial result, which it returns. All are plain data that cross threads.
 * Arrays of a condition lie in shared memory (sharedArray), so sending a task copies none of them.
 *
 * A long trial is simulated in segments. Between two segments it is a TrialProgress; between two steps of a session it is a
 * SegmentState.
 */
import type { StateMemory } from '../../engine/simulation/simulation.js';
import type { TrainCursors } from '../../engine/stimulus/input-events.js';
import type { Input, Protocol } from '../../engine/stimulus/protocol.js';
import type { RateTotals } from '../../engine/stimulus/rate-table.js';
import type { ConditionTrain } from '../kinds/input-kind.js';
import type {
  ReportKind,
  ReportResult,
  ReportTask,
  ReportWindow,
  SpikeCounts,
} from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { joined } from '../kinds/reports/group-counts.js';
import type { Work } from './prices.js';

export interface TrialTask {
  readonly protocol: Protocol;
  readonly reports: readonly ReportTask[];
  /** True if the counts of all neurons are needed, because this is a baseline that decides other cells. */
  readonly countsAll: boolean;
  /** Maximum number of rows that all tables of the trial return. Further rows are counted. By default each report has its own limit. */
  readonly maxRows?: number;
  /** Work of a worker before the first trial of the cell. */
  readonly preparation?: Work;
  /** Expected work of the trial. The planning thread computes it once for all trials of the cell. */
  readonly expected?: Work;
}

/** The task of all trials of a cell, which differ only in the number of the trial. It is sent to a worker once. */
export interface ConditionTask extends Omit<TrialTask, 'protocol'> {
  readonly protocol: ConditionProtocol;
}

export type ConditionProtocol = Omit<Protocol, 'inputs'> & { readonly inputs: readonly ConditionInput[] };

export interface ConditionInput extends Omit<Input, 'train'> {
  readonly train: ConditionTrain;
  /** Totals of its rates, in a session and if they differ or change. They take too long for the main thread. */
  readonly rateTotals?: RateTotals;
}

export function trialTask({ protocol, ...task }: ConditionTask, trial: number): TrialTask {
  const inputs = protocol.inputs.map(({ neurons, train }): Input => ({
    neurons,
    train: train.kind === 'spikes' ? train : { ...train, trial },
  }));
  return { ...task, protocol: { ...protocol, inputs } };
}

/** The result of a trial. */
export interface TrialResult {
  /** Spikes of all neurons. */
  readonly spikes: number;
  /** Neurons with at least one spike. */
  readonly responding: number;
  readonly inputEvents: number;
  readonly synapticEvents: number;
  /** The last simulated step, if the event budget ended the trial. */
  readonly stoppedAtStep?: number;
  /** In the order of the task's reports. */
  readonly reports: readonly ReportResult[];
  /** Spike counts of the whole trial, if the task has `countsAll`. */
  readonly counts?: SpikeCounts;
  /** Otherwise the neurons with a spike, ascending. A list is faster than a bit for each neuron, even with 100,000 of them. */
  readonly responders?: Uint32Array;
}

/** The state of a trial between two segments, in shared memory. The next segment does not change it, so it can be repeated. */
export interface SegmentState {
  /** See simulation/cpu/trial-state.ts. */
  readonly brain: StateMemory;
  readonly cursors: TrainCursors;
}

/** A trial after some of its segments: the state for the next one, and the result so far. */
export interface TrialProgress {
  /** The step that comes next. */
  readonly step: number;
  readonly state: SegmentState;
  /** An older state whose memory the next state may use. */
  readonly spare: SegmentState | undefined;
  readonly trialResult: TrialResult;
}

export function isProgress(result: TrialResult | TrialProgress): result is TrialProgress {
  return 'trialResult' in result;
}

/** A step of a session: it simulates the steps of 0.1 ms of a window. */
export interface SessionStep extends ReportWindow {
  /** Unique among the steps of all sessions. A worker that computed the previous step may still hold its state. */
  readonly number: number;
  readonly previousNumber: number | undefined;
  /** Undefined at rest. */
  readonly stateBefore: SegmentState | undefined;
  /** Memory for the state after the step; if undefined, the worker allocates it. */
  readonly memoryAfter: SegmentState | undefined;
  /** Synaptic events before this step. */
  readonly synapticEvents: number;
  readonly readsDrives: boolean;
}

/** The result of a step, except that synaptic events count from the start of the session. */
export interface StepResult extends TrialResult {
  readonly state: SegmentState;
  /** True if the worker had to prepare the session's network first. */
  readonly hadToPrepare: boolean;
  /** The drives of version 1, by name. */
  readonly drives?: Readonly<Record<string, number>>;
}

/** Joins the results of two segments of a trial, as if both had been read at once. */
export function joinedResult({ reports }: TrialTask, first: TrialResult, second: TrialResult): TrialResult {
  const counts = first.counts && joined(['neurons', 'spikes'], first.counts, second.counts!);
  const keyed = ({ responders }: TrialResult) => ({ keys: responders!, values: responders! });
  const responders = first.responders && joined(['keys', 'values'], keyed(first), keyed(second)).keys;
  return {
    spikes: first.spikes + second.spikes,
    responding: (counts?.neurons ?? responders!).length,
    inputEvents: first.inputEvents + second.inputEvents,
    // The engine counts from the start of the trial.
    synapticEvents: second.synapticEvents,
    ...(second.stoppedAtStep !== undefined && { stoppedAtStep: second.stoppedAtStep }),
    reports: reports.map((report, at) =>
      kindOf(report).join(report, first.reports[at]!, second.reports[at]!),
    ),
    ...(counts ? { counts } : { responders: responders! }),
  };
}

type Recording = ReturnType<NonNullable<ReportKind['recordingOf']>>;

/** The recordings that the engine must make in a trial, in the order of their reports. */
export function recordingsOf({ reports }: Pick<TrialTask, 'reports'>): Recording[] {
  return reports.flatMap((report) => kindOf(report).recordingOf?.(report) ?? []);
}

/** The arrays of a trial result. Nothing else uses their memory, so it can be transferred to another thread. */
export function arraysOfResult({ reports, counts, responders }: TrialResult): ArrayBufferView<ArrayBuffer>[] {
  const parts = [...reports, { ...counts, responders }].flatMap((part) => Object.values(part).flat());
  return parts.filter((part) => ArrayBuffer.isView(part)) as ArrayBufferView<ArrayBuffer>[];
}
