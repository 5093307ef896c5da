/** Values of JSON, and the forms that `anyOf` lets one have. */
import { type Definitions, nameOfRef, type Schema } from './json-schema.js';

/** A value that is an object of JSON: no list, not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Array.isArray does not tell a readonly list from an object. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/** JSON has no undefined, but a caller in the same process may write it for a member that is left out. */
export function hasMember(value: object, member: string): boolean {
  return Object.hasOwn(value, member) && (value as Schema)[member] !== undefined;
}

/** The form of `anyOf` that a value is meant to have. */
export interface Meant {
  /** Forms of the same JSON type as the value. */
  readonly candidates: readonly Schema[];
  /** One of the candidates; none where there is no candidate, or none has the tag of the value. */
  readonly form: Schema | undefined;
  /** The member that tells the candidates apart, where one does, with the value that decided. */
  readonly tag?: { readonly name: string; readonly value: unknown; readonly allowed: readonly unknown[] };
}

/**
 * Finds the form that a value is meant to have, so that a message can speak of that form alone:
 * 1. the only form of the JSON type of the value;
 * 2. of several objects that each have a tag, a member with a constant, those whose tag the value has. A value without
 *    the tag means the form that does not require it;
 * 3. of these, or of objects without a tag, the first one of whose required members the value has one, else the last; of
 *    objects without a tag rather one that has a member of the value.
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

/** The types that the values of a schema may have; none if it does not say. */
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
