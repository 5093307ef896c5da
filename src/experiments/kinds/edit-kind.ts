/**
 * The interface of a kind of edit: a change to the network, such as silenced neurons. Each kind is a member of the document
 * and one object in a file of `edits`.
 */
import type { Connectome } from '../../engine/connectome/connectome.js';
import type { SelectorAt } from '../../engine/connectome/node-set-resolver.js';
import type { InParts } from '../../engine/parts.js';
import type { JsonPath } from '../../engine/schema/json-path.js';
import type { Schema, SchemaOf } from '../../engine/schema/json-schema.js';
import type { Protocol } from '../../engine/stimulus/protocol.js';
import type { AxisValue, Grid } from './grid.js';
import type { ReportDocument } from './kind-schemas.js';
import type { ExperimentWarning } from './warning.js';

/** Selectors under one name in the answer. */
export interface SelectorUse {
  readonly name: string;
  readonly selectors: readonly SelectorAt[];
}

/** A time window of the trial, with the members that reports have. */
export type TimeWindow = Pick<ReportDocument, 'start_ms' | 'end_ms'>;

/** The context in which an edit is planned. */
export interface EditContext {
  readonly connectome: Connectome;
  readonly grid: Grid;
  /** The neurons of its selectors, ascending, by the names that `usesOf` gives. */
  readonly neurons: ReadonlyMap<string, Uint32Array>;
  /** If true, leave out selectors without a neuron and overrides without a connection; otherwise refuse them. */
  readonly skipsMissing: boolean;
  /** True if an earlier edit rewires the network. */
  readonly isRewired: boolean;
}

/** The values and groups that a sweep sets in one condition. */
export interface ConditionEdits {
  readonly durationMs: number;
  /** @returns undefined if nothing sweeps the parameter */
  valueOf(parameter: string): number | undefined;
  /** @returns the neurons of the group; null in the baseline of its axis; undefined if nothing sweeps the parameter */
  groupOf(parameter: string): Uint32Array | null | undefined;
}

/** The parts of a protocol that edits set, except constants and wiring. */
export type EditedProtocol = Partial<Pick<Protocol, 'silenced' | 'silencedWindows' | 'overrides'>>;

/** An edit of a document, planned for a connectome. */
export interface PlannedEdit {
  /** Facts for `resolved` in the answer, under the name of its member. */
  readonly resolved?: object;
  /** Warnings that need no trial. */
  readonly warnings?: readonly ExperimentWarning[];
  /** True if the edit may change which neurons are connected. */
  readonly isRewired?: boolean;
  /** Constants and wiring in a condition, if they differ from those of the model. */
  networkIn?(valueOf: ConditionEdits['valueOf']): Pick<Protocol, 'constants' | 'wiring'>;
  /** The arrays lie in shared memory. */
  protocolIn?(condition: ConditionEdits): EditedProtocol;
  /**
   * @param coordinates of a cell on the axes
   * @returns the number of connections that a worker must prepare for it; an upper bound if groups are not known yet
   */
  pairsAt?(coordinates: readonly number[]): number;
  /**
   * Tells whether a cell has the same results as its baseline, because its groups have nothing to change.
   * @param values on the axes; absent if not all groups are known
   */
  isIdleAt?(coordinates: readonly number[], values?: readonly AxisValue[]): boolean;
}

export interface EditKind<Value = unknown> {
  /** A schema without a default makes the member optional. */
  readonly schema: SchemaOf<Value>;
  /** The schema of its facts in the answer, and a line of text for each fact. */
  readonly resolved?: {
    readonly schema: Schema;
    linesOf(facts: never): readonly (readonly [name: string, text: string])[];
  };
  /** Numbers that a sweep may set, by the names of their parameters. @param names the names in the member, if it is a map */
  numbers?(names: readonly string[]): Readonly<Record<string, Schema>>;
  /** Present if a sweep may replace neurons of this edit by groups, one group after the other. */
  readonly groups?: {
    parameters(names: readonly string[]): readonly string[];
    /** Completes the phrase "with a group ..." in figures. */
    readonly done: string;
    /** The reason for which some groups need not be run, as a sentence. */
    readonly unchanged: string;
    /** True if editing neurons that never spike changes nothing: such groups need not be run. */
    readonly sparesSilent?: true;
  };
  /** The edit in words; empty if it does nothing. @param swept parameters of the sweep, which have no single value */
  words(value: Value, swept: readonly string[]): string;
  /** Brings equal edits into one form, so that they get equal ids. @returns undefined if the edit does nothing */
  parsed?(value: Value): Value | undefined;
  /** The time windows in which the edit holds, for figures. */
  windowsOf?(value: Value): readonly {
    readonly label: string;
    readonly startMs: number;
    readonly endMs: number | null;
  }[];
  /** Copies the value with changed time windows. */
  withWindows?(value: Value, change: <W extends TimeWindow>(window: W, path: JsonPath) => W): Value;
  usesOf?(value: Value): readonly SelectorUse[];
  /**
   * @param value undefined if the document lacks the member
   * @throws CodedError INVALID_PARAMETER, NO_CONNECTION
   */
  planned(context: EditContext, value: Value | undefined): InParts<PlannedEdit>;
}
