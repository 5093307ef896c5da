/**
 * The interface of a kind of report. Each kind is one object in a file of `reports`, and REPORT_KINDS lists them all.
 *
 * There are two shapes. A GroupKind has values of groups of neurons. An EventKind is a table with a row for each event.
 * A report takes these forms on its way to an answer:
 *
 * 1. The document names the quantity to read (`schema`).
 * 2. A task tells a worker the neurons and steps to read (`taskOf`).
 * 3. The worker reads one trial (`read`). The result is a ReportResult.
 * 4. The thread adds up the trials of a condition (`sum`). The result is a ReportCounts; jobs store it.
 * 5. The counts become values of groups (`valuesOf`) or rows. JSON, tables and figures show these.
 *
 * Workers and pages load these files, so they must not import any format.
 */
import type { MeanSd } from './mean-sd.js';
import type { Schema, SchemaOf } from '../../engine/schema/json-schema.js';
import type { JsonPath } from '../../engine/schema/json-path.js';
import type { MembraneRecording } from '../../engine/simulation/simulation.js';
import type { ReportDocument } from './kind-schemas.js';
import type { Groups } from './groups.js';
import type { EventTable, GroupResult, GroupResults, TableColumn } from './result-rows.js';

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

/** The result of one trial for one report. Plain data; its arrays are shared with nothing. */
export type ReportResult = object;

/** Sum over the trials of a condition. Plain data; jobs store it. */
export type ReportCounts = GroupCounts | EventTable;

/** Counts of groups. Each group with a spike has a row, in the order of its first trial with a spike, then of its neurons. */
export interface GroupCounts extends ReportWindow {
  /** The group of each row. */
  readonly groups: Uint32Array;
}

/** A report of a document, with the neurons that its selectors found in a connectome. */
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

/** Spikes, or the events of one input, in the order of step, then neuron. */
export interface EventsInTime {
  readonly steps: Uint16Array | Uint32Array;
  readonly neurons: Uint32Array;
}

/** The view of a trial, or of a segment of one, that `read` gets, with the simulated steps, from the start of the trial. */
export interface TrialView extends ReportWindow {
  readonly raster: EventsInTime;
  /** The events of each input separately; empty if no report of the task reads them. */
  readonly eventsOfInputs: readonly EventsInTime[];
  /** Scratch space: a number for each neuron of the connectome. `read` finds zeros and must leave zeros. */
  readonly marks: Uint32Array;
  /** Samples of the recording that `recordingOf` asked for; see Trial.membranes. */
  readonly samples?: Float64Array | undefined;
  /** Number of rows that the tables of the trial may still return. */
  readonly rowsLeft: number;
  /** Computed once for each window and then remembered. */
  countsIn(window: ReportWindow): SpikeCounts;
}

/** Adds up results in the order of the trials, even if trials finish in another order. So equal trials give equal sums. */
export interface ReportSum<Result, Counts> {
  /** @param keepsRows whether a table keeps the rows of this trial */
  add(trial: number, result: Result, keepsRows: boolean): void;
  counts(): Counts;
}

export interface SumOptions {
  readonly groups: Groups;
  readonly trials: number;
  /** In the order of the document. */
  readonly inputNames: readonly string[];
}

/** Functions are declared as methods because their parameters are bivariant: a kind with tasks of its own fits any task. */
interface AnyKind<Task extends ReportTask, Result extends ReportResult, Counts extends ReportCounts> {
  /** Schema of the report in a document; see reportSchema. */
  readonly schema: SchemaOf<ReportDocument>;
  /** Schemas of the answer by their names in OpenAPI. The first one describes a group, or the table. */
  readonly answer: Readonly<Record<string, Schema>>;
  /** Name in forms and lists. */
  readonly label: string;
  /** True if a worker must draw the events of each input separately. */
  readonly readsInputs?: true;
  /** True if a session cannot have this report. */
  readonly isOfWholeTrials?: true;
  /** Maximum number of neurons of the report; absent if there is no limit. */
  readonly mostNeurons?: number;
  /** The recording that the engine must make, and its number of samples in a trial. The GPU records nothing. */
  recordingOf?(task: Task): MembraneRecording & { readonly samples: number };
  /** @throws CodedError if the shortest trial has nothing to read in the window */
  checkWindow?(document: ReportDocument, window: ReportWindow, path: JsonPath): void;
  /** The members of the task, except neurons and window. */
  taskOf?(report: PlannedReport, maxRows: number): Omit<Task, keyof ReportTask>;
  /** The time should grow with the spikes of the trial and not with the neurons of the report, which may be a whole brain. */
  read(task: Task, trial: TrialView): Result;
  /** Joins the results of two segments of a trial, as if both had been read at once. @param second follows the first */
  join(task: Task, first: Result, second: Result): Result;
  sum(task: Task, options: SumOptions): ReportSum<Result, Counts>;
}

/** A report with values of groups of neurons. */
export interface GroupKind<
  Task extends ReportTask = ReportTask,
  Result extends ReportResult = ReportResult,
  Counts extends GroupCounts = GroupCounts,
  Own extends object = object,
