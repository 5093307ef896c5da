import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { published } from '../../../schema/json-schema.js';
import { apiPath, type ApiVersion } from '../../http/api-versions.js';
import { SAME_ORIGIN } from '../../http/public-address.js';

/** The description of a version of the API, except for operations and schemas, which come from its controllers. */
export interface VersionDescription {
  readonly version: ApiVersion;
  /** The version in full, such as 1.0.0. */
  readonly fullVersion: string;
  /** In Markdown. */
  readonly description: string;
  /** Groups of operations, by name. */
  readonly tags: Readonly<Record<string, string>>;
  /** An example for each member of a response that is not an object, by schema. */
  readonly examples?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Schemas of answers. Operations refer to them by name. */
  readonly schemas: Readonly<Record<string, object>>;
}

const COMPONENTS = '#/components/schemas/';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

/** The OpenAPI description of one version. Except for `servers` it is the same for every instance. */
export function describeApi(
  app: INestApplication,
  { version, fullVersion, description, tags, examples = {}, schemas: own }: VersionDescription,
): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Neural Experiment Service')
    .setDescription(description)
    .setVersion(fullVersion)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(SAME_ORIGIN);
  for (const [name, meaning] of Object.entries(tags)) builder.addTag(name, meaning);
  const document = SwaggerModule.createDocument(app, builder.build());
  const ofVersion = Object.entries(document.paths).filter(([path]) => path.startsWith(apiPath(version, '')));
  const ofAnswers = Object.entries(published(own, COMPONENTS) as Record<string, Schema>);
  const schemas: Readonly<Record<string, Schema>> = {
    ...(toJsonSchema(document.components?.schemas ?? {}) as Record<string, Schema>),
    ...Object.fromEntries(ofAnswers.map(([name, schema]) => [name, withExamples(schema, examples[name])])),
  };
  const paths = toJsonSchema(Object.fromEntries(ofVersion)) as OpenAPIObject['paths'];
  for (const { post } of Object.values(paths)) describeRequestInPlace(post, schemas);
  const used = schemasUsedBy(paths, schemas);
  return {
    openapi: document.openapi,
    info: document.info,
    servers: document.servers,
    security: [],
    tags: document.tags,
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name))) as Schemas,
    },
  };
}

type RequestBody = { readonly content?: Readonly<Record<string, { schema: object }>> };
type Schema = { readonly properties?: Readonly<Record<string, object>> };

/** The names of all schemas that something refers to, directly or through other schemas. */
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
 * Inlines the schema of a request into its operation: in a component, openapi-typescript makes every field that has a
 * default a required one.
 */
function describeRequestInPlace(operation: unknown, schemas: Readonly<Record<string, Schema>>): void {
  const { content = {} } = (operation as { requestBody?: RequestBody } | undefined)?.requestBody ?? {};
  for (const media of Object.values(content)) {
    const title = (media.schema as { $ref: string }).$ref.split('/').at(-1)!;
    media.schema = { title, ...schemas[title] };
  }
}

/** Adds values from real responses as examples to the members of a schema. */
function withExamples(schema: Schema, examples?: Readonly<Record<string, unknown>>): Schema {
  if (examples === undefined) return schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    name in examples ? { ...property, examples: [examples[name]] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * OpenAPI 3.1 schemas are JSON Schema 2020-12, which the decorators do not fully support: `examples` is a list, a
 * reference may have a description beside it, and an object allows additional members unless its schema forbids them.
 */
function toJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toJsonSchema);
  if (typeof node !== 'object' || node === null) return node;
  const { example, allOf, ...rest } = Object.fromEntries(
    // Examples are values, no schemas.
    Object.entries(node).map(([key, value]) => [key, key === 'examples' ? value : toJsonSchema(value)]),
  );
  return {
    ...rest,
    ...(example === undefined ? {} : { examples: [example] }),
    ...(Array.isArray(allOf) ? (allOf[0] as object) : {}),
    ...(rest['type'] === 'object' && 'properties' in rest ? { additionalProperties: false } : {}),
  };
}
