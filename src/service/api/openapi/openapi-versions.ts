/**
 * Rewrites a description of OpenAPI 3.1 for tools that know another version. We do not use a library: the known one
 * compiles code when it is loaded.
 */
import { mapped } from '../../../engine/mapped.js';
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
type Parts = Readonly<Record<string, Json>>;

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
    const { schema, examples = {}, ...media } = value as Json;
    const lines = mapped(examples as Parts, (example) => {
      if (!('$ref' in example)) return listed(example);
      shared.add(String(example['$ref']).slice(EXAMPLES.length));
      return example;
    });
    return { itemSchema: schema, ...media, examples: lines };
  });
  const components = withItems['components'] as Readonly<Record<string, Parts>>;
  const examples = mapped(components['examples'] ?? {}, (example, name) =>
    shared.has(name) ? listed(example) : example,
  );
  return { ...withItems, openapi: '3.2.0', components: { ...components, examples } };
}

/** Rewrites every schema. The descriptions have no other member that 3.0 lacks. */
function inVersion30(document: Json): Json {
  const { info, components, ...rest } = document;
  const { schemas, ...parts } = components as Json;
  const withSchemas = rewritten({ ...rest, components: parts }, (name, value) =>
    name === 'schema' ? schemaIn30(value as Json) : value,
  );
  return {
    ...withSchemas,
    openapi: '3.0.3',
    info,
    components: {
      ...(withSchemas['components'] as Json),
      schemas: mapped(schemas as Parts, schemaIn30),
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
 * is left out too, and `oneOf` becomes `anyOf`: if a part of these allows more, the whole allows less. It knows the
 * keywords that our schemas use.
 */
function schemaIn30(schema: Json): Json {
  const { $ref: reference, const: constant, examples, anyOf, oneOf: alternatives } = schema;
  if (reference !== undefined && Object.keys(schema).length === 1) return schema;
  const choices = (anyOf ?? alternatives) as Json[] | undefined;
  const converted = {
    ...Object.fromEntries(Object.entries(schema).filter(([name]) => EQUAL_KEYWORDS.includes(name))),
    ...(constant !== undefined && { enum: [constant] }),
    ...(Array.isArray(examples) && { example: examples[0] as unknown }),
    ...typeIn30(schema),
    ...membersIn30(schema),
    ...(reference !== undefined && { allOf: [{ $ref: reference }] }),
    ...(choices && { anyOf: choices.map(schemaIn30) }),
  };
  return constant === null ? { ...converted, ...NULL } : withNull(converted);
}

/** The type, which is one in 3.0. */
function typeIn30({ type }: Json): Json {
  const all = [type ?? []].flat();
  const types = all.filter((each) => each !== 'null');
  if (types.length === 1) return { type: types[0], ...(all.length > 1 && { nullable: true }) };
  return type === 'null' ? NULL : {};
}

/** The schemas of members and items. */
function membersIn30({ properties, additionalProperties: others, items, type }: Json): Json {
  return {
    ...(properties !== undefined && { properties: mapped(properties as Parts, schemaIn30) }),
    ...(others !== undefined && {
      additionalProperties: typeof others === 'boolean' ? others : schemaIn30(others as Json),
    }),
    ...(items !== undefined ? { items: schemaIn30(items as Json) } : type === 'array' && { items: {} }),
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
  return mapped(part, (value, name) => {
    if (name === 'example' || name === 'examples') return value;
    const replaced = replace(name, value);
    return replaced === value ? into(value) : replaced;
  });
}
