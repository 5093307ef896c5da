/** The readings of a condition's trials, put together to what an answer says of the condition. */
import { STEPS_PER_MS } from '../../experiment/protocol.js';
import type { Groups } from './groups.js';
import type { ConditionParameters, ConditionResult, GroupResult, MeanSd, SpikeTable } from './result.js';
import {
  binCount,
  type HistogramTask,
  type RateTask,
  type ReportReading,
  type ReportTask,
  type TableReading,
  type TrialReading,
} from './trial.js';

const MS_PER_SECOND = 1000;
const DECIMALS = 10_000;

/**
 * Every mean, standard deviation and rate of an answer has four decimals at most: finer than the effect of one spike in
 * a small group, and short numbers keep answers small. Each is rounded once, from exact counts, never from another
 * rounded number.
 */
export function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}

/** What a report reads and how its rows are called. */
export interface SummarisedReport {
  readonly name: string;
  readonly groups: Groups;
}

/**
 * Takes the readings of a condition, in the order of the trials, whatever order they finished in: so every sum has
 * one order, and tables are cut at the same row. Readings are counted and let go.
 */
export class ConditionSummary {
  #trials = 0;
  #synapticEvents = 0;
  #stoppedAtStep: number | undefined;
  readonly #spikes: number[] = [];
  readonly #responding: number[] = [];
  readonly #reports: readonly ReportSummary[];

  /**
   * @param condition with its tasks in the order of the reports
   * @param inputNames in the order of the document
   */
  constructor(
    private readonly condition: ConditionParameters & { readonly reports: readonly ReportTask[] },
    private readonly reports: readonly SummarisedReport[],
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
    const trial = this.#trials++;
    this.#spikes.push(reading.spikes);
    this.#responding.push(reading.responding);
    this.#synapticEvents += reading.synapticEvents;
    if (reading.stoppedAtStep !== undefined) {
      this.#stoppedAtStep = Math.min(reading.stoppedAtStep, this.#stoppedAtStep ?? Infinity);
    }
    this.#reports.forEach((report, at) => report.add(trial, reading.reports[at]!));
  }

