/** The parts of an answered condition: its parameters, values of groups, and rows of tables. */
import type { GroupLabels } from './groups.js';

/** A number; or, on an `each` axis, the labels of the group, and null in the baseline. */
export type ParameterValue = number | Readonly<Record<string, string>> | null;

/** The groups of a report, in their order: an array, or an object that makes each group on demand. */
export interface GroupResults extends Iterable<GroupResult> {
  readonly length: number;
  at(group: number): GroupResult | undefined;
}

/** A group of an answer: its labels (a single neuron has `root_id`), its size, and the values of its report's kind. */
export type GroupResult<Own extends object = Readonly<Record<string, unknown>>> = GroupLabels & {
  readonly neurons: number;
} & Own;

/** The rows of a table for one condition, or for the trials of it that are on a page. */
export interface EventTable {
  /** The kind of the report. */
  readonly table: string;
  /** The trial of each row: an experiment has at most 100. */
  readonly trials: Uint8Array;
  readonly steps: Uint16Array | Uint32Array;
  /** Indices into the connectome. */
  readonly neurons: Uint32Array;
  /** The columns of its kind; see EventKind. */
  readonly columns: readonly EventColumn[];
  readonly truncated: boolean;
}

/**
 * The types of columns in the tables that CSV, Arrow and Parquet hold. A `label` column takes its texts from a list that is
 * known before the first row.
 */
export type ColumnType = 'int32' | 'int64' | 'double' | 'text' | 'label';

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** If true, NaN in a `double` column means no value. */
  readonly nullable?: boolean;
  /** The texts of a `label` column. */
  readonly labels?: readonly string[];
}

/** By the type of the column: Int32Array, BigInt64Array, Float64Array, strings; for `label` an Int32Array of positions in `labels`. */
export type ColumnValues = Int32Array | BigInt64Array | Float64Array | readonly string[];

/** A column that the kind of a table of events adds: doubles, or positions in `labels`. */
export interface EventColumn {
  readonly column: TableColumn;
  readonly values: EventValues;
}

export type EventValues = Uint8Array | Float64Array;

/** A column that shows a parameter of the row's condition. */
export interface ParameterColumn {
  readonly column: TableColumn;
  valueIn(parameters: Readonly<Record<string, ParameterValue>>): number | string;
}
