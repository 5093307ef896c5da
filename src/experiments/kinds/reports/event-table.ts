/** Columns and rows that tables of events share: rows of step and neuron, in the order of step, then neuron. */
import type { SpikeTable } from '../../run/result.js';
import type { ReportReading, ReportSum, ReportTask, TrialView } from '../report-kind.js';

export interface EventTask extends ReportTask {
  /** Rows that are returned at most: the first in the order of time. */
  readonly maximumRows: number;
}

export interface EventReading extends ReportReading {
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
  /** Place of the input in the document, for input events. */
  readonly inputs?: Uint8Array;
  /** Rows in all: more than are here where the task allowed fewer. */
  readonly rows: number;
}

export function isEventReading(reading: ReportReading): reading is EventReading {
  return 'rows' in reading;
}

/** Adds an event, if its neuron is one of the report. */
export type AddEvent = (step: number, neuron: number, input?: number) => void;

/** Rows of the neurons of a report up to a number, in the order in which they are added; the others are counted. */
export function readRows(
  { neurons: members, maximumRows }: EventTask,
  { marks, rowsLeft }: TrialView,
  read: (add: AddEvent) => void,
): Required<Omit<EventReading, 'type'>> {
  const maximum = Math.min(maximumRows, rowsLeft);
  const [steps, neurons, inputs]: [number[], number[], number[]] = [[], [], []];
  let rows = 0;
  for (const neuron of members) marks[neuron] = 1;
  read((step, neuron, input) => {
    if (marks[neuron] !== 1 || ++rows > maximum) return;
    steps.push(step);
    neurons.push(neuron);
    if (input !== undefined) inputs.push(input);
  });
  for (const neuron of members) marks[neuron] = 0;
  return {
    steps: Uint16Array.from(steps),
    neurons: Uint32Array.from(neurons),
    inputs: Uint8Array.from(inputs),
    rows,
  };
}

/** The rows of the trials whose rows are kept, up to a number. */
export class EventSum implements ReportSum<EventReading, SpikeTable> {
  readonly #parts: { readonly trial: number; readonly rows: number; readonly reading: EventReading }[] = [];
  #rows = 0;
  #truncated = false;

  /** @param inputNames where rows have an input, in the order of the document */
  constructor(
    private readonly table: string,
    private readonly maximumRows: number,
    private readonly inputNames?: readonly string[],
  ) {}

  add(trial: number, reading: EventReading, keepsRows: boolean): void {
    if (!keepsRows) return;
    const rows = Math.min(reading.steps.length, this.maximumRows - this.#rows);
    if (rows < reading.rows) this.#truncated = true;
    if (rows === 0) return;
    this.#parts.push({ trial, rows, reading });
    this.#rows += rows;
  }

  counts(): SpikeTable {
    const { table, inputNames } = this;
    const trials = new Uint8Array(this.#rows);
    const steps = new Uint16Array(this.#rows);
    const neurons = new Uint32Array(this.#rows);
    const inputs = new Uint8Array(inputNames === undefined ? 0 : this.#rows);
    let at = 0;
    for (const { trial, rows, reading } of this.#parts) {
      trials.fill(trial, at, at + rows);
      steps.set(reading.steps.subarray(0, rows), at);
      neurons.set(reading.neurons.subarray(0, rows), at);
      if (inputNames !== undefined) inputs.set(reading.inputs!.subarray(0, rows), at);
      at += rows;
    }
    const ofInputs = inputNames !== undefined && { inputs, inputNames };
    return { table, trials, steps, neurons, ...ofInputs, truncated: this.#truncated };
  }
}
