/** Columns and rows that tables of events share: rows of step and neuron, in the order of step, then neuron. */
import type { EventTable } from '../../run/result.js';
import type { ReportSum, ReportTask, TrialView } from '../report-kind.js';
import type { EventValues, TableColumn } from '../table-column.js';

export interface EventTask extends ReportTask {
  /** Rows that are returned at most: the first in the order of time. */
  readonly maximumRows: number;
}

export interface EventReading {
  readonly steps: Uint32Array;
  readonly neurons: Uint32Array;
  /** Values of each column of the kind. */
  readonly values: readonly EventValues[];
  /** Rows in all: more than are here where the task allowed fewer. */
  readonly rows: number;
}

/** Number of the rows that are here. */
export function rowsHere({ steps, values }: EventReading): number {
  return values[0]?.length ?? steps.length;
}

export function isEventReading(reading: object): reading is EventReading {
  return 'rows' in reading;
}

/** Adds an event, if its neuron is one of the report. */
export type AddEvent = (step: number, neuron: number, label?: number) => void;

/** Rows of the neurons of a report up to a number, in the order in which they are added; the others are counted. */
export function readRows(
  { neurons: members, maximumRows }: EventTask,
  { marks, rowsLeft }: TrialView,
  read: (add: AddEvent) => void,
): Omit<EventReading, 'values'> & { readonly labels: Uint8Array } {
  const maximum = Math.min(maximumRows, rowsLeft);
  const [steps, neurons, labels]: [number[], number[], number[]] = [[], [], []];
  let rows = 0;
  for (const neuron of members) marks[neuron] = 1;
  read((step, neuron, label) => {
    if (marks[neuron] !== 1 || ++rows > maximum) return;
    steps.push(step);
    neurons.push(neuron);
    if (label !== undefined) labels.push(label);
  });
  for (const neuron of members) marks[neuron] = 0;
  return {
    steps: Uint32Array.from(steps),
    neurons: Uint32Array.from(neurons),
    labels: Uint8Array.from(labels),
    rows,
  };
}

/** Rows of two parts of a trial. */
export function joinedRows(
  { maximumRows }: EventTask,
  first: EventReading,
  second: EventReading,
): EventReading {
  const list = <T extends EventValues | Uint32Array>(earlier: T, later: T): T => {
    const length = Math.min(maximumRows, earlier.length + later.length);
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

/** Writes step and neuron of the first rows of a reading, as many as there is room for. */
type WriteRows = (reading: EventReading, steps: Uint32Array, neurons: Uint32Array) => void;

const rowsAsTheyAre: WriteRows = (reading, steps, neurons) => {
  steps.set(reading.steps.subarray(0, steps.length));
  neurons.set(reading.neurons.subarray(0, neurons.length));
};

/** The rows of the trials whose rows are kept, up to a number. @param own columns of the kind */
export function eventSum(
  table: string,
  maximumRows: number,
  own: readonly TableColumn[] = [],
  writeRows = rowsAsTheyAre,
): ReportSum<EventReading, EventTable> {
  const parts: { readonly trial: number; readonly rows: number; readonly reading: EventReading }[] = [];
  let length = 0;
  let truncated = false;
  return {
    add(trial, reading, keepsRows) {
      if (!keepsRows) return;
      const rows = Math.min(rowsHere(reading), maximumRows - length);
      truncated ||= rows < reading.rows;
      if (rows > 0) parts.push({ trial, rows, reading });
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
      for (const { trial, rows, reading } of parts) {
        trials.fill(trial, at, at + rows);
        writeRows(reading, steps.subarray(at, at + rows), neurons.subarray(at, at + rows));
        columns.forEach(({ values }, place) => values.set(reading.values[place]!.subarray(0, rows), at));
        at += rows;
      }
      return { table, trials, steps, neurons, columns, truncated };
    },
  };
}
