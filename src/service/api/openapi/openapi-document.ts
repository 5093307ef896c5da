import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { published } from '../../../engine/schema/json-schema.js';
import { apiPath, type ApiVersion } from '../../http/api-versions.js';
import { SAME_ORIGIN } from '../../http/public-address.js';

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
  readonly schemas: Readonly<Record<string, object>>;
}

const COMPONENTS = '#/components/schemas/';

type Document = Pick<OpenAPIObject, 'openapi' | 'info' | 'servers' | 'security' | 'tags' | 'paths'>;
type Schema = { readonly properties?: Readonly<Record<string, object>> };
type Schemas = Readonly<Record<string, Schema>>;

/** The members of an operation that this module completes. */
interface Operation {
  readonly parameters?: readonly { schema: { readonly example?: unknown } }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: object }>> };
}

/** Builds the OpenAPI description of one version. Except for `servers` it is the same for every instance. */
export function describeApi(
  app: INestApplication,
  { version, fullVersion, description, tags, examples = {}, schemas: own }: VersionDescription,
): Document & { readonly components: { readonly schemas: Schemas } } {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Neural Experiment Service')
    .setDescription(description)
    .setVersion(fullVersion)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(SAME_ORIGIN);
  for (const [name, meaning] of Object.entries(tags)) builder.addTag(name, meaning);
  const {
    openapi,
    info,
    servers,
    tags: groups,
    paths: all,
  } = SwaggerModule.createDocument(app, builder.build());
  const ofVersion = Object.entries(all).filter(([path]) => path.startsWith(apiPath(version, '')));
  const paths: OpenAPIObject['paths'] = Object.fromEntries(ofVersion);
  const schemas: Schemas = Object.fromEntries(
    Object.entries(published(own, COMPONENTS) as Schemas).map(([name, schema]) => [
      name,
      withExamples(schema, examples[name]),
    ]),
  );
  for (const operation of Object.values(paths).flatMap<Operation>(Object.values))
    complete(operation, schemas);
  const used = schemasUsedBy(paths, schemas);
  return {
    openapi,
    info,
    servers,
    security: [],
    tags: groups,
    paths,
    components: { schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name))) },
  };
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
 * Completes an operation. It inlines the schema of a request, because openapi-typescript makes fields with a default
 * required in a component. It also turns the decorators' `example` into the list `examples` of JSON Schema, which
 * OpenAPI 3.1 uses.
 */
function complete({ parameters = [], requestBody }: Operation, schemas: Schemas): void {
  for (const parameter of parameters) {
    const { example, ...schema } = parameter.schema;
    if (example !== undefined) parameter.schema = { ...schema, examples: [example] } as object;
  }
  for (const media of Object.values(requestBody?.content ?? {})) {
    const title = (media.schema as { $ref: string }).$ref.slice(COMPONENTS.length);
    media.schema = { title, ...schemas[title] };
  }
}

/** Adds values from real responses as examples to the members of a schema. */
function withExamples(schema: Schema, examples: Readonly<Record<string, unknown>> = {}): Schema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    Object.hasOwn(examples, name) ? { ...property, examples: [examples[name]] } : property,
  ]);
  return properties.length === 0 ? schema : { ...schema, properties: Object.fromEntries(properties) };
}
