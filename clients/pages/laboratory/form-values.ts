/** Values, names and texts that the form derives from the schemas of a document. */
import { inputKindOf, INPUT_KINDS } from '../../../src/experiments/kinds/input-kinds.js';
import type { Schema } from '../../../src/engine/schema/json-schema.js';
import { own } from '../../../src/engine/own.js';
import {
  isList,
  isMembers,
  type Json,
  keysOf,
  type Members,
  pointer,
  withMemberRenamed,
  withValueAt,
} from './json.js';
import { COURSE, NUMBER, NUMBERS, PLAIN, type Writing } from './values.js';

/** A slider has about this number of steps. */
const SLIDER_STEPS = 200;
export const ENDS = ['source', 'target'];

/** @returns the text form of the schema's values; undefined if there is no control */
export function writingOf(schema: Schema): Writing | undefined {
  const forms = schema.anyOf ?? [schema];
  if (forms.some(({ properties }) => properties?.['times_ms'] && properties['values'])) return COURSE;
  const isNumber = (type: unknown) => type === 'number' || type === 'integer';
  if (forms.some(({ type, items }) => type === 'array' && isNumber(items?.type))) return NUMBERS;
  const types = [schema.type].flat();
  if (types.some(isNumber)) return NUMBER;
  return types.includes('string') && schema['const'] === undefined ? PLAIN : undefined;
}

export function isRows({ type, items }: Schema): boolean {
  return type === 'array' && items?.properties !== undefined;
}

export function placeholderOf(schema: Schema, writing: Writing): string {
  const byDefault = schema['default'];
  if (byDefault === null) return 'the end';
  if (byDefault !== undefined) return String(byDefault);
  return writing === PLAIN ? '' : 'as usual';
}

/** 1, 2 or 5 times a power of ten. */
export function stepOf(way: number): number {
  const least = way / SLIDER_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((each) => each * power >= least * 0.999)! * power;
  return Number(step.toPrecision(1));
}

/** Converts a value to another kind. Common members stay; required members get values from the kind's examples. */
export function withSchema(
  value: Members,
  { properties = {}, required = [] }: Schema,
  given: Members = {},
): Members {
  const [first] = listAt(value, 'rates');
  const before = isMembers(first) && !('rates' in properties) ? { ...first, ...value } : value;
  const of = (name: string): Json | undefined => {
    const { const: only, default: byDefault, examples, maxItems } = properties[name]!;
    if (only !== undefined) return byDefault === undefined ? (only as Json) : undefined;
    if (name === 'rates') return [{ node_set: value['node_set'] ?? [], rate_hz: 100 }];
    if (maxItems === 0) return undefined;
    const writing = writingOf(properties[name]!);
    const fits = writing === undefined || Boolean(writing.textOf(own(before, name) ?? ''));
    if (own(before, name) !== undefined && fits) return before[name];
    return required.includes(name) ? (name === 'node_set' ? [] : (examples as Json[])[0]) : undefined;
  };
  // A report without a type is one of rates, so `rate` is left out.
  const entries = Object.keys(properties).map(
    (name) => [name, Object.hasOwn(given, name) && given[name] !== 'rate' ? given[name] : of(name)] as const,
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** Renames a member, also in the sweep. */
export function renamed(document: Members, member: string, before: string, name: string): Json {
  const [old, now] = [`${member}.${before}`, `${member}.${name}`];
  const text = (value: Json): Json =>
    value === old || (typeof value === 'string' && value.startsWith(`${old}.`))
      ? now + value.slice(old.length)
      : value;
  const axes = listAt(document, 'sweep').map((axis) =>
    isMembers(axis)
      ? Object.fromEntries(Object.entries(axis).map(([key, value]) => [key, text(value)]))
      : axis,
  );
  const changed = withMemberRenamed(document, pointer(member, before), name);
  return axes.length === 0 ? changed : withValueAt(changed, '/sweep', axes);
}

/** Words for a selector, and its name in the answer. Selectors of the rows of a pattern have no name there. */
export function selectorAt(path: string): { readonly what: string; readonly resolved: string } {
  const [section, row, member, at] = keysOf(path) as [string, string, string, string?];
  if (section === 'silence') return { what: `timed silence ${Number(row) + 1}`, resolved: `silence.${row}` };
  if (ENDS.includes(member)) return { what: `${member} of ${row}`, resolved: `${section}.${row}.${member}` };
  const what = `${section.slice(0, -1)} ${row}`;
  return at === undefined
    ? { what, resolved: `${section}.${row}` }
    : { what: `row ${Number(at) + 1} of ${what}`, resolved: '' };
}

/** @returns undefined for an unknown kind */
export function kindOf(input: Members): ReturnType<typeof inputKindOf> | undefined {
  return inputKindOf({ module: 'poisson', ...input });
}

export function newInput(selector: Json): Json {
  return { node_set: selector, rate_hz: INPUT_KINDS.poisson.schema.properties.rate_hz.default! };
}

export function newReport(selector: Json): Json {
  return { node_set: selector, group_by: ['side'] };
}

export function membersAt(document: Members, member: string): Members {
  const value = document[member];
  return isMembers(value) ? value : {};
}

export function listAt(document: Members, member: string): readonly Json[] {
  const value = document[member];
  return isList(value) ? value : [];
}

export function pick(
  schemas: Readonly<Record<string, Schema>>,
  names: readonly string[],
): Record<string, Schema> {
  const found = names.filter((name) => Object.hasOwn(schemas, name));
  return Object.fromEntries(found.map((name) => [name, schemas[name]!]));
}

export function without<T>(
  members: Readonly<Record<string, T>>,
  names: readonly string[],
): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

export function nameFrom(selector: string): string {
  return (
    selector
      .replace(/^@/, '')
      .replace(/[^A-Za-z0-9_-]+/g, '_')
      .slice(0, 64) || 'neurons'
  );
}

export function freeName(wanted: string, taken: object): string {
  let name = wanted;
  for (let at = 2; Object.hasOwn(taken, name); at++) name = `${wanted}_${at}`;
  return name;
}
