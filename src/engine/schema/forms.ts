/** JSON values, and the choice among the forms of `anyOf`. */
import { type Definitions, nameOfRef, type Schema } from './json-schema.js';

/** Tells whether a value is a JSON object: no list and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Like Array.isArray, whose type does not narrow readonly lists. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/**
 * Tells whether a member is present. JSON has no undefined, but a caller in the same process may use it for absence.
 */
export function hasMember(value: object, member: string): boolean {
  return Object.hasOwn(value, member) && (value as Schema)[member] !== undefined;
}

/** A replacer for JSON.stringify that sorts the members of objects, so that equal values have equal texts. */
export function sortedMembers(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The form of `anyOf` that the author of a value meant. */
export interface Meant {
  /** The forms with the JSON type of the value. */
  readonly candidates: readonly Schema[];
  /** One of the candidates; undefined if there is none, or if none has the value's tag. */
  readonly form: Schema | undefined;
  /** The member that distinguishes the candidates, if there is one, with the value that decided. */
  readonly tag?: { readonly name: string; readonly value: unknown; readonly allowed: readonly unknown[] };
}

/**
 * Finds the form that the author of a value meant, so that a message can describe only that form:
 * 1. If only one form has the JSON type of the value, it is that form.
 * 2. A tag is a member that has a constant in every candidate. If there is a tag, the forms with the value's tag
 *    remain. A value without the tag means the form that does not require it.
 * 3. Of the remaining forms, it is the first one that requires a member of the value. If there is no tag and none does,
 *    it is the first one that has a member of the value. Else it is the last form.
 */
export function meantForm(forms: readonly Schema[], value: unknown, definitions: Definitions): Meant {
  const candidates = forms.filter((form) => {
    const types = typesOf(form, definitions);
    return types.length === 0 || types.includes(typeOf(value));
  });
  if (!isObject(value) || candidates.length < 2) return { candidates, form: candidates[0] };
  const constantOf = (form: Schema, member: string) => form.properties?.[member]?.['const'];
  const tag = Object.keys(candidates[0]!.properties ?? {}).find((member) =>
    candidates.every((form) => constantOf(form, member) !== undefined),
  );
  const required = ({ required = [] }: Schema) => required;
  const withAny = (among: readonly Schema[], membersOf: (form: Schema) => readonly string[] = required) =>
    among.find((form) => membersOf(form).some((member) => hasMember(value, member)));
  if (tag === undefined) {
    const form = withAny(candidates) ?? withAny(candidates, ({ properties = {} }) => Object.keys(properties));
    return { candidates, form: form ?? candidates.at(-1) };
  }
  const untagged = candidates.find(({ required = [] }) => !required.includes(tag));
  const given = hasMember(value, tag) || untagged === undefined ? value[tag] : constantOf(untagged, tag);
  const tagged = candidates.filter((form) => constantOf(form, tag) === given);
  return {
    candidates,
    form: withAny(tagged) ?? tagged.at(-1),
    tag: { name: tag, value: given, allowed: [...new Set(candidates.map((form) => constantOf(form, tag)))] },
  };
}

/** @returns the JSON types that a schema allows; none if it does not say */
function typesOf(schema: Schema, definitions: Definitions): readonly string[] {
  const name = nameOfRef(schema);
  if (name !== undefined) return typesOf(definitions[name]!, definitions);
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((form) => typesOf(form, definitions));
  const types = [schema.type ?? []].flat();
  return types.includes('integer') ? [...types, 'number'] : types;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