  result(): ConditionResult {
    const complete = this.#stoppedAtStep === undefined;
    const { index, parameters } = this.condition;
    return {
      index,
      parameters,
      complete,
      ...(this.#stoppedAtStep !== undefined && {
        // The end of the last step that was simulated.
        stopped_at_ms: (this.#stoppedAtStep + 1) / STEPS_PER_MS,
        reason: 'EVENT_BUDGET',
      }),
      spikes: complete ? roundedMeanSd(this.#spikes) : null,
      responding_neurons: complete ? roundedMeanSd(this.#responding) : null,
      synaptic_events: this.#synapticEvents,
      reports: Object.fromEntries(
        this.reports.map(({ name }, at) => [name, this.#reports[at]!.result(complete)]),
      ),
    };
  }
}

interface ReportSummary {
  add(trial: number, reading: ReportReading): void;
  result(complete: boolean): readonly GroupResult[] | SpikeTable;
}

/** What a row has beside the labels and the size of its group. */
type GroupReading = Pick<GroupResult, 'responding' | 'responding_any' | 'rate_hz' | 'bins_hz'>;

/** Of a rate or a histogram. */
class GroupSummary implements ReportSummary {
  /** Of group g and trial t at g * trials + t, in both. */
  readonly #spikes: Uint32Array;
  readonly #responding: Uint32Array;
  readonly #hasResponded: Uint8Array;
  readonly #bins: number;
  /** Spikes of all trials: of group g and bin b at g * bins + b. */
  readonly #cells: Float64Array;

  constructor(
    private readonly task: RateTask | HistogramTask,
    private readonly groups: Groups,
    private readonly trials: number,
  ) {
    this.#spikes = new Uint32Array(groups.count * trials);
    this.#responding = new Uint32Array(groups.count * trials);
    this.#hasResponded = new Uint8Array(groups.ofPlaces.length);
    this.#bins = task.type === 'histogram' ? binCount(task) : 0;
    this.#cells = new Float64Array(groups.count * this.#bins);
  }

  add(trial: number, reading: ReportReading): void {
    if (reading.type !== 'rate' && reading.type !== 'histogram') throw wrongReading(reading);
    reading.places.forEach((place, at) => {
      const cell = this.groups.ofPlaces[place]! * this.trials + trial;
      this.#spikes[cell]! += reading.spikes[at]!;
      this.#responding[cell]!++;
      this.#hasResponded[place] = 1;
    });
    if (reading.type === 'histogram') {
      reading.cells.forEach((cell, at) => (this.#cells[cell]! += reading.cellSpikes[at]!));
    }
  }

  result(complete: boolean): GroupResult[] {
    const { groups } = this;
    const respondingInAny = new Uint32Array(groups.count);
    for (let place = 0; place < this.#hasResponded.length; place++) {
      respondingInAny[groups.ofPlaces[place]!]! += this.#hasResponded[place]!;
    }
    // Of a whole brain by neuron nearly all groups are silent: they share what is read of them.
    const silent = complete ? this.#readingOf(undefined, 0) : this.#noReading();
    return Array.from({ length: groups.count }, (_, group) => {
      const any = respondingInAny[group]!;
      const reading = complete && any > 0 ? this.#readingOf(group, any) : silent;
      return { ...groups.labelsOf(group), neurons: groups.sizes[group]!, ...reading };
    });
  }

  /** @param group undefined for one without a spike */
  #readingOf(group: number | undefined, respondingInAny: number): GroupReading {
    const zeros = new Uint32Array(this.trials);
    return {
      responding: roundedMeanSd(group === undefined ? zeros : this.#ofGroup(this.#responding, group)),
      responding_any: respondingInAny,
      rate_hz: group === undefined ? { mean: 0, sd: 0, trials: [...zeros] } : this.#rate(group),
      ...(this.#bins > 0 && {
        bins_hz: group === undefined ? new Array<number>(this.#bins).fill(0) : this.#binRates(group),
      }),
    };
  }

  #noReading(): GroupReading {
    return {
      responding: null,
      responding_any: null,
      rate_hz: null,
      ...(this.#bins > 0 && { bins_hz: null }),
    };
  }

  #ofGroup(values: Uint32Array, group: number): Uint32Array {
    return values.subarray(group * this.trials, (group + 1) * this.trials);
  }

  #rate(group: number): GroupResult['rate_hz'] {
    const { startStep, endStep } = this.task;
    const spikes = this.#ofGroup(this.#spikes, group);
    const neuronSeconds = this.#neuronSeconds(group, endStep - startStep);
    const { mean, sd } = meanSd(spikes);
    return {
      mean: rounded(mean / neuronSeconds),
      sd: rounded(sd / neuronSeconds),
      trials: Array.from(spikes, (count) => rounded(count / neuronSeconds)),
    };
  }

  #binRates(group: number): number[] {
    const { task } = this;
    if (task.type !== 'histogram') return [];
    return Array.from({ length: this.#bins }, (_, bin) => {
      const from = task.startStep + bin * task.binSteps;
      const steps = Math.min(task.endStep, from + task.binSteps) - from;
      const spikes = this.#cells[group * this.#bins + bin]! / this.trials;
      return rounded(spikes / this.#neuronSeconds(group, steps));
    });
  }

  #neuronSeconds(group: number, steps: number): number {
    return (this.groups.sizes[group]! * steps) / (STEPS_PER_MS * MS_PER_SECOND);
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

  result(): SpikeTable {
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

function roundedMeanSd(values: ArrayLike<number>): MeanSd {
  const { mean, sd } = meanSd(values);
  return { mean: rounded(mean), sd: rounded(sd) };
}

/** Of the population (ddof 0), in two passes, in the order of the values. */
function meanSd(values: ArrayLike<number>): MeanSd {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const deviation = values[i]! - mean;
    squares += deviation * deviation;
  }
  return { mean, sd: Math.sqrt(squares / values.length) };
}
