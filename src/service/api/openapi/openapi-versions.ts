/**
 * Rewrites a description of OpenAPI 3.1 for tools that know another version. We do not use a library: the known one
 * compiles code when it is loaded.
 */
import { oneOf } from '../../../engine/schema/json-schema.js';

export const OPENAPI_VERSIONS = ['3.0', '3.1', '3.2'] as const;
export type OpenApiVersion = (typeof OPENAPI_VERSIONS)[number];

/** The query of a description. */
export const OPENAPI_QUERY = {
  version: oneOf(
    'Version of OpenAPI. In 3.0 schemas allow more than in 3.1, because it cannot express all rules. In 3.2 the schema ' +
      'of NDJSON is that of a line.',
    OPENAPI_VERSIONS,
    { default: '3.1', examples: ['3.1'] },
  ),
};

type Json = Readonly<Record<string, unknown>>;

export function inVersion(document: object, version: OpenApiVersion): object {
  if (version === '3.1') return document;
  return version === '3.0' ? inVersion30(document as Json) : inVersion32(document as Json);
}

const LINES = 'application/x-ndjson';
const EXAMPLES = '#/components/examples/';

/** Gives NDJSON a schema for each line. Its examples are then lists of lines; here each has one. */
function inVersion32(document: Json): Json {
  const shared = new Set<string>();
  const listed = (example: Json): Json => ({ ...example, value: [example['value']] });
  const withItems = rewritten(document, (name, value) => {
    if (name !== LINES) return value;
    const { schema, examples, ...media } = value as Json;
    const lines = mapped(examples, (_, example) => {
      if (!('$ref' in example)) return listed(example);
      shared.add(String(example['$ref']).slice(EXAMPLES.length));
      return example;
    });
    return { itemSchema: schema, ...media, examples: lines };
  });
  const components = withItems['components'] as Json;
  const examples = mapped(components['examples'], (name, each) => (shared.has(name) ? listed(each) : each));
  return { ...withItems, openapi: '3.2.0', components: { ...components, examples } };
}

/** Leaves out what 3.0 lacks, and rewrites every schema. */
function inVersion30(document: Json): Json {
  const { info, components, ...rest } = without(document, ['jsonSchemaDialect', 'webhooks']);
  const { license, ...title } = without(info, ['summary']);
  const { schemas, ...parts } = without(components, ['pathItems']);
  const withSchemas = rewritten({ ...rest, components: parts }, (name, value) =>
    name === 'schema' ? schemaIn30(value) : value,
  );
  return {
    ...withSchemas,
    openapi: '3.0.3',
    info: { ...title, ...(license !== undefined && { license: without(license, ['identifier']) }) },
    components: {
      ...(withSchemas['components'] as Json),
      schemas: mapped(schemas, (_, schema) => schemaIn30(schema)),
    },
  };
}

/** Keywords that mean the same in both versions. */
const EQUAL_KEYWORDS = [
  ...['title', 'description', 'default', 'example', 'deprecated', 'format', 'enum', 'multipleOf', 'minimum'],
  ...['maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'uniqueItems', 'minProperties'],
  ...['maxProperties', 'required'],
];
const NULL = { type: 'object', nullable: true, enum: [null] };

/**
 * Rewrites a schema so that it allows at least the same values. A rule without a counterpart is left out. Therefore `not`
 * is left out too, and `oneOf` becomes `anyOf`: if a part of these allows more, the whole allows less.
 */
function schemaIn30(schema: unknown): Json {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} };
  const own = schema as Json;
  const { $ref: reference, const: constant, examples } = own;
  const target = String(reference).startsWith('#/components/') ? [{ $ref: reference }] : [];
  if (target.length > 0 && Object.keys(own).length === 1) return target[0]!;
  const { type, anyOf: types } = typeIn30(own);
  const choices = [own['anyOf'], own['oneOf'], types]
    .filter(Array.isArray)
    .map((each) => each.map(schemaIn30));
  const parts = ((own['allOf'] ?? []) as unknown[]).map(schemaIn30);
  const all = [...parts, ...target, ...choices.slice(1).map((anyOf) => ({ anyOf }))];
  const converted = {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => EQUAL_KEYWORDS.includes(name))),
    ...(constant !== undefined && { enum: [constant] }),
    ...(Array.isArray(examples) && { example: examples[0] as unknown }),
    ...type,
    ...limitIn30(own, 'minimum', 'exclusiveMinimum', Math.max),
    ...limitIn30(own, 'maximum', 'exclusiveMaximum', Math.min),
    ...membersIn30(own),
    ...(all.length > 0 && { allOf: all }),
    ...(choices.length > 0 && { anyOf: choices[0] }),
  };
  return constant === null ? { ...converted, ...NULL } : withNull(converted);
}

