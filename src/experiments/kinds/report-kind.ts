/**
 * A kind of report is one object in one file of `reports`; REPORT_KINDS lists them, and little else knows one by its
 * name. There are two shapes: values of groups of neurons (GroupKind), and tables with a row for each event (EventKind).
 * On its way to an answer a report is, in this order,
 *
 * - a document, as `schema` says,
 * - a task of a worker (`taskOf`),
 * - the reading of one trial (`read`), in the worker,
 * - the counts of all trials of a condition (`sum`), which jobs keep,
 * - values of each group (`valuesOf`) or rows as columns, which JSON, tables and figures show.
 *
 * Workers and pages load these files, so they import no formats.
 */
import type { MeanSd } from '../../mean-sd.js';
import type { Schema, SchemaOf } from '../../schema/json-schema.js';
import type { JsonPath } from '../../schema/json-path.js';
import type { MembraneRecording } from '../../simulation/simulation.js';
import type { ReportDocument } from '../document/kind-schemas.js';
import type { Groups } from '../plan/groups.js';
import type { EventTable, GroupResult, GroupResults } from '../run/result.js';
import type { TableColumn } from './table-column.js';

/** Steps of 0.1 ms: from startStep up to, not including, endStep. */
export interface ReportWindow {
  readonly startStep: number;
  readonly endStep: number;
}

/** Task of a worker for one report. Plain data, whose arrays lie in shared memory. */
export interface ReportTask extends ReportWindow {
  /** The name of its kind. */
  readonly type: string;
  /** Ascending indices into the connectome. */
  readonly neurons: Uint32Array;
}

/** Reading of a worker. Plain data, whose arrays belong to it alone. */
export type ReportReading = object;

/** Counts of all trials of a condition. Plain data, which jobs keep. */
export type ReportCounts = GroupCounts | EventTable;

/** Counts of groups of neurons: a row for each one with a spike in any trial, by the first such trial, then by neuron. */
export interface GroupCounts extends ReportWindow {
  /** The group of each row. */
  readonly groups: Uint32Array;
}

/** A report of a document on a connectome. */
export interface PlannedReport {
  readonly name: string;
  readonly document: ReportDocument;
  /** Ascending, in shared memory. */
  readonly neurons: Uint32Array;
  readonly groups: Groups;
  /** The group of each neuron, in shared memory. */
  readonly groupOfNeuron: Uint32Array;
}

/** Neurons with at least one spike in a window, ascending, and the number of their spikes. */
export interface SpikeCounts {
  readonly neurons: Uint32Array;
  readonly spikes: Uint32Array;
}

/** Spikes, or events of one input alone, in the order of step, then neuron. */
export interface EventsInTime {
  readonly steps: Uint16Array | Uint32Array;
  readonly neurons: Uint32Array;
}

/** A trial, or a part of one, as a worker shows it to the kinds. Steps count from the start of the trial. */
export interface TrialView {
  /** The first step that was simulated, and the one behind the last. */
  readonly startStep: number;
  readonly endStep: number;
  readonly raster: EventsInTime;
  /** Events of each input alone; none unless a report of the task reads them. */
  readonly eventsOfInputs: readonly EventsInTime[];
  /** Scratch space, a number for each neuron of the connectome: 0 before and after every reading. */
  readonly marks: Uint32Array;
  /** Samples of the recording that the kind of the report wants; see Trial.membranes. */
  readonly samples?: Float64Array | undefined;
  /** Rows that the tables of the trial may still return. */
  readonly rowsLeft: number;
  /** Counted once for each window. */
  countsIn(window: ReportWindow): SpikeCounts;
}

/** Adds readings up, in the order of the trials, whatever order they finished in: so every sum has one order. */
export interface ReportSum<Reading, Counts> {
  /** @param keepsRows whether the rows of a table are kept */
  add(trial: number, reading: Reading, keepsRows: boolean): void;
  counts(): Counts;
}

export interface SumOptions {
  readonly groups: Groups;
  readonly trials: number;
  /** In the order of the document. */
  readonly inputNames: readonly string[];
}

/** Functions are declared as methods, whose parameters are bivariant: a kind of special tasks is then one of any task. */
interface AnyKind<Task extends ReportTask, Reading extends ReportReading, Counts extends ReportCounts> {
  /** Schema of such a report in a document; see reportSchema. */
  readonly schema: SchemaOf<ReportDocument>;
  /** Schemas of its answer by their names in OpenAPI; the first is that of a group, or of the table. */
  readonly answer: Readonly<Record<string, Schema>>;
  /** For forms and lists. */
  readonly label: string;
  /** True where a worker has to draw the events of each input alone. */
  readonly readsInputs?: true;
  /** True where no session can have such a report. */
  readonly isOfWholeTrials?: true;
  /** Neurons of such a report at most, where that is fewer than a brain has. */
  readonly mostNeurons?: number;
  /** Recording that the engine makes for it, and how many samples a trial has then. The GPU records nothing. */
  recordingOf?(task: Task): MembraneRecording & { readonly samples: number };
  /** @throws CodedError where nothing can be read in a window of the shortest trial */
  checkWindow?(document: ReportDocument, window: ReportWindow, path: JsonPath): void;
  /** Members of its task beside neurons and window. */
  taskOf?(report: PlannedReport, maximumRows: number): Omit<Task, keyof ReportTask>;
  /**
   * Its time should grow with the spikes of the trial rather than with the neurons of the report; tables mark each of
   * these.
   */
  read(task: Task, trial: TrialView): Reading;
  /** The reading of two parts of a trial, as if they had been read at once. @param second follows the first */
  join(task: Task, first: Reading, second: Reading): Reading;
  sum(task: Task, options: SumOptions): ReportSum<Reading, Counts>;
}