> extends AnyKind<Task, Result, Counts> {
  readonly shape: 'groups';
  /** The first one is the default of formats that hold one table. */
  readonly tables: readonly GroupTable[];
  readonly measure: Measure;
  readonly course?: TimeCourse;
  /** The number by which a group is compared with its controls; absent if the kind does not compare. */
  readonly controlled?: {
    /** @returns the total of each row over all trials, as a whole number */
    totalsOf(counts: Counts, trials: number): Float64Array;
    /** @returns the divisor that converts a total into the unit of the measure */
    unitOf(neurons: number, window: ReportWindow, trials: number): number;
  };
  /** Size of the answer: numbers of one group beside one for each trial. Limits and prices count them. */
  furtherNumbers?(document: ReportDocument, window: ReportWindow): number;
  valuesOf(counts: Counts, trials: number): GroupValues<Own>;
}

/** The number of a group that lists and figures show, with its mean and population standard deviation over trials. */
export interface Measure {
  readonly label: string;
  readonly unit: string;
  /** @returns null if the group has no value */
  of(group: GroupResult): (MeanSd & { readonly trials: readonly (number | null)[] }) | null;
  /** Set if a low number is a strong response, as of a time: the word for the lowest. */
  readonly lowest?: string;
  /** The number of neurons that responded, in a few characters; empty if unknown. */
  respondingOf(group: GroupResult): string;
}

/** The mean of a group in each time bin, for figures. */
export interface TimeCourse {
  readonly name: string;
  readonly unit: string;
  readonly table: string;
  readonly note: string;
  of(group: GroupResult): readonly number[] | null;
}

/** Values of the groups of a report in a condition, without their labels and sizes. */
export interface GroupValues<Own extends object> {
  of(row: number, neurons: number): Own;
  /** Values of a group without a spike. */
  readonly silent: Own;
  /** Values of a group if the event budget ended a trial. */
  readonly stopped: Own;
}

export interface GroupTable {
  readonly name: string;
  /** True if only an experiment with controls fills it. */
  readonly isOfControls?: boolean;
  /** Columns between the size of a group and the number of trials. */
  columnsOf(reports: readonly ReportDocument[]): readonly GroupColumn[];
  /** More columns after these if the experiment has controls. */
  readonly controlColumns?: readonly GroupColumn[];
  /** Number of rows of each group, by default 1. All groups of a report in a condition have the same number. */
  rowsOfEach?(groups: GroupResults): number;
}

/** A row of a table of groups. */
export interface GroupRow {
  readonly group: GroupResult;
  /** Number of the row within its group, from 0. */
  readonly at: number;
  /** Number of the report among those of the table, from 0. */
  readonly report: number;
}

export interface GroupColumn {
  readonly column: TableColumn;
  valueOf(row: GroupRow): number;
}

/** A report that is a table with a row for each event: trial, time, neuron, and columns of the kind. Answers divide it into pages. */
export interface EventKind<
  Task extends ReportTask = ReportTask,
  Result extends ReportResult = ReportResult,
> extends AnyKind<Task, Result, EventTable> {
  readonly shape: 'events';
  /** The name of its events in figures and lists, such as `spikes`. */
  readonly noun: string;
  /** A number that figures draw as a line for each neuron. Without it they draw a stroke for each row. */
  readonly trace?: Trace;
  /** True if its columns can be named as other programs name them (`?names=`). */
  readonly takesNames?: true;
  /** The columns of the kind. Tables put labels before the neuron, and numbers last. */
  columnsOf?(inputNames: readonly string[]): readonly TableColumn[];
  /** The member of a dry run's cost with the number of rows; `says` tells lists how exact that number is. */
  readonly cost: {
    readonly member: string;
    readonly schema: SchemaOf<number>;
    readonly says: 'at most' | 'about' | '';
  };
  /** Number of rows of one trial, estimated before it runs. */
  expectedRows(trial: ExpectedTrial): number;
  /**
   * Tells whether readers take the spikes for a response. If so, a warning names neurons that an input stimulates. The
   * default is no.
   */
  isReadout?(report: PlannedReport, neuronCount: number): boolean;
}

/** A number of each neuron over time. */
export interface Trace {
  /** One of the columns of the kind. */
  readonly column: string;
  readonly label: string;
  readonly unit: string;
  /** Values to compare with. @param constants those that the condition changes, by their names in a document */
  linesWith?(constants: Readonly<Record<string, number>>): readonly ReferenceLine[];
}

/** A value that figures draw as a line across a trace. */
export interface ReferenceLine {
  readonly label: string;
  readonly at: number;
  readonly dash: string;
}

/** The facts about a trial from which rows are estimated. */
export interface ExpectedTrial {
  readonly document: ReportDocument;
  readonly window: ReportWindow;
  /** Number of neurons of the report. */
  readonly neurons: number;
  /** At most so many of them are stimulated by an input. */
  readonly stimulated: number;
  /** Expected input events of its neurons in its window. */
  readonly inputEvents: number;
  readonly refractorySteps: number;
}

export type ReportKind = GroupKind | EventKind;
