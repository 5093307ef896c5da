/** Columns and rows that tables of events share: rows of step and neuron, in the order of step, then neuron. */
import type { EventTable } from '../../run/result.js';
import type { ReportReading, ReportSum, ReportTask, TrialView } from '../report-kind.js';
import type { EventValues, TableColumn } from '../table-column.js';

export interface EventTask extends ReportTask {
  /** Rows that are returned at most: the first in the order of time. */
  readonly maximumRows: number;
}

export interface EventReading extends ReportReading {
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

export function isEventReading(reading: ReportReading): reading is EventReading {
  return 'rows' in reading;
}

/** Adds an event, if its neuron is one of the report. */
export type AddEvent = (step: number, neuron: number, label?: number) => void;

/** Rows of the neurons of a report up to a number, in the order in which they are added; the others are counted. */
export function readRows(
  { neurons: members, maximumRows }: EventTask,
  { marks, rowsLeft }: TrialView,
  read: (add: AddEvent) => void,
): Omit<EventReading, 'type' | 'values'> & { readonly labels: Uint8Array } {
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
export function joinedRows(task: EventTask, first: EventReading, second: EventReading): EventReading {
  const maximum = Math.min(task.maximumRows, rowsHere(first) + rowsHere(second));
  const list = <T extends Uint32Array | EventValues>(earlier: T, later: T): T => {
    const length = Math.min(maximum, earlier.length + later.length);
    const all = new (earlier.constructor as new (length: number) => T)(length);
    all.set(earlier);
    all.set(later.subarray(0, length - earlier.length), earlier.length);
    return all;
  };
  return {
    type: first.type,
    steps: list(first.steps, second.steps),
    neurons: list(first.neurons, second.neurons),
    values: first.values.map((values, at) => list(values, second.values[at]!)),
    rows: first.rows + second.rows,
  };
}

/** The rows of the trials whose rows are kept, up to a number. */
export class EventSum implements ReportSum<EventReading, EventTable> {
  readonly #parts: { readonly trial: number; readonly rows: number; readonly reading: EventReading }[] = [];
  #rows = 0;
  #truncated = false;

  /** @param columns of the kind */
  constructor(
    private readonly table: string,
    private readonly maximumRows: number,
    private readonly columns: readonly TableColumn[] = [],
  ) {}

  add(trial: number, reading: EventReading, keepsRows: boolean): void {
    if (!keepsRows) return;
    const rows = Math.min(rowsHere(reading), this.maximumRows - this.#rows);
    if (rows < reading.rows) this.#truncated = true;
    if (rows === 0) return;
    this.#parts.push({ trial, rows, reading });
    this.#rows += rows;
  }

  counts(): EventTable {
    const { table } = this;
    const trials = new Uint8Array(this.#rows);
    const steps = new Uint32Array(this.#rows);
    const neurons = new Uint32Array(this.#rows);
    const columns = this.columns.map((column) => ({
      column,
      values: new (column.type === 'label' ? Uint8Array : Float64Array)(this.#rows),
    }));
    let at = 0;
    for (const { trial, rows, reading } of this.#parts) {
      trials.fill(trial, at, at + rows);
      this.writeRows(reading, steps.subarray(at, at + rows), neurons.subarray(at, at + rows));
      columns.forEach(({ values }, own) => values.set(reading.values[own]!.subarray(0, rows), at));
      at += rows;
    }
    return { table, trials, steps, neurons, columns, truncated: this.#truncated };
  }

  /** Writes step and neuron of the first rows of a reading, as many as there is room for. */
  protected writeRows(reading: EventReading, steps: Uint32Array, neurons: Uint32Array): void {
    steps.set(reading.steps.subarray(0, steps.length));
    neurons.set(reading.neurons.subarray(0, neurons.length));
  }
}
