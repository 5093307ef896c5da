/**
 * The members that all inputs, or all reports, have in a document. Each kind adds its name and further members.
 *
 * The types are written by hand and not inferred from the schemas of the kinds, because the list of kinds needs them.
 */
import type { SetSelector } from '../../engine/connectome/set-selector.js';
import { number, object, oneOf, type Schema, type SchemaOf } from '../../engine/schema/json-schema.js';
import { type GroupLabel, groupBy, LENGTH, NODE_SET, startMs, untilEndMs } from './fields.js';

/** An input of any kind. */
export interface InputDocument {
  /** Absent if another member selects the neurons. */
  readonly node_set?: SetSelector;
  /** The name of its kind: see kinds/input-kinds.ts. */
  readonly module: string;
  readonly delay_ms: number;
  readonly duration_ms: number | null;
}

/** A report of any kind. */
export interface ReportDocument {
  readonly node_set: SetSelector;
  /** The name of its kind: see kinds/report-kinds.ts. */
  readonly type: string;
  /** If empty, all neurons are one group. Always empty in a table of events. */
  readonly group_by: readonly GroupLabel[];
  readonly start_ms: number;
  readonly end_ms: number | null;
  /** Width of the bins of a histogram; other kinds have none. */
  readonly bin_ms?: number;
  /** Time between samples of membrane potentials; other kinds have none. */
  readonly dt_ms?: number;
}

/** The kinds of an input and of a report that name none. */
const DEFAULT_MODULE = 'poisson';
const DEFAULT_TYPE = 'rate';

const WINDOW_LENGTH = 'Length of that window in ms';
const DELAY_MS = startMs('Start of the window in which events arrive, in ms from the start of the trial.');

const ONE_SET = { node_set: NODE_SET };

/** Members of every input that a sweep may set. A swept length is a number: null would not say how long a window is. */
export const SWEPT_OF_INPUT = { delay_ms: DELAY_MS, duration_ms: number(`${WINDOW_LENGTH}.`, LENGTH) };

/**
 * @param members of this kind, by name
 * @param neurons the member that selects the neurons
 */
export function inputSchema<
  const T extends string,
  const M extends Readonly<Record<string, Schema>>,
  const N extends Readonly<Record<string, Schema>> = typeof ONE_SET,
>(module: T, description: string, members: M, neurons: N = ONE_SET as unknown as N) {
  return object(description, {
    ...neurons,
    module: oneOf('Source of events.', [module], module === DEFAULT_MODULE ? { default: module } : {}),
    ...members,
    delay_ms: DELAY_MS,
    duration_ms: untilEndMs(`${WINDOW_LENGTH}; null or left out: to the end of the trial.`),
  });
}

/** The `group_by` of a report of groups. */
export const GROUPS = groupBy('Labels that make a group; empty: all neurons are one.');
/** The `group_by` of a table of events. */
export const NO_GROUPS = groupBy('Empty: a table has a row for each event.', [], 0);

/** @param members of this kind, by name; a name with a question mark is optional */
export function reportSchema(
  type: string,
  description: string,
  groups: typeof GROUPS,
  members: Readonly<Record<string, Schema>> = {},
): SchemaOf<ReportDocument> {
  return object(description, {
    node_set: NODE_SET,
    type: oneOf('Kind of report.', [type], type === DEFAULT_TYPE ? { default: type } : {}),
    group_by: groups,
    start_ms: startMs('Start of the report, in ms from the start of the trial.'),
    end_ms: untilEndMs('End of the report, in ms from the start of the trial; null or left out: its end.'),
    ...members,
  });
}
