/** The descriptions in the other versions of OpenAPI. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { inVersion, type OpenApiVersion } from '../../src/service/api/openapi/openapi-versions.js';
import { API_VERSIONS } from '../../src/service/http/api-versions.js';
import { DOCUMENTS } from '../support/contract.js';
import { startReadyService, type Service } from '../support/service.js';

/** A part of a document whose type nobody has declared. */
type Node = Readonly<Record<string, ReturnType<typeof JSON.parse>>>;

const OTHERS = API_VERSIONS.flatMap((api) => [
  [api, '3.0', '3.0.3'] as const,
  [api, '3.2', '3.2.0'] as const,
]);
const documentIn = (api: (typeof API_VERSIONS)[number], version: OpenApiVersion) =>
  inVersion(DOCUMENTS.get(api), version) as Node;

describe('over HTTP', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService();
  });
  afterAll(() => service.stop());

  it.each(OTHERS)('version %s of the interface is served in OpenAPI %s', async (api, version, full) => {
    const served = await (await service.get(`/api/v${api}/openapi?version=${version}`)).json();
    expect(served).toEqual({ ...documentIn(api, version), servers: [{ url: service.url }] });
    expect(served.openapi).toBe(full);
  });

  it.each(API_VERSIONS)('version %s of the interface is in 3.1 if nothing is asked', async (api) => {
    const path = `/api/v${api}/openapi`;
    const [usual, asked] = await Promise.all([service.get(path), service.get(`${path}?version=3.1`)]);
    expect(await asked.text()).toBe(await usual.text());
    expect(asked.headers.get('etag')).toBe(usual.headers.get('etag'));
  });

  it.each(API_VERSIONS)('version %s refuses other versions of OpenAPI and other parameters', async (api) => {
    for (const [query, error] of [
      ['version=2.0', 'version must be one of 3.0, 3.1, 3.2, got "2.0".'],
      ['version=', 'version must be one of 3.0, 3.1, 3.2, got "".'],
      ['version=3.0&version=3.1', 'version must be one of 3.0, 3.1, 3.2, got ["3.0","3.1"].'],
      ['openapi=3.0', '"openapi" is not a query parameter; allowed: version.'],
    ]) {
      const answer = await service.get(`/api/v${api}/openapi?${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error, code: 'INVALID_PARAMETER' });
    }
  });
});

it.each(OTHERS)('version %s of the interface in OpenAPI %s is valid, without a warning', (api, version) => {
  const file = join(mkdtempSync(join(tmpdir(), 'openapi-versions-')), 'openapi.json');
  writeFileSync(file, JSON.stringify(documentIn(api, version)));
  const output = execFileSync(
    process.execPath,
    ['node_modules/@redocly/cli/bin/cli.js', 'lint', file, '--format=json'],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  expect(JSON.parse(output)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
});

describe('in OpenAPI 3.0', () => {
  it.each(API_VERSIONS)('version %s allows every example', (api) => {
    const document = documentIn(api, '3.0');
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'openapi', components: { schemas: document['components'].schemas } });
    const examples = examplesIn(document, document);
    for (const { schema, value } of examples) {
      const local = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components');
      const isValid = ajv.validate(JSON.parse(local), value);
      expect({ value, errors: isValid ? null : ajv.errorsText() }).toEqual({ value, errors: null });
    }
    expect(examples.length).toBeGreaterThan(100);
    // Ajv reads schemas of a later draft, in which these are numbers.
    expect(JSON.stringify(document)).not.toMatch(/"exclusive(Minimum|Maximum)"/);
  });

  const NULL = { type: 'object', nullable: true, enum: [null] };
  it.each<[string, object, object]>([
    [
      'type with null',
      { type: ['number', 'null'], minimum: 0 },
      { type: 'number', nullable: true, minimum: 0 },
    ],
    ['only null', { type: 'null' }, NULL],
    [
      'a value or null',
      { description: 'A.', oneOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
      { description: 'A.', type: 'string', enum: ['a', null], nullable: true },
    ],
    [
      'a component or null',
      { oneOf: [{ $ref: '#/components/schemas/A' }, { type: 'null' }] },
      { anyOf: [{ $ref: '#/components/schemas/A' }, NULL] },
    ],
    ['const', { const: 'a' }, { enum: ['a'] }],
    ['examples', { type: 'string', examples: ['a', 'b'] }, { type: 'string', example: 'a' }],
    ['a reference', { $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/A' }],
    [
      'a reference with a description',
      { $ref: '#/components/schemas/A', description: 'A.' },
      { description: 'A.', allOf: [{ $ref: '#/components/schemas/A' }] },
    ],
    ['rules for other members', { propertyNames: {}, dependentSchemas: {}, contains: {}, if: {} }, {}],
    ['not, whose part may allow more', { not: { propertyNames: {} } }, {}],
    ['bytes in text', { type: 'string', contentMediaType: 'text/csv' }, { type: 'string' }],
    [
      'schemas at any depth',
      { properties: { const: { items: { const: 1 } } }, additionalProperties: { const: 2 } },
      { properties: { const: { items: { enum: [1] } } }, additionalProperties: { enum: [2] } },
    ],
  ])('a schema has another form: %s', (_, schema, expected) => {
    const document = inVersion(
      { info: {}, paths: {}, components: { schemas: { A: schema } } },
      '3.0',
    ) as Node;
    expect(document['components'].schemas.A).toEqual(expected);
  });
});

it('in OpenAPI 3.2 NDJSON has a schema for each line, and examples of one line', () => {
  const { paths, components } = documentIn('2', '3.2') as { readonly [part: string]: Node };
  const of31 = DOCUMENTS.get('2');
  const LINES = 'application/x-ndjson';
  for (const [path, method] of [
    ['/api/v2/experiments', 'post'],
    ['/api/v2/experiments/{job}/results', 'get'],
  ] as const) {
    const { schema, itemSchema, examples } = paths![path][method].responses[200].content[LINES];
    expect(schema).toBeUndefined();
    expect(itemSchema).toEqual(of31.paths[path][method].responses[200].content[LINES].schema);
    for (const { $ref } of Object.values<Node>(examples)) {
      const name = $ref.split('/').at(-1);
      expect(components!['examples'][name].value).toEqual([of31.components.examples[name].value]);
    }
  }
});

interface Example {
  readonly schema: object;
  readonly value: unknown;
}

/** All examples with their schemas: those of messages, parameters and headers, and those within schemas. */
function examplesIn(part: unknown, document: Node): Example[] {
  if (typeof part !== 'object' || part === null) return [];
  const node = part as Node;
  const own: Example[] = [];
  const { schema, examples, example } = node;
  if (schema !== undefined) {
    if ('example' in node) own.push({ schema, value: example });
    for (const each of Object.values<Node>(examples ?? {}))
      own.push({
        schema,
        value: ('$ref' in each ? document['components'].examples[each['$ref'].split('/').at(-1)] : each)
          .value,
      });
  } else if ('example' in node && ('type' in node || 'anyOf' in node || 'allOf' in node)) {
    own.push({ schema: node, value: example });
  }
  const inner = Object.entries(node).filter(([name]) => name !== 'example' && name !== 'examples');
  return [...own, ...inner.flatMap(([, each]) => examplesIn(each, document))];
}
