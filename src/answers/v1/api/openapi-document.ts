import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { SAME_ORIGIN } from '../../../http/public-address.js';
import { DRIVE_RUN_EXAMPLE, EXAMPLES } from './openapi-examples.js';

export const API_VERSION = '1.0.0';

const DESCRIPTION = `Runs bounded, reproducible experiments on a pruned connectome of the fruit fly (FlyWire FAFB,
release 783). A client posts a stimulus; the service simulates the whole brain and answers with its spikes,
the rates of named groups of neurons, frames to animate and engineered drives for a body.

**Reproducible.** Each run is an experiment of its own. The same request gives the same bytes, on every
machine and at every time. What depends on the machine or the moment is in headers.

**Pace.** Send a run when something happens and animate its frames until the next; do not send one for each
picture you draw. A client may use a timeout of 60 seconds.

**Access.** There are no credentials. Every origin may call everything: a preflight (OPTIONS) is answered
with 204 and allows every header that it asks for. HEAD is answered wherever GET is.

**Examples.** They are real answers of the default brain to {"stimulus": "loom"}; the frame is from that
to {"stimulus": "heat", "duration_ms": 50}.

**Failures.** Every failure, from whatever layer, is JSON with a string \`error\` for people and a \`code\`
for programs. Beside those of the operations: 404 where there is nothing at a path, and 405, with the header
Allow, where there is something, but not with this method.

**Rate limit.** Each client, an IPv4 address or the /64 of an IPv6 address, may post 30 runs in any 60 seconds, unless
RateLimit-Limit says otherwise. A run counts whatever its outcome, unless it is refused with 429, with 503 before it
began, or because its body cannot be read as JSON. So Retry-After says when the next run is allowed.

**Versions.** The version is part of the path. Within /api/v1 members may be added to answers of the model and
of failures, never to a run, and none is removed or changes its meaning. What a run answers may change
only together with version of the model, which is part of every id. Should a /api/v2 come, /api/v1
stays for at least twelve months, and its answers carry the headers Deprecation (RFC 9745) and
Sunset (RFC 8594) for all of that time.`;

/** The description of the public endpoints, generated from the code. The same for every instance, but for `servers`. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Neural Experiment Service')
    .setDescription(DESCRIPTION)
    .setVersion(API_VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(SAME_ORIGIN)
    .addTag('Experiments', 'Runs of the simulated brain.')
    .addTag('Descriptions', 'What is simulated, and how the interface works.')
    .build();
  const document = SwaggerModule.createDocument(app, config);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => [
    name,
    withExamples(toJsonSchema(schema) as Schema, EXAMPLES[name]),
  ]);
  const runs = document.paths['/api/v1/run']!.post!.responses['200'] as { content: Record<string, object> };
  Object.assign(runs.content['application/json']!, {
    examples: { drive: { summary: 'Of {"stimulus": "loom"} with view=drive', value: DRIVE_RUN_EXAMPLE } },
  });
  const { [REQUEST]: request, ...answers } = Object.fromEntries(schemas) as Record<string, Schema>;
  const paths = toJsonSchema(document.paths) as OpenAPIObject['paths'];
  const operation = paths['/api/v1/run']!.post!;
  const requestBody = operation.requestBody as { content: Record<string, object> };
  Object.assign(requestBody.content['application/json']!, { schema: { title: REQUEST, ...request } });
  return {
    openapi: document.openapi,
    info: document.info,
    servers: document.servers,
    security: [],
    tags: document.tags,
    paths,
    components: {
      schemas: answers as NonNullable<OpenAPIObject['components']>['schemas'],
    },
  };
}

/**
 * The schema of the request stands in its operation, not among the components: of a component, openapi-typescript takes
 * every field with a default for one that is always present, and would ask for all of them.
 */
const REQUEST = 'RunRequest';

type Schema = { readonly properties: Readonly<Record<string, object>> };

/** Gives the members of an answer's schema what the service has answered there. */
function withExamples(schema: Schema, examples: Readonly<Record<string, unknown>> = {}): Schema {
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name,
    name in examples ? { ...property, examples: [examples[name]] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * OpenAPI 3.1 schemas are JSON Schema 2020-12, which the decorators do not speak fully: there `example` is a
 * list, a reference may stand beside a description, and an object takes any member unless it says otherwise.
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