/** Has values of groups of neurons, in one row each. */
export interface GroupKind<
  Task extends ReportTask = ReportTask,
  Reading extends ReportReading = ReportReading,
  Counts extends GroupCounts = GroupCounts,
  Own extends object = object,
> extends AnyKind<Task, Reading, Counts> {
  readonly shape: 'groups';
  /** The first is the one that a format of tables holds by default. */
  readonly tables: readonly GroupTable[];
  readonly measure: Measure;
  readonly course?: TimeCourse;
  /** The numbers by which groups are compared with controls, where they are. */
  readonly controlled?: {
    /** @returns the total of each row over all trials, as a whole number */
    totalsOf(counts: Counts, trials: number): Float64Array;
    /** @returns by how much a total is divided to have the unit of the measure */
    unitOf(neurons: number, window: ReportWindow, trials: number): number;
  };
  /** Numbers of one group in the answer beside those of the trials, as the limit on them counts. */
  furtherNumbers?(document: ReportDocument, window: ReportWindow): number;
  valuesOf(counts: Counts, trials: number): GroupValues<Own>;
}

/**
 * The number of a group that lists and figures show: its mean over the trials and their population standard deviation.
 */
export interface Measure {
  readonly label: string;
  readonly unit: string;
  /** @returns null where there is none */
  of(group: GroupResult): (MeanSd & { readonly trials: readonly (number | null)[] }) | null;
  /** How many responded, in a few characters; empty where that is not known. */
  respondingOf(group: GroupResult): string;
}

/** A mean of a group in each bin of its report, for figures. */
export interface TimeCourse {
  readonly name: string;
  readonly unit: string;
  readonly table: string;
  readonly note: string;
  of(group: GroupResult): readonly number[] | null;
}

/** Values of the groups of a report in a condition, beside their labels and sizes. */
export interface GroupValues<Own extends object> {
  of(row: number, neurons: number): Own;
  /** Values of every group without a spike. */
  readonly silent: Own;
  /** Values of every group where the event budget ended a trial. */
  readonly stopped: Own;
}

export interface GroupTable {
  readonly name: string;
  /** Columns between the size of a group and the number of trials. */
  columnsOf(reports: readonly ReportDocument[]): readonly GroupColumn[];
  /** Columns behind these, where the experiment has controls. */
  readonly controlColumns?: readonly GroupColumn[];
  /** Rows of each group, 1 by default: those of a report in a condition have equally many. */
  rowsOfEach?(groups: GroupResults): number;
}

/** A row of a table of groups. */
export interface GroupRow {
  readonly group: GroupResult;
  /** Place among the rows of the group. */
  readonly at: number;
  /** Place among the reports of the table. */
  readonly report: number;
}

export interface GroupColumn {
  readonly column: TableColumn;
  valueOf(row: GroupRow): number;
}

/**
 * Is a table with a row for each event: trial, time, neuron, and columns of its own. Its rows are divided among pages.
 */
export interface EventKind<
  Task extends ReportTask = ReportTask,
  Reading extends ReportReading = ReportReading,
> extends AnyKind<Task, Reading, EventTable> {
  readonly shape: 'events';
  /** In figures and lists: `spikes`. */
  readonly noun: string;
  /** Number of each neuron that figures draw as a line; without it they draw a stroke for each row. */
  readonly trace?: Trace;
  /** True where its columns can have the names of other programs. */
  readonly takesNames?: true;
  /** Columns of its own: labels stand before the neuron, numbers last. */
  columnsOf?(inputNames: readonly string[]): readonly TableColumn[];
  /**
   * The member of the cost of a dry run that says how many rows there may be, its schema, and how it is said in a list.
   */
  readonly cost: {
    readonly member: string;
    readonly schema: SchemaOf<number>;
    readonly says: 'at most' | 'about' | '';
  };
  /** Rows of one trial, as far as they are known before. */
  expectedRows(trial: ExpectedTrial): number;
  /**
   * Tells whether its spikes are read as a response, so that a warning says where they are the stimulus; by default
   * not.
   */
  isReadout?(report: PlannedReport, neuronCount: number): boolean;
}

/** A number of each neuron over time. */
export interface Trace {
  /** One of the columns of the kind. */
  readonly column: string;
  readonly label: string;
  readonly unit: string;
}

/** A trial of a report before it has run. */
export interface ExpectedTrial {
  readonly document: ReportDocument;
  readonly window: ReportWindow;
  /** Neurons of the report. */
  readonly neurons: number;
  /** Those that an input stimulates, at most. */
  readonly stimulated: number;
  /** Expected input events of its neurons in its window. */
  readonly inputEvents: number;
  readonly refractorySteps: number;
}

export type ReportKind = GroupKind | EventKind;
