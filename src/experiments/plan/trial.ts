/**
 * One trial of an open experiment as a worker gets it, and what it gives back. Plain data that crosses threads. The
 * arrays that belong to a condition lie in shared memory (see sharedArray), so a task carries references and no copies.
 */
import type { TrainCursors } from '../../stimulus/input-events.js';
import type { Input, Protocol } from '../../stimulus/protocol.js';
import type { ConditionTrain } from '../kinds/input-kinds.js';
import type { ReportKind, ReportReading, ReportTask, SpikeCounts } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { joined } from '../kinds/reports/group-counts.js';
import type { Work } from './prices.js';

export interface TrialTask {
  readonly protocol: Protocol;
  readonly reports: readonly ReportTask[];
  /** Tells whether the counts of all neurons are needed: of a baseline, whose responders decide what comes next. */
  readonly countsAll: boolean;
  /** Rows that all tables of the trial together return at most; they count all. By default as many as their reports say. */
  readonly maximumRows?: number;
  /** Work of a worker before the first trial of the condition. */
  readonly preparation?: Work;
}

/** All trials of one condition, which differ in nothing but the number of the trial. Plain data, sent once. */
export interface ConditionTask extends Omit<TrialTask, 'protocol'> {
  readonly protocol: ConditionProtocol;
}

export type ConditionProtocol = Omit<Protocol, 'inputs'> & { readonly inputs: readonly ConditionInput[] };

export interface ConditionInput extends Omit<Input, 'train'> {
  readonly train: ConditionTrain;
}

export function trialTask({ protocol, ...task }: ConditionTask, trial: number): TrialTask {
  const inputs = protocol.inputs.map(({ neurons, train }): Input => ({
    neurons,
    train: train.kind === 'spikes' ? train : { ...train, trial },
  }));
  return { ...task, protocol: { ...protocol, inputs } };
}

/** All that is known of a trial afterwards. */
export interface TrialReading {
  /** Spikes of all neurons. */
  readonly spikes: number;
  /** Neurons with at least one spike. */
  readonly responding: number;
  readonly inputEvents: number;
  readonly synapticEvents: number;
  /** The last step that was simulated, where the event budget ended the trial. */
  readonly stoppedAtStep?: number;
  /** In the order of the task's reports. */
  readonly reports: readonly ReportReading[];
  /** Counts of the whole trial, where the task asked for them. */
  readonly counts?: SpikeCounts;
  /** Otherwise the neurons with at least one spike, ascending. Bits would take longer to set than 100,000 numbers to send. */
  readonly responders?: Uint32Array;
}

/** A trial between two parts, in shared memory. It stays as it is while the next part is computed, so that can be repeated. */
export interface PartState {
  /** See simulation/cpu/trial-state.ts. */
  readonly brain: SharedArrayBuffer;
  readonly cursors: TrainCursors;
}

/** A trial after some of its parts: what the next one needs, and the reading so far. Plain data that crosses threads. */
export interface TrialProgress {
  /** The step that comes next. */
  readonly step: number;
  readonly state: PartState;
  /** An older state, whose memory the next one may have. */
  readonly spare: PartState | undefined;
  readonly reading: TrialReading;
}

export function isProgress(result: TrialReading | TrialProgress): result is TrialProgress {
  return 'reading' in result;
}

/**
 * A step of a session: the part of its trial from startStep up to, not including, endStep, which count steps of the
 * simulation. Plain data that crosses threads.
 */
export interface SessionStep {
  readonly startStep: number;
  readonly endStep: number;
  /** Steps of all sessions are told apart by their numbers: a worker that computed the previous one may still have its state. */
  readonly number: number;
  readonly previousNumber: number | undefined;
  /** None at rest. */
  readonly stateBefore: PartState | undefined;
  /** Memory of the state after it; the worker makes room where there is none. */
  readonly memoryAfter: PartState | undefined;
  /** Synaptic events before. */
  readonly synapticEvents: number;
  readonly readsDrives: boolean;
}

/** Its synaptic events are those of the whole trial so far. */
export interface StepReading extends TrialReading {
  readonly state: PartState;
  /** Tells whether the worker had to prepare the network of the session first. */
  readonly hadToPrepare: boolean;
  /** As in an answer of version 1, by name. */
  readonly drives?: Readonly<Record<string, number>>;
}

/** The reading of two parts of a trial, as if they had been read at once. */
export function joinedReading(
  { reports }: TrialTask,
  first: TrialReading,
  second: TrialReading,
): TrialReading {
  const counts = first.counts && joined(['neurons', 'spikes'], first.counts, second.counts!);
  const keyed = ({ responders }: TrialReading) => ({ keys: responders!, values: responders! });
  const responders = first.responders && joined(['keys', 'values'], keyed(first), keyed(second)).keys;
  return {
    spikes: first.spikes + second.spikes,
    responding: (counts?.neurons ?? responders!).length,
    inputEvents: first.inputEvents + second.inputEvents,
    // The engine counts those of all parts.
    synapticEvents: second.synapticEvents,
    ...(second.stoppedAtStep !== undefined && { stoppedAtStep: second.stoppedAtStep }),
    reports: reports.map((report, at) =>
      kindOf(report).join(report, first.reports[at]!, second.reports[at]!),
    ),
    ...(counts ? { counts } : { responders: responders! }),
  };
}

type Recording = ReturnType<NonNullable<ReportKind['recordingOf']>>;

/** Recordings that the engine makes in a trial, in the order of the reports that read it. */
export function recordingsOf({ reports }: Pick<TrialTask, 'reports'>): Recording[] {
  return reports.flatMap((report) => kindOf(report).recordingOf?.(report) ?? []);
}

/** The arrays of a reading, which belong to it alone: their memory may be transferred with it. */
export function arraysOfReading({
  reports,
  counts,
  responders,
}: TrialReading): ArrayBufferView<ArrayBuffer>[] {
  const parts = [...reports, { ...counts, responders }].flatMap((part) => Object.values(part).flat());
  return parts.filter((part) => ArrayBuffer.isView(part)) as ArrayBufferView<ArrayBuffer>[];
}
