/** A kind of edit changes the network: it is a member of the document, and one object in one file of `edits`. */
import type { Connectome } from '../../connectome/connectome.js';
import type { SelectorAt } from '../../connectome/node-set-resolver.js';
import type { InParts } from '../../parts.js';
import { isObject } from '../../schema/forms.js';
import type { JsonPath } from '../../schema/json-path.js';
import { refusalOf, type Schema, type SchemaOf } from '../../schema/json-schema.js';
import type { Protocol } from '../../stimulus/protocol.js';
import type { ReportDocument } from '../document/kind-schemas.js';
import type { AxisValue, Grid } from '../plan/sweep.js';
import { connectionOverrides } from './edits/connection-overrides.js';
import { constants } from './edits/constants.js';
import { silence } from './edits/silence.js';
import { wiring } from './edits/wiring.js';

/** By the member of the document. */
export const EDIT_KINDS = { silence, constants, wiring, connection_overrides: connectionOverrides };

type Edits = typeof EDIT_KINDS;
export type EditName = keyof Edits;

/** Selectors under one name in the answer. */
export interface SelectorUse {
  readonly name: string;
  readonly selectors: readonly SelectorAt[];
}

/** A part of the trial, as reports have it. */
export type TimeWindow = Pick<ReportDocument, 'start_ms' | 'end_ms'>;

/** The network and the sweep that an edit is planned for. */
export interface EditContext {
  readonly connectome: Connectome;
  readonly grid: Grid;
  /** Ascending neurons of its selectors, by the names of `usesOf`. */
  readonly neurons: ReadonlyMap<string, Uint32Array>;
  /** True where an edit before it rewires the network. */
  readonly isRewired: boolean;
}

/** Values and groups of a sweep in one condition. */
export interface ConditionEdits {
  readonly durationMs: number;
  /** @returns undefined where nothing sweeps the parameter */
  valueOf(parameter: string): number | undefined;
  /** @returns the neurons of a group, null in the baseline of its axis, undefined where nothing sweeps the parameter */
  groupOf(parameter: string): Uint32Array | null | undefined;
}

/** Part of a protocol that edits make of a condition, beside constants and wiring. */
export type EditedProtocol = Partial<Pick<Protocol, 'silenced' | 'silencedWindows' | 'overrides'>>;

/** An edit of a document on a connectome. */
export interface PlannedEdit {
  /** Facts for `resolved` in the answer, under the name of its member. */
  readonly resolved?: object;
  /** True where it may change which neurons are connected. */
  readonly isRewired?: boolean;
  /** Constants and wiring in a condition, as far as they are not those of the model. */
  networkIn?(valueOf: ConditionEdits['valueOf']): Pick<Protocol, 'constants' | 'wiring'>;
  /** Its arrays lie in shared memory. */
  protocolIn?(condition: ConditionEdits): EditedProtocol;
  /**
   * @param places of a condition on the axes
   * @returns connections that a worker has to prepare for it, the most that there can be where groups are not known yet
   */
  pairsAt?(places: readonly number[]): number;
  /**
   * Tells whether a condition is its baseline, because its groups have nothing to change.
   * @param values on the axes, where all groups are known
   */
  isIdleAt?(places: readonly number[], values?: readonly AxisValue[]): boolean;
}

export interface EditKind<Value = unknown> {
  /** Without a default the member may be absent. */
  readonly schema: SchemaOf<Value>;
  /** Facts for the answer, where it has some, and a line of text for each of them. */
  readonly resolved?: {
    readonly schema: Schema;
    linesOf(facts: never): readonly (readonly [name: string, text: string])[];
  };
  /** Numbers that a sweep may set, by the names of their parameters. @param names of members of a map */
  numbers?(names: readonly string[]): Readonly<Record<string, Schema>>;
  /** Neurons whose place groups of a sweep may take. */
  readonly groups?: {
    parameters(names: readonly string[]): readonly string[];
    /** Completes "with a group", in figures. */
    readonly done: string;
    /** Why some groups need not be run. */
    readonly unchanged: string;
    /** True where an edit of neurons that never spike changes nothing, so that it need not be run. */
    readonly sparesSilent?: true;
  };
  /** Says what it does to the network; empty where it does nothing. @param swept parameters of the sweep */
  words(value: Value, swept: readonly string[]): string;
  /** Puts in order what may be written in several ways. @returns undefined where it says nothing */
  parsed?(value: Value): Value | undefined;
  /** Parts of a trial in which it holds, for figures. */
  windowsOf?(value: Value): readonly {
    readonly label: string;
    readonly startMs: number;
    readonly endMs: number | null;
  }[];
  /** Changes its windows and nothing else. */
  withWindows?(value: Value, change: <W extends TimeWindow>(window: W, path: JsonPath) => W): Value;
  usesOf?(value: Value): readonly SelectorUse[];
  /**
   * @param value undefined where the document lacks the member
   * @throws CodedError INVALID_PARAMETER, NO_CONNECTION
   */
  planned(context: EditContext, value: Value | undefined): InParts<PlannedEdit>;
}

