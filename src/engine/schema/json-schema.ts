/**
 * Builders of JSON Schema 2020-12. One schema gives the TypeScript type (`Static`), the checks with their messages
 * (check.ts), the defaults (completed.ts) and OpenAPI. We do not use TypeBox, because it takes 200 ms and 20 MB to load
 * in every command and thread, and does not support defaults.
 */
declare const VALUE: unique symbol;

/** A schema with the keywords that this project uses. It may have others. */
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
  /** Within the rounding error of doubles. Published in words, because exact validators refuse 0.3 for 0.1. */
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression with the flag `u`. */
  readonly pattern?: string;
  readonly $ref?: string;
  readonly $defs?: Definitions;
  /** Completes "NAME must be ..." if the words made from the keywords do not say enough. Not published. */
  readonly allowed?: string;
  /** A short name for use in a list. Not published. */
  readonly label?: string;
  /** Its name as a component of OpenAPI; see components.ts. Not published. */
  readonly component?: string;
  /** Keywords that only the published schema has, because the code that checks them has better messages. */
  readonly publishes?: Schema;
  /** Decides instead of the keywords, for example for a number sent as text; see isAllowedBy. Not published. */
  readonly accepts?: (value: unknown) => boolean;
  /** Reasons why a member does not exist, by patterns of names that users may expect. Not published. */
  readonly refused?: Readonly<Record<string, string>>;
}

/** @returns the reason why an object has no member of this name, if its schema gives one */
export function refusalOf({ refused = {} }: Schema, member: string): string | undefined {
  return Object.entries(refused).find(([pattern]) => new RegExp(pattern, 'u').test(member))?.[1];
}

/** Schemas by name, for references. */
export type Definitions = Readonly<Record<string, Schema>>;

/** The schema of a value that has this type after completion: members with a default are present. */
export type SchemaOf<T> = Schema & { readonly [VALUE]?: T };

/** The type of the complete values of a schema. */
export type Static<S> = S extends { readonly [VALUE]?: infer T } ? Exclude<T, undefined> : never;

/** Schemas of members by name. A name that ends with "?" belongs to an optional member. */
type Members = Readonly<Record<string, Schema>>;

type ObjectOf<M extends Members> = {
  readonly [K in keyof M as K extends `${string}?` ? never : K]: Static<M[K]>;
} & { readonly [K in keyof M as K extends `${infer Name}?` ? Name : never]?: Static<M[K]> };

type PlainName<K> = K extends `${infer Name}?` ? Name : K;

/** Keeps the keywords in the type, so that code can read a default or a bound. */
type Built<T, More> = SchemaOf<T> & More;

/** Makes the builder of a simple type. */
function builderOf<T>(type: string) {
  return <const M extends Schema>(description?: string, more = {} as M): Built<T, M> =>
    built({ type, description }, more);
}

export const text = builderOf<string>('string');
export const number = builderOf<number>('number');
export const integer = builderOf<number>('integer');
export const truth = builderOf<boolean>('boolean');

const SURROGATES = '\\ud800-\\udfff';
/** For patterns: control characters and halves of surrogate pairs, which must not be shown or stored. */
export const UNPRINTABLE = `\\u0000-\\u001f\\u007f-\\u009f${SURROGATES}`;

/** Text without control characters, so it can be shown. */
export function printable(description: string | undefined, maxLength: number, more: Schema = {}) {
  return text(description, {
    maxLength,
    pattern: `^[^${UNPRINTABLE}]*$`,
    allowed: `a string of at most ${maxLength} characters without control characters or lone surrogates`,
    ...more,
  });
}

/** A count: an integer that is not negative. */
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

/** An object whose members may have any names. */
export function mapOf<S extends Schema, const M extends Schema>(
  description: string | undefined,
  values: S,
  more = {} as M,
): Built<Readonly<Record<string, Static<S>>>, M & { readonly additionalProperties: S }> {
  return built({ type: 'object', description, additionalProperties: values }, more);
}

/** An object with only these members. */
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

/** A value of one of these forms. Messages describe the form that was meant (forms.ts). */
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

/** A reference to a schema in the `$defs` of the whole document. */
export function ref<T = unknown>(name: string, description?: string): SchemaOf<T> {
  return built({ $ref: `${DEFINITIONS}${name}`, description }, {});
}

export function nameOfRef({ $ref: reference }: Schema): string | undefined {
  return reference?.slice(DEFINITIONS.length);
}

/** Keywords of our own with a text. */
const UNPUBLISHED = ['allowed', 'label', 'component'];

/**
 * Prepares schemas for publication:
 * - Our own keywords and empty lists of required members are removed.
 * - A fractional multipleOf becomes a sentence of the description.
 * - Patterns lose the halves of surrogate pairs, which JSON never contains and some languages cannot express.
 * - References point to `definitions`.
 */
export function published<T>(schemas: T, definitions = DEFINITIONS): T {
  const replaced = (keyword: string, value: unknown): unknown => {
    if (UNPUBLISHED.includes(keyword) && typeof value === 'string') return undefined;
    if (keyword === 'refused') return undefined;
    if (keyword === 'required' && Array.isArray(value) && value.length === 0) return undefined;
    if (keyword === 'pattern' && typeof value === 'string') return value.replaceAll(SURROGATES, '');
    if (keyword === '$ref') return String(value).replace(DEFINITIONS, definitions);
    if (typeof value !== 'object' || value === null) return value;
    const { multipleOf = 1, publishes, ...rest } = value as Schema;
    if (publishes !== undefined) return { ...rest, ...publishes };
    if (Number.isInteger(multipleOf)) return value;
    const sentences = [rest.description, `A multiple of ${multipleOf}.`];
    return { ...rest, description: sentences.filter(Boolean).join(' ') };
  };
  return JSON.parse(JSON.stringify(schemas, replaced)) as T;
}

/** Removes keywords without a value, because Ajv and comparisons in tests require it. */
function built<B>(keywords: object, more: object): B {
  const given = Object.entries({ ...keywords, ...more }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as B;
}
