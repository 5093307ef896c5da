/** Columns of the tables that CSV, Arrow and Parquet hold. */
import type { ConditionParameters } from '../run/result.js';

/** The text of a `label` column is one of a list that is known before the first row. */
export type ColumnType = 'int32' | 'int64' | 'double' | 'text' | 'label';

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Marks a `double` whose NaN stands for no value. */
  readonly nullable?: boolean;
  /** Values of a `label`. */
  readonly labels?: readonly string[];
}

/** By the type of the column: Int32Array, BigInt64Array, Float64Array, strings, places in `labels`. */
export type ColumnValues = Int32Array | BigInt64Array | Float64Array | readonly string[];

/** A column of a table of events that its kind brings: doubles, or places in the labels of a `label`. */
export interface EventColumn {
  readonly column: TableColumn;
  readonly values: EventValues;
}

export type EventValues = Uint8Array | Float64Array;

/** Says which condition a row belongs to. */
export interface ParameterColumn {
  readonly column: TableColumn;
  valueIn(parameters: ConditionParameters['parameters']): number | string;
}
