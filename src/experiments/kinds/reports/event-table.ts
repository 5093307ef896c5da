/** Code for all tables of events. Every row has a step and a neuron; rows are sorted by step, then neuron. */
import type { EventTable, EventValues, TableColumn } from '../result-rows.js';
import type { ReportSum, ReportTask, TrialView } from '../report-kind.js';

export interface EventTask extends ReportTask {
  /** Maximum number of rows that a worker returns; it returns the earliest ones. */
  readonly maxRows: number;
}

export interface EventResult {
  readonly steps: Uint32Array;
  readonly neurons: Uint32Array;
  /** The values of each column of the kind. */
  readonly values: readonly EventValues[];
  /** Number of rows in all, including those that were left out. */
  readonly rows: number;
}

/** Number of rows that were not left out. */
export function rowsHere({ steps, values }: EventResult): number {
  return values[0]?.length ?? steps.length;
}

export function isEventResult(result: object): result is EventResult {
  return 'rows' in result;
}

/** Adds an event if the report reads its neuron. */
export type AddEvent = (step: number, neuron: number, label?: number) => void;

/**
 * Collects the events of a report's neurons, in the order in which `read` adds them. Beyond the maximum it only counts.
 * @param mostEvents `read` adds no more events than these
 */
export function readRows(
  { neurons: members, maxRows }: EventTask,
  { marks, rowsLeft }: TrialView,
  mostEvents: number,
  read: (add: AddEvent) => void,
): Omit<EventResult, 'values'> & { readonly labels: Uint8Array } {
  const maximum = Math.min(maxRows, rowsLeft, mostEvents);
  const steps = new Uint32Array(maximum);
  const neurons = new Uint32Array(maximum);
  const labels = new Uint8Array(maximum);
  let rows = 0;
  for (const neuron of members) marks[neuron] = 1;
  read((step, neuron, label = 0) => {
    if (marks[neuron] !== 1) return;
    if (rows < maximum) {
      steps[rows] = step;
      neurons[rows] = neuron;
      labels[rows] = label;
    }
    rows++;
  });
  for (const neuron of members) marks[neuron] = 0;
  const kept = Math.min(rows, maximum);
  return {
    steps: steps.slice(0, kept),
    neurons: neurons.slice(0, kept),
    labels: labels.slice(0, kept),
    rows,
  };
}

/** Joins the rows of two segments of a trial. */
export function joinedRows({ maxRows }: EventTask, first: EventResult, second: EventResult): EventResult {
  const list = <T extends EventValues | Uint32Array>(earlier: T, later: T): T => {
    const length = Math.min(maxRows, earlier.length + later.length);
    const all = new (earlier.constructor as new (length: number) => T)(length);
    all.set(earlier);
    all.set(later.subarray(0, length - earlier.length), earlier.length);
    return all;
  };
  return {
    steps: list(first.steps, second.steps),
    neurons: list(first.neurons, second.neurons),
    values: first.values.map((values, at) => list(values, second.values[at]!)),
    rows: first.rows + second.rows,
  };
}

/** Writes steps and neurons of the first rows of a result into arrays, until these are full. */
type WriteRows = (result: EventResult, steps: Uint32Array, neurons: Uint32Array) => void;

const rowsAsTheyAre: WriteRows = (result, steps, neurons) => {
  steps.set(result.steps.subarray(0, steps.length));
  neurons.set(result.neurons.subarray(0, neurons.length));
};

/** Collects the rows of the trials that keep their rows, up to a maximum. @param own columns of the kind */
export function eventSum(
  table: string,
  maxRows: number,
  own: readonly TableColumn[] = [],
  writeRows = rowsAsTheyAre,
): ReportSum<EventResult, EventTable> {
  const parts: { readonly trial: number; readonly rows: number; readonly result: EventResult }[] = [];
  let length = 0;
  let truncated = false;
  return {
    add(trial, result, keepsRows) {
      if (!keepsRows) return;
      const rows = Math.min(rowsHere(result), maxRows - length);
      truncated ||= rows < result.rows;
      if (rows > 0) parts.push({ trial, rows, result });
      length += rows;
    },
    counts() {
      const trials = new Uint8Array(length);
      const steps = new Uint32Array(length);
      const neurons = new Uint32Array(length);
      const columns = own.map((column) => ({
        column,
        values: new (column.type === 'label' ? Uint8Array : Float64Array)(length),
      }));
      let at = 0;
      for (const { trial, rows, result } of parts) {
        trials.fill(trial, at, at + rows);
        writeRows(result, steps.subarray(at, at + rows), neurons.subarray(at, at + rows));
        columns.forEach(({ values }, position) => values.set(result.values[position]!.subarray(0, rows), at));
        at += rows;
      }
      return { table, trials, steps, neurons, columns, truncated };
    },
  };
}