/** The type, which is one in 3.0. Several become alternatives. */
function typeIn30({ type }: Json): { readonly type?: Json; readonly anyOf?: readonly Json[] } {
  if (type === undefined) return {};
  const types = [type].flat().filter((each) => each !== 'null');
  if (types.length === 0) return { type: NULL };
  if (types.length > 1) return { anyOf: [type].flat().map((each) => ({ type: each })) };
  return { type: { type: types[0], ...([type].flat().length > 1 && { nullable: true }) } };
}

/** A limit that excludes its value, which is a boolean beside the limit in 3.0. */
function limitIn30(
  schema: Json,
  limit: string,
  exclusive: string,
  stricter: (a: number, b: number) => number,
): Json {
  const excluded = schema[exclusive] as number | undefined;
  if (excluded === undefined) return {};
  const included = (schema[limit] ?? excluded) as number;
  const value = stricter(included, excluded);
  return { [limit]: value, ...(value === excluded && { [exclusive]: true }) };
}

/** The schemas of members and items. */
function membersIn30(schema: Json): Json {
  const { properties, additionalProperties: others, patternProperties, items, prefixItems, type } = schema;
  const isOfAll = typeof items === 'object' && prefixItems === undefined;
  return {
    ...(properties !== undefined && { properties: mapped(properties, (_, each) => schemaIn30(each)) }),
    ...(others !== undefined &&
      patternProperties === undefined && {
        additionalProperties: typeof others === 'boolean' ? others : schemaIn30(others),
      }),
    ...(isOfAll ? { items: schemaIn30(items) } : [type].flat().includes('array') && { items: {} }),
  };
}

/** Merges the alternative null into a schema with a type, as tools for 3.0 expect it. */
function withNull(schema: Json): Json {
  const { anyOf = [], ...rest } = schema;
  const [value, ...others] = (anyOf as Json[]).filter((each) => each['enum'] !== NULL.enum);
  const isSimple = (anyOf as Json[]).length === 2 && others.length === 0 && 'type' in (value ?? {});
  if (!isSimple || !Object.keys(rest).every((name) => ['description', 'example'].includes(name)))
    return schema;
  const { enum: values } = value!;
  return { ...value, ...rest, nullable: true, ...(Array.isArray(values) && { enum: [...values, null] }) };
}

/** Replaces members at any depth, except in examples. A replaced member is not entered. */
function rewritten(part: Json, replace: (name: string, value: unknown) => unknown): Json {
  const into = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(into);
    return typeof value === 'object' && value !== null ? rewritten(value as Json, replace) : value;
  };
  return mapped(part, (name, value: unknown) => {
    if (name === 'example' || name === 'examples') return value;
    const replaced = replace(name, value);
    return replaced === value ? into(value) : replaced;
  });
}

function mapped(members: unknown, change: (name: string, value: Json) => unknown): Json {
  const entries = Object.entries((members ?? {}) as Record<string, Json>);
  return Object.fromEntries(entries.map(([name, value]) => [name, change(name, value)]));
}

function without(part: unknown, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries((part ?? {}) as Json).filter(([name]) => !names.includes(name)));
}
