/**
 * Builders of JSON Schema 2020-12. A schema is described once: TypeScript's type of a value (`Static`), the checks with
 * their sentences (check.ts), the defaults (completed.ts) and OpenAPI all follow from it. The builders are ours because
 * TypeBox takes 200 ms and 20 MB to load in every command and thread, and knows nothing of defaults.
 */
declare const VALUE: unique symbol;

/** The keywords that are known here; a schema may have others. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  /** A number so near a multiple that it is a calculated one is taken for it. Published in words: doubles refuse 0.3. */
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Without flags; `u` is implied. */
  readonly pattern?: string;
  readonly $ref?: string;
  readonly $defs?: Definitions;
  /** Completes "NAME must be ..." where the words that are made of the keywords do not say enough. Not published. */
  readonly allowed?: string;
  /** A few words for a list. Not published. */
  readonly label?: string;
  /** Decides where the keywords do not, as of a number that is sent as text; see isAllowedBy. Not published. */
  readonly accepts?: (value: unknown) => boolean;
  /** Reasons why there is no such member, by patterns of names that somebody may expect. Not published. */
  readonly refused?: Readonly<Record<string, string>>;
}

/** @returns why an object has no member of this name, where its schema gives a reason of its own */
export function refusalOf({ refused = {} }: Schema, member: string): string | undefined {
  return Object.entries(refused).find(([pattern]) => new RegExp(pattern, 'u').test(member))?.[1];
}

/** Schemas that others refer to, by name. */
export type Definitions = Readonly<Record<string, Schema>>;

/** The schema of a value of this type, once it is complete: a member with a default is there. */
export type SchemaOf<T> = Schema & { readonly [VALUE]?: T };

/** The type of the complete values of a schema. */
export type Static<S> = S extends { readonly [VALUE]?: infer T } ? Exclude<T, undefined> : never;

/** By name; a name that ends with "?" is that of a member that may be absent. */
type Members = Readonly<Record<string, Schema>>;

type ObjectOf<M extends Members> = {
  readonly [K in keyof M as K extends `${string}?` ? never : K]: Static<M[K]>;
} & { readonly [K in keyof M as K extends `${infer Name}?` ? Name : never]?: Static<M[K]> };

type PlainName<K> = K extends `${infer Name}?` ? Name : K;

/** Keeps the keywords in the type, so that code can read a default or a bound. */
type Built<T, More> = SchemaOf<T> & More;

/** Makes the builder of a type that has no parts. */
function builderOf<T>(type: string) {
  return <const M extends Schema>(description?: string, more = {} as M): Built<T, M> =>
    built({ type, description }, more);
}

export const text = builderOf<string>('string');
export const number = builderOf<number>('number');
export const integer = builderOf<number>('integer');
export const truth = builderOf<boolean>('boolean');

const SURROGATES = '\\ud800-\\udfff';
/** In patterns: control characters and halves of surrogate pairs, which are not to be shown or stored. */
export const UNPRINTABLE = `\\u0000-\\u001f\\u007f-\\u009f${SURROGATES}`;

/** Text that can be shown. */
export function printable(description: string | undefined, maxLength: number, more: Schema = {}) {
  return text(description, {
    maxLength,
    pattern: `^[^${UNPRINTABLE}]*$`,
    allowed: `a string of at most ${maxLength} characters without control characters`,
    ...more,
  });
}

/** A number that counts something. */
export function count(description?: string, minimum = 0): SchemaOf<number> {
  return integer(description, { minimum });
}

export function oneOf<const V extends string | number | boolean, const M extends Schema>(
  description: string | undefined,
  values: readonly V[],
  more = {} as M,
): Built<V, M> {
  const allowed = values.length === 1 ? { const: values[0] } : { enum: values };
  return built({ type: typeof values[0], ...allowed, description }, more);
}

export function listOf<S extends Schema, const M extends Schema>(
  description: string | undefined,
  items: S,
  more = {} as M,
): Built<readonly Static<S>[], M & { readonly items: S }> {
  return built({ type: 'array', description, items }, more);
}

/** An object whose members have names that are not known beforehand. */
export function mapOf<S extends Schema, const M extends Schema>(
  description: string | undefined,
  values: S,
  more = {} as M,
): Built<Readonly<Record<string, Static<S>>>, M & { readonly additionalProperties: S }> {
  return built({ type: 'object', description, additionalProperties: values }, more);
}

/** An object with these members and no others. */
export function object<const M extends Members, const K extends Schema>(
  description: string | undefined,
  members: M,
  more = {} as K,
): Built<ObjectOf<M>, K & { readonly properties: { readonly [N in keyof M as PlainName<N>]: M[N] } }> {
  const entries = Object.entries(members);
  const properties = Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema]));
  const required = entries.filter(([name, schema]) => !name.endsWith('?') && !('default' in schema));
  const rest = { additionalProperties: false, required: required.map(([name]) => name), properties };
  return built({ type: 'object', description, ...rest }, more);
}

/** A value of one of these forms. Messages speak of the one that is meant (forms.ts). */
export function anyOf<const F extends readonly Schema[], const M extends Schema>(
  description: string | undefined,
  forms: F,
  more = {} as M,
): Built<Static<F[number]>, M & { readonly anyOf: F }> {
  return built({ description, anyOf: forms }, more);
}

/** A value of this schema, or null. */
export function orNull<S extends Schema>(description: string, schema: S): SchemaOf<Static<S> | null> {
  return { description, oneOf: [schema, { type: 'null' }] };
}

const DEFINITIONS = '#/$defs/';

/** Another schema by its name, among the `$defs` of the whole. */
export function ref<T = unknown>(name: string, description?: string): SchemaOf<T> {
  return built({ $ref: `${DEFINITIONS}${name}`, description }, {});
}

export function nameOfRef({ $ref: reference }: Schema): string | undefined {
  return reference?.slice(DEFINITIONS.length);
}

/**
 * Schemas as others may use them: without our own keywords and empty lists of required members, with multiples of
 * fractions in words, patterns without halves of surrogate pairs, which no JSON holds and some languages cannot name, and
 * references to where the definitions stand in the whole.
 */
export function published<T>(schemas: T, definitions = DEFINITIONS): T {
  const replaced = (keyword: string, value: unknown): unknown => {
    if ((keyword === 'allowed' || keyword === 'label') && typeof value === 'string') return undefined;
    if (keyword === 'refused') return undefined;
    if (keyword === 'required' && Array.isArray(value) && value.length === 0) return undefined;
    if (keyword === 'pattern' && typeof value === 'string') return value.replaceAll(SURROGATES, '');
    if (keyword === '$ref') return String(value).replace(DEFINITIONS, definitions);
    if (typeof value !== 'object' || value === null) return value;
    const { multipleOf = 1, ...rest } = value as Schema;
    return Number.isInteger(multipleOf)
      ? value
      : { ...rest, $comment: `A multiple of ${String(multipleOf)}.` };
  };
  return JSON.parse(JSON.stringify(schemas, replaced)) as T;
}

/** Keywords without a value are left out, as Ajv and comparisons in tests want it. */
function built<B>(keywords: object, more: object): B {
  const given = Object.entries({ ...keywords, ...more }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as B;
}
