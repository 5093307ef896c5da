/** The examples of the description are what the brain that ships answers today; npm run openapi:examples takes them. */
import { connectomeFile } from '../support/connectomes.js';
import { DOCUMENT } from '../support/contract.js';
import { startReadyService, type Service } from '../support/service.js';

type Schema = Readonly<Record<string, unknown>>;
type Instance = Readonly<Record<string, unknown>>;

const REFERENCE = '#/components/schemas/';
const schemas = DOCUMENT.components.schemas as Record<string, { properties: Record<string, Schema> }>;
/** Failures, of which the test of docs/errors.md knows more. */
const NO_ANSWERS = ['ErrorResponse'];

const instances = new Map<string, Instance[]>();
let service: Service;

/** Sorts an answer and all objects within it by their schemas. */
function collect(schema: Schema, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(schema['items'] as Schema, item);
    return;
  }
  const name = String(schema['$ref'] ?? '').slice(REFERENCE.length);
  if (name === '') return;
  instances.set(name, [...(instances.get(name) ?? []), value as Instance]);
  for (const [member, inner] of Object.entries(value as Instance)) {
    collect(schemas[name]!.properties[member]!, inner);
  }
}

beforeAll(async () => {
  service = await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
  for (const [schema, request, view] of [
    ['FullRun', { stimulus: 'loom' }, 'full'],
    ['DriveRun', { stimulus: 'loom' }, 'drive'],
    ['FullRun', { stimulus: 'heat', duration_ms: 50 }, 'full'],
  ] as const) {
    const answer = await (await service.post(request, `/api/v1/run?view=${view}`)).json();
    collect({ $ref: `${REFERENCE}${schema}` }, answer);
  }
  collect({ $ref: `${REFERENCE}Model` }, await (await service.get('/api/v1/model')).json());
}, 180_000);
afterAll(() => service.stop());

const described = Object.keys(schemas).filter((name) => !NO_ANSWERS.includes(name));

it.each(described.filter((name) => name !== 'Selector'))(
  'the examples of %s are one of its objects',
  (name) => {
    const examples = Object.entries(schemas[name]!.properties).flatMap(([member, schema]) =>
      'examples' in schema ? [[member, (schema['examples'] as unknown[])[0]]] : [],
    );
    expect(examples.length + countReferences(name)).toBe(Object.keys(schemas[name]!.properties).length);
    expect(instances.get(name)).toContainEqual(expect.objectContaining(Object.fromEntries(examples)));
  },
);

it('each example of Selector is of one, because none has every member', () => {
  for (const [member, schema] of Object.entries(schemas['Selector']!.properties)) {
    const values = instances.get('Selector')!.map((selector) => selector[member]);
    expect(values).toContainEqual((schema['examples'] as unknown[])[0]);
  }
});

it('the example of an answer is the answer', async () => {
  const { content } = DOCUMENT.paths['/api/v1/run'].post.responses['200'];
  const { value } = content['application/json'].examples.drive;
  expect(value).toEqual(await (await service.post({ stimulus: 'loom' }, '/api/v1/run?view=drive')).json());
});

function countReferences(name: string): number {
  return Object.values(schemas[name]!.properties).filter(
    (schema) => '$ref' in schema || '$ref' in ((schema['items'] ?? {}) as object),
  ).length;
}
