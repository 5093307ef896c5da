import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import {
  type Definitions,
  published,
  type Schema as JsonSchema,
} from '../../../engine/schema/json-schema.js';
import { apiPath, type ApiVersion } from '../../http/api-versions.js';
import { SAME_ORIGIN } from '../../http/public-address.js';
import { type Components, type Paths, withSharedParts } from './shared-parts.js';

/** The description of one version of the API, without its operations, which come from the controllers. */
export interface VersionDescription {
  readonly version: ApiVersion;
  /** The full version, such as 1.0.0. */
  readonly fullVersion: string;
  /** In Markdown. */
  readonly description: string;
  /** Groups of operations, by name. */
  readonly tags: Readonly<Record<string, string>>;
  /** An example for each member of a response that is not an object, by schema. */
  readonly examples?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Schemas of requests and answers. Operations refer to them by name. */
  readonly schemas: Definitions;
  /** Schemas that depend on the channels of the running model, by name. In `schemas` they are those of the default brain. */
  schemasOfModel?(channels: readonly string[]): Definitions;
}

const COMPONENTS = '#/components/schemas/';
const MAX_INT32 = 2 ** 31 - 1;

type Document = Pick<OpenAPIObject, 'openapi' | 'info' | 'servers' | 'security' | 'tags' | 'paths'> & {
  readonly components: Components & { readonly schemas: Schemas };
};
type Schema = { readonly properties?: Readonly<Record<string, object>> };
type Schemas = Readonly<Record<string, Schema>>;

/** The members of an operation that this module completes. */
interface Operation {
  readonly parameters?: readonly { schema: { readonly example?: unknown } }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: object }>> };
}

/** Builds the OpenAPI description of one version, for the default brain. See describedFor. */
export function describeApi(app: INestApplication, described: VersionDescription): Document {
  const { version, fullVersion, description, tags } = described;
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Neural Experiment Service')
    .setDescription(description)
    .setVersion(fullVersion)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(SAME_ORIGIN);
  for (const [name, meaning] of Object.entries(tags)) builder.addTag(name, meaning);
  const created = SwaggerModule.createDocument(app, builder.build(), { autoTagControllers: false });
  const { openapi, info, servers, tags: groups, paths: all } = created;
  const ofVersion = Object.entries(all).filter(([path]) => path.startsWith(apiPath(version, '')));
  // A copy, because the decorators of other applications and versions hold the same objects.
  const own = JSON.parse(JSON.stringify(Object.fromEntries(ofVersion))) as Paths;
  const schemas = schemasOf(described.schemas, described);
  for (const operation of Object.values<object>(own).flatMap<Operation>(Object.values))
    complete(operation, schemas);
  const { paths, components } = withSharedParts(own);
  const used = schemasUsedBy([paths, components], schemas);
  return withFormats({
    openapi,
    // The builder adds a contact without members.
    info: { ...info, contact: undefined },
    servers,
    security: [],
    tags: groups,
    paths: paths as OpenAPIObject['paths'],
    components: {
      ...components,
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name))),
    },
  });
}

/** A description with the channels of a model. */
export function describedFor(
  document: Document,
  description: VersionDescription,
  channels: readonly string[],
): Document {
  const ofModel = description.schemasOfModel?.(channels);
  const { components } = document;
  const schemas = { ...components.schemas, ...(ofModel && schemasOf(ofModel, description)) };
  return { ...document, components: { ...components, schemas } };
}

function schemasOf(schemas: Definitions, { examples = {} }: VersionDescription): Schemas {
  const entries = Object.entries(published(schemas, COMPONENTS) as Schemas);
  return Object.fromEntries(entries.map(([name, schema]) => [name, withExamples(schema, examples[name])]));
}

/** Returns the names of all schemas that a value refers to, directly or through other schemas. */
function schemasUsedBy(
  something: unknown,
  schemas: Readonly<Record<string, unknown>>,
  used = new Set<string>(),
): ReadonlySet<string> {
  for (const [, name] of JSON.stringify(something).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
    if (used.has(name!)) continue;
    used.add(name!);
    schemasUsedBy(schemas[name!], schemas, used);
  }
  return used;
}

/**
 * Completes an operation. It inlines the schema of a request with defaults, because openapi-typescript makes fields with a
 * default required in a component. It also turns the decorators' `example` into the list `examples` of JSON Schema, which
 * OpenAPI 3.1 uses.
 */
function complete({ parameters = [], requestBody }: Operation, schemas: Schemas): void {
  for (const parameter of parameters) {
    const { example, ...schema } = parameter.schema;
    if (example !== undefined) parameter.schema = { ...schema, examples: [example] } as object;
  }
  for (const media of Object.values(requestBody?.content ?? {})) {
    const title = (media.schema as { $ref: string }).$ref.slice(COMPONENTS.length);
    const members = Object.values(schemas[title]?.properties ?? {});
    if (members.some((member) => 'default' in member)) media.schema = { title, ...schemas[title] };
  }
}

/** Marks integers that may exceed 32 bits, which many languages would otherwise read as such. */
function withFormats<T>(document: T): T {
  const marked = (_: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const { type, maximum = Infinity, enum: values } = value as JsonSchema;
    const isLarge = type === 'integer' && maximum > MAX_INT32 && values === undefined && !('const' in value);
    return isLarge ? { ...value, format: 'int64' } : value;
  };
  return JSON.parse(JSON.stringify(document, marked)) as T;
}

/** Adds values from real responses as examples to the members of a schema. */
function withExamples(schema: Schema, examples: Readonly<Record<string, unknown>> = {}): Schema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    Object.hasOwn(examples, name) ? { ...property, examples: [examples[name]] } : property,
  ]);
  return properties.length === 0 ? schema : { ...schema, properties: Object.fromEntries(properties) };
}
