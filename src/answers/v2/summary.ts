/** Sums up the readings of a condition's trials. What an answer says of them is in condition-result.ts. */
import type { Groups } from './groups.js';
import type { ConditionParameters, SpikeTable } from './result.js';
import {
  binCount,
  type HistogramTask,
  type RateTask,
  type ReportReading,
  type ReportTask,
  type TableReading,
  type TrialReading,
} from './trial.js';

/** What was counted in all trials of a condition. Plain data: groups without a spike take no space. */
export interface ConditionCounts extends ConditionParameters {
  /** The last step of the first trial that the event budget ended. */
  readonly stoppedAtStep?: number;
  /** Spikes of all neurons in each trial. */
  readonly spikes: readonly number[];
  /** Neurons with at least one spike in each trial. */
  readonly responding: readonly number[];
  /** Of all trials. */
  readonly synapticEvents: number;
  /** In the order of the reports. */
  readonly reports: readonly ReportCounts[];
}

export type ReportCounts = GroupCounts | SpikeTable;

/**
 * Of a rate or a histogram: a row for each group with a spike in any trial, in the order in which they first spiked.
 */
export interface GroupCounts extends Pick<RateTask, 'startStep' | 'endStep'> {
  /** The group of each row. */
  readonly groups: Uint32Array;
  /** Spikes of row r in trial t at r * trials + t. */
  readonly spikes: Uint32Array;
  /** Neurons with at least one spike of row r in trial t at r * trials + t. */
  readonly responding: Uint32Array;
  /** Neurons of each row with at least one spike in any trial. */
  readonly respondingInAny: Uint32Array;
  /** Of a histogram. */
  readonly histogram?: {
    readonly binSteps: number;
    /** Spikes of row r in bin b of all trials at r * bins + b. */
    readonly spikes: Float64Array;
  };
}

/**
 * Takes the readings of a condition, in the order of the trials, whatever order they finished in: so every sum has
 * one order, and tables are cut at the same row. Readings are counted and let go.
 */
export class ConditionSummary {
  #synapticEvents = 0;
  #stoppedAtStep: number | undefined;
  readonly #spikes: number[] = [];
  readonly #responding: number[] = [];
  readonly #reports: readonly ReportSummary[];

  /**
   * @param condition with its tasks in the order of the reports
   * @param reports of the plan
   * @param inputNames in the order of the document
   */
  constructor(
    private readonly condition: ConditionParameters & { readonly reports: readonly ReportTask[] },
    reports: readonly { readonly groups: Groups }[],
    trials: number,
    inputNames: readonly string[],
  ) {
    this.#reports = condition.reports.map((task, at) =>
      task.type === 'rate' || task.type === 'histogram'
        ? new GroupSummary(task, reports[at]!.groups, trials)
        : new TableSummary(task.type, task.maximumRows, inputNames),
    );
  }

  /** Neurons, in the trial with the most. */
  get mostResponding(): number {
    return this.#responding.reduce((most, count) => Math.max(most, count), 0);
  }

  add(reading: TrialReading): void {
    const trial = this.#spikes.length;
    this.#spikes.push(reading.spikes);
    this.#responding.push(reading.responding);
    this.#synapticEvents += reading.synapticEvents;
    if (reading.stoppedAtStep !== undefined) {
      this.#stoppedAtStep = Math.min(reading.stoppedAtStep, this.#stoppedAtStep ?? Infinity);
    }
    this.#reports.forEach((report, at) => report.add(trial, reading.reports[at]!));
  }

  counts(): ConditionCounts {
    const { index, parameters } = this.condition;
    return {
      index,
      parameters,
      ...(this.#stoppedAtStep !== undefined && { stoppedAtStep: this.#stoppedAtStep }),
      spikes: this.#spikes,
      responding: this.#responding,
      synapticEvents: this.#synapticEvents,
      reports: this.#reports.map((report) => report.counts()),
    };
  }
}

interface ReportSummary {
  add(trial: number, reading: ReportReading): void;
  counts(): ReportCounts;
}

/** Of a rate or a histogram. */
class GroupSummary implements ReportSummary {
  /** 1 more than the row of each group; 0 of a group without a spike. */
  readonly #rowOf: Uint32Array;
  /** The group of each row. */
  readonly #groups: number[] = [];
  readonly #spikes: CountRows<Uint32Array>;
  readonly #responding: CountRows<Uint32Array>;
  readonly #respondingInAny = new CountRows(Uint32Array, 1);
  readonly #hasResponded: Uint8Array;
  readonly #bins: CountRows<Float64Array> | undefined;