/** The members of the document. */
export const EDIT_SCHEMAS = Object.fromEntries(
  Object.entries(EDIT_KINDS).map(([name, { schema }]) => ['default' in schema ? name : `${name}?`, schema]),
) as {
  [K in EditName as Edits[K]['schema'] extends { default: unknown } ? K : `${K}?`]: Edits[K]['schema'];
};

const KINDS: Readonly<Record<string, EditKind>> = EDIT_KINDS as Readonly<Record<string, EditKind>>;
const SEPARATOR = '.';
/** Stands in messages for the name of any member of a map. */
const ANY_NAME = ['NAME'];

/** @returns the edit that a swept parameter stands for, undefined where it stands for something else */
export function editKindOf(parameter: string): EditKind | undefined {
  const [member] = parameter.split(SEPARATOR, 1) as [string];
  return Object.hasOwn(KINDS, member) ? KINDS[member] : undefined;
}

/** The edits of a document, as far as it has them. */
export function editsOf(
  document: object,
): (readonly [name: string, kind: EditKind, value: NonNullable<unknown>])[] {
  return Object.entries(KINDS).flatMap(([name, kind]) => {
    const value = (document as Readonly<Record<string, unknown>>)[name] ?? undefined;
    return value === undefined ? [] : [[name, kind, value] as const];
  });
}

/** The document with its edits changed; one that becomes undefined is left out. */
export function withEdits<D extends object>(
  document: D,
  change: (kind: EditKind, value: NonNullable<unknown>) => unknown,
): D {
  const changed = new Map(editsOf(document).map(([name, kind, value]) => [name, change(kind, value)]));
  const entries = Object.entries(document).map(([name, value]) => [
    name,
    changed.has(name) ? changed.get(name) : value,
  ]);
  return Object.fromEntries(
    entries.filter(([name, value]) => value !== undefined || !changed.has(name)),
  ) as D;
}

/** Numbers of edits that a sweep may set, by the names of their parameters. @param document nothing, for messages */
export function sweptNumbers(document?: object): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...sweptOf(document, (kind, names) => [kind.numbers?.(names)])) as Record<
    string,
    Schema
  >;
}

/** Parameters of edits that groups of a sweep may stand for. @param document nothing, for messages */
export function sweptGroups(document?: object): string[] {
  return sweptOf(document, (kind, names) => kind.groups?.parameters(names) ?? []);
}

function sweptOf<T>(
  document: object | undefined,
  of: (kind: EditKind, names: readonly string[]) => readonly T[],
): T[] {
  const values: Readonly<Record<string, unknown>> = { ...document };
  return Object.entries(KINDS).flatMap(([name, kind]) => {
    const value = values[name];
    return of(kind, document === undefined ? ANY_NAME : isObject(value) ? Object.keys(value) : []);
  });
}

/** @returns why a number of an edit cannot be swept, where there is a reason of its own */
export function sweepRefusal(parameter: string): string | undefined {
  const kind = editKindOf(parameter);
  return kind && refusalOf(kind.schema, parameter.slice(parameter.indexOf(SEPARATOR) + 1));
}

/** Facts that edits add to `resolved` in the answer, by the names of the edits. */
export const RESOLVED_OF_EDITS = Object.entries(KINDS).flatMap(([name, { resolved }]) =>
  resolved === undefined ? [] : [{ name, ...resolved }],
);
