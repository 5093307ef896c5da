/** The list of all kinds of edits, and functions over the edits of a document. */
import { own } from '../../engine/own.js';
import { isObject } from '../../engine/schema/forms.js';
import { refusalOf, type Schema } from '../../engine/schema/json-schema.js';
import type { EditKind } from './edit-kind.js';
import { connectionOverrides } from './edits/connection-overrides.js';
import { constants } from './edits/constants.js';
import { silence } from './edits/silence.js';
import { wiring } from './edits/wiring.js';

/** By their members of the document. */
export const EDIT_KINDS = { silence, constants, wiring, connection_overrides: connectionOverrides };

type Edits = typeof EDIT_KINDS;
export type EditName = keyof Edits;

/** The schemas of these members; a question mark marks an optional one. */
export const EDIT_SCHEMAS = Object.fromEntries(
  Object.entries(EDIT_KINDS).map(([name, { schema }]) => ['default' in schema ? name : `${name}?`, schema]),
) as {
  [K in EditName as Edits[K]['schema'] extends { default: unknown } ? K : `${K}?`]: Edits[K]['schema'];
};

const KINDS: Readonly<Record<string, EditKind>> = EDIT_KINDS as Readonly<Record<string, EditKind>>;
const SEPARATOR = '.';
/** Messages use this for the name of an override that the reader chooses. */
const ANY_NAME = ['NAME'];

/** @returns the edit that a swept parameter belongs to; undefined if it belongs to no edit */
export function editKindOf(parameter: string): EditKind | undefined {
  const [member] = parameter.split(SEPARATOR, 1) as [string];
  return own(KINDS, member);
}

/** The edits that a document has. */
export function editsOf(
  document: object,
): (readonly [name: string, kind: EditKind, value: NonNullable<unknown>])[] {
  return Object.entries(KINDS).flatMap(([name, kind]) => {
    const value = own(document as Readonly<Record<string, unknown>>, name) ?? undefined;
    return value === undefined ? [] : [[name, kind, value] as const];
  });
}

/** Copies a document with changed edits. An edit that becomes undefined is left out. */
export function withEdits<D extends object>(
  document: D,
  change: (kind: EditKind, value: NonNullable<unknown>) => unknown,
): D {
  const edits = editsOf(document).map(([name, kind, value]) => [name, change(kind, value)] as const);
  const undone = edits.filter(([, value]) => value === undefined).map(([name]) => name);
  const changed = { ...document, ...Object.fromEntries(edits) };
  return Object.fromEntries(Object.entries(changed).filter(([name]) => !undone.includes(name))) as D;
}

/** Numbers of edits that a sweep may set, by the names of their parameters. @param document left out for messages */
export function sweptNumbers(document?: object): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...sweptOf(document, (kind, names) => [kind.numbers?.(names)])) as Record<
    string,
    Schema
  >;
}

/** Parameters of edits that a sweep may replace by groups. @param document left out for messages */
export function sweptGroups(document?: object): string[] {
  return sweptOf(document, (kind, names) => kind.groups?.parameters(names) ?? []);
}

function sweptOf<T>(
  document: object | undefined,
  of: (kind: EditKind, names: readonly string[]) => readonly T[],
): T[] {
  return Object.entries(KINDS).flatMap(([name, kind]) => {
    const value = own(document as Readonly<Record<string, unknown>> | undefined, name);
    return of(kind, document === undefined ? ANY_NAME : isObject(value) ? Object.keys(value) : []);
  });
}

/** @returns the reason for which a number of an edit cannot be swept, if its schema has one */
export function sweepRefusal(parameter: string): string | undefined {
  const kind = editKindOf(parameter);
  return kind && refusalOf(kind.schema, parameter.slice(parameter.indexOf(SEPARATOR) + 1));
}

/** The schemas of facts that edits add to `resolved` in the answer. */
export const RESOLVED_OF_EDITS = Object.entries(KINDS).flatMap(([name, { resolved }]) =>
  resolved === undefined ? [] : [{ name, ...resolved }],
);