  constructor(
    private readonly task: RateTask | HistogramTask,
    private readonly groups: Groups,
    trials: number,
  ) {
    this.#rowOf = new Uint32Array(groups.count);
    this.#spikes = new CountRows(Uint32Array, trials);
    this.#responding = new CountRows(Uint32Array, trials);
    this.#hasResponded = new Uint8Array(groups.ofPlaces.length);
    if (task.type === 'histogram') this.#bins = new CountRows(Float64Array, binCount(task));
  }

  add(trial: number, reading: ReportReading): void {
    if (reading.type !== 'rate' && reading.type !== 'histogram') throw wrongReading(reading);
    reading.places.forEach((place, at) => {
      const row = this.#rowOfGroup(this.groups.ofPlaces[place]!);
      this.#spikes.add(row, trial, reading.spikes[at]!);
      this.#responding.add(row, trial, 1);
      if (this.#hasResponded[place] === 1) return;
      this.#hasResponded[place] = 1;
      this.#respondingInAny.add(row, 0, 1);
    });
    if (reading.type === 'rate' || this.#bins === undefined) return;
    const bins = this.#bins.width;
    reading.cells.forEach((cell, at) => {
      const group = Math.floor(cell / bins);
      this.#bins!.add(this.#rowOfGroup(group), cell - group * bins, reading.cellSpikes[at]!);
    });
  }

  counts(): GroupCounts {
    const { startStep, endStep } = this.task;
    const rows = this.#groups.length;
    return {
      startStep,
      endStep,
      groups: Uint32Array.from(this.#groups),
      spikes: this.#spikes.first(rows),
      responding: this.#responding.first(rows),
      respondingInAny: this.#respondingInAny.first(rows),
      ...(this.task.type === 'histogram' && {
        histogram: { binSteps: this.task.binSteps, spikes: this.#bins!.first(rows) },
      }),
    };
  }

  #rowOfGroup(group: number): number {
    const known = this.#rowOf[group]!;
    if (known > 0) return known - 1;
    return (this.#rowOf[group] = this.#groups.push(group)) - 1;
  }
}

/** Counters in rows of one width. Rows are there once something is added to them; others before them are 0. */
class CountRows<Values extends Uint32Array | Float64Array> {
  #values: Values;

  constructor(
    private readonly Values: new (length: number) => Values,
    readonly width: number,
  ) {
    this.#values = new Values(0);
  }

  add(row: number, column: number, count: number): void {
    const at = row * this.width + column;
    if (at >= this.#values.length) this.#resize(2 * (row + 1));
    this.#values[at]! += count;
  }

  first(rows: number): Values {
    if (this.#values.length < rows * this.width) this.#resize(rows);
    return this.#values.slice(0, rows * this.width) as Values;
  }

  #resize(rows: number): void {
    const values = new this.Values(rows * this.width);
    values.set(this.#values);
    this.#values = values;
  }
}

/** The rows of all trials, up to a number. */
class TableSummary implements ReportSummary {
  readonly #parts: { readonly trial: number; readonly rows: number; readonly reading: TableReading }[] = [];
  #rows = 0;
  #truncated = false;

  constructor(
    private readonly table: SpikeTable['table'],
    private readonly maximumRows: number,
    private readonly inputNames: readonly string[],
  ) {}

  add(trial: number, reading: ReportReading): void {
    if (reading.type === 'rate' || reading.type === 'histogram') throw wrongReading(reading);
    const rows = Math.min(reading.steps.length, this.maximumRows - this.#rows);
    if (rows < reading.steps.length || reading.truncated) this.#truncated = true;
    if (rows === 0) return;
    this.#parts.push({ trial, rows, reading });
    this.#rows += rows;
  }

  counts(): SpikeTable {
    const trials = new Uint8Array(this.#rows);
    const steps = new Uint16Array(this.#rows);
    const neurons = new Uint32Array(this.#rows);
    const inputs = new Uint8Array(this.table === 'inputs' ? this.#rows : 0);
    let at = 0;
    for (const { trial, rows, reading } of this.#parts) {
      trials.fill(trial, at, at + rows);
      steps.set(reading.steps.subarray(0, rows), at);
      neurons.set(reading.neurons.subarray(0, rows), at);
      if (this.table === 'inputs') inputs.set(reading.inputs!.subarray(0, rows), at);
      at += rows;
    }
    return {
      table: this.table,
      trials,
      steps,
      neurons,
      ...(this.table === 'inputs' && { inputs, inputNames: this.inputNames }),
      truncated: this.#truncated,
    };
  }
}

function wrongReading({ type }: ReportReading): Error {
  return new Error(`a reading of the type ${type} is not what the report asked for`);
}
