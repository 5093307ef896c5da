/**
 * Inputs and reports in a document: the members that all of them have, as types and as schemas. Each kind makes its own
 * schema of its name and the members that it alone has. The registry of kinds needs these types, so they cannot be
 * inferred from the schemas of the kinds.
 */
import type { SetSelector } from '../../connectome/set-selector.js';
import { number, object, oneOf, type Schema, type SchemaOf } from '../../schema/json-schema.js';
import { type GroupLabel, groupBy, LENGTH, NODE_SET, startMs, untilEndMs } from './fields.js';

/** An input of any kind. */
export interface InputDocument {
  /** Absent where the neurons stand in another member. */
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
  /** Empty: all neurons are one group. Of a table of events it is empty. */
  readonly group_by: readonly GroupLabel[];
  readonly start_ms: number;
  readonly end_ms: number | null;
  /** Width of the bins of a histogram; other kinds have none. */
  readonly bin_ms?: number;
  /** Time between samples of membrane potentials; other kinds have none. */
  readonly dt_ms?: number;
}

/** The kind of an input, or of a report, that does not say. */
const DEFAULT_MODULE = 'poisson';
const DEFAULT_TYPE = 'rate';

const WINDOW_LENGTH = 'Length of that window in ms';
const DELAY_MS = startMs('Start of the window in which events arrive, in ms from the start of the trial.');

const ONE_SET = { node_set: NODE_SET };

/** Members of every input that a sweep may set. A condition has a window of its own, so null is not among the values. */
export const SWEPT_OF_INPUT = { delay_ms: DELAY_MS, duration_ms: number(`${WINDOW_LENGTH}.`, LENGTH) };

/**
 * @param members that other kinds lack, by name; those with a default are there once the document is complete
 * @param neurons the member that says which they are
 */
export function inputSchema<
  const T extends string,
  const M extends Readonly<Record<string, Schema>>,
  const N extends Readonly<Record<string, Schema>> = typeof ONE_SET,
>(module: T, description: string, members: M, neurons: N = ONE_SET as unknown as N) {
  return object(description, {
    ...neurons,
    module: oneOf('Where events come from.', [module], module === DEFAULT_MODULE ? { default: module } : {}),
    ...members,
    delay_ms: DELAY_MS,
    duration_ms: untilEndMs(`${WINDOW_LENGTH}; null or left out: to the end of the trial.`),
  });
}

/** For reports of groups of neurons. */
export const GROUPS = groupBy('What makes a group; empty: all neurons are one.');
/** For tables. */
export const NO_GROUPS = groupBy('Empty: a table has a row for each event.', [], 0);

/** @param members as of inputSchema; `name?` may be absent */
export function reportSchema(
  type: string,
  description: string,
  groups: typeof GROUPS,
  members: Readonly<Record<string, Schema>> = {},
): SchemaOf<ReportDocument> {
  return object(description, {
    node_set: NODE_SET,
    type: oneOf('What is read.', [type], type === DEFAULT_TYPE ? { default: type } : {}),
    group_by: groups,
    start_ms: startMs('Start of what is read, in ms from the start of the trial.'),
    end_ms: untilEndMs('End of what is read, in ms from the start of the trial; null or left out: its end.'),
    ...members,
  });
}
