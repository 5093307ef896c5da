/**
 * One trial of an open experiment as a worker gets it, and what it gives back. Plain data that crosses threads. The
 * arrays that belong to a condition lie in shared memory (see sharedArray), so a task carries references and no copies.
 */
import type { Protocol } from '../../experiment/protocol.js';

export interface TrialTask {
  readonly protocol: Protocol;
  readonly reports: readonly ReportTask[];
  /** Whether the counts of all neurons are needed: of a baseline, whose responders decide what comes next. */
  readonly countsAll: boolean;
}

/** What is read of a trial for one report. */
export type ReportTask = RateTask | HistogramTask | TableTask;

interface ReportWindow {
  /** Ascending indices into the connectome. */
  readonly neurons: Uint32Array;
  /** Steps of 0.1 ms: from startStep up to, not including, endStep. */
  readonly startStep: number;
  readonly endStep: number;
}

export interface RateTask extends ReportWindow {
  readonly type: 'rate';
}

export interface HistogramTask extends ReportWindow {
  readonly type: 'histogram';
  /** The group of each neuron, from 0. */
  readonly groups: Uint32Array;
  readonly binSteps: number;
}

export interface TableTask extends ReportWindow {
  readonly type: 'spikes' | 'inputs';
  /** Rows that are returned at most: the first in the order of time. */
  readonly maximumRows: number;
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
  /** Where the task asked for it: neurons with at least one spike, ascending, and the number of their spikes. */
  readonly counts?: { readonly neurons: Uint32Array; readonly spikes: Uint32Array };
}

export type ReportReading = RateReading | HistogramReading | TableReading;

/** Only neurons that spiked take space: a report may read the whole brain, of which a few hundred neurons respond. */
interface RespondingNeurons {
  /** Places, in the task's list of neurons, of those with at least one spike; ascending. */
  readonly places: Uint32Array;
  /** Spikes of each of them. */
  readonly spikes: Uint32Array;
}

export interface RateReading extends RespondingNeurons {
  readonly type: 'rate';
}

export interface HistogramReading extends RespondingNeurons {
  readonly type: 'histogram';
  /** The cells with at least one spike, ascending: group * bins + bin. The last bin may be short. */
  readonly cells: Uint32Array;
  /** Spikes of each of them. */
  readonly cellSpikes: Uint32Array;
}

/** Spikes or input events as columns, in the order of step, then neuron, then input. */
export interface TableReading {
  readonly type: 'spikes' | 'inputs';
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
  /** Of `inputs`: the place of the input in the document. */
  readonly inputs?: Uint8Array;
  /** Whether there were more rows than the task allowed. */
  readonly truncated: boolean;
}

/** Bins of a histogram in the window of its report. */
export function binCount({
  startStep,
  endStep,
  binSteps,
}: Pick<HistogramTask, 'startStep' | 'endStep' | 'binSteps'>): number {
  return Math.ceil((endStep - startStep) / binSteps);
}

/** An array in shared memory: sending it to a worker copies nothing. */
export function sharedArray(values: ArrayLike<number>): Uint32Array {
  const array = new Uint32Array(new SharedArrayBuffer(values.length * Uint32Array.BYTES_PER_ELEMENT));
  array.set(values);
  return array;
}

/** The same of lists of steps, all in one piece of memory: sending thousands of pieces takes long. */
export function sharedStepLists(lists: readonly (readonly number[])[]): Uint16Array[] {
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const all = new Uint16Array(new SharedArrayBuffer(total * Uint16Array.BYTES_PER_ELEMENT));
  const empty = all.subarray(0, 0);
  let end = 0;
  return lists.map((list) => {
    if (list.length === 0) return empty;
    all.set(list, end);
    return all.subarray(end, (end += list.length));
  });
}
