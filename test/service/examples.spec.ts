/** The examples of the description equal the default brain's answers today; npm run openapi:examples takes them. */
import { connectomeFile } from '../support/connectomes.js';
import { DOCUMENT, DOCUMENT_OF_V2 } from '../support/contract.js';
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

type Names = Readonly<Record<string, string>>;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { in: string; name: string; schema: { examples?: readonly unknown[] } }[];
  readonly requestBody?: {
    content: Record<'application/json', { examples: Record<string, { value: unknown }> }>;
  };
  readonly responses: Readonly<
    Record<number, { links?: Record<string, { operationId: string; parameters: Names }> }>
  >;
}

const operations = Object.entries<Record<'get' | 'post' | 'delete', Operation>>(DOCUMENT_OF_V2.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method as 'get' | 'post' | 'delete',
      operation,
    })),
);

function operationOf(id: string) {
  return operations.find(({ operation }) => operation.operationId === id)!;
}

/** Matches a value with longer lists of objects. */
function partsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, partsOf(each)]));
  }
  const parts = value.map(partsOf) as object[];
  return typeof value[0] === 'object'
    ? expect.arrayContaining(parts.map((part) => expect.objectContaining(part)))
    : parts;
}

function countReferences(name: string): number {
  return Object.values(schemas[name]!.properties).filter(
    (schema) => '$ref' in schema || '$ref' in ((schema['items'] ?? {}) as object),
  ).length;
}

describe('version 2', () => {
  const { post } = DOCUMENT_OF_V2.paths['/api/v2/experiments'];
  const { requestBody, responses } = post;
  const requests = requestBody.content['application/json'].examples as Record<string, { value: object }>;
  const answers = responses['200'].content;
  const ask = (document: unknown, query = '') => service.post(document, `/api/v2/experiments${query}`);

  it('the examples of answers are answers to the first request, in every format', async () => {
    const { value } = requests['sugar']!;
    const { answer, dryRun } = answers['application/json'].examples;
    expect(await (await ask(value)).json()).toEqual(answer.value);
    expect(await (await ask(value, '?dry_run=true')).json()).toEqual(dryRun.value);
    expect(await (await ask(value, '?format=csv')).text()).toBe(answers['text/csv'].examples.rates.value);
    const lines = (await (await ask(value, '?format=ndjson')).text()).trimEnd().split('\n');
    const examples = Object.values(answers['application/x-ndjson'].examples) as { value: object }[];
    expect(lines.map((line) => JSON.parse(line))).toEqual(examples.map((example) => example.value));
    const found = DOCUMENT_OF_V2.paths['/api/v2/neurons'].get.responses['200'].content['application/json'];
    expect(await (await service.get('/api/v2/neurons?type=DNp01')).json()).toEqual(found.examples.type.value);
  });

  it('the examples of descriptions are the descriptions, with the first items of their lists', async () => {
    const exampleOf = ({ paths }: typeof DOCUMENT, path: string) =>
      Object.values<{ value: object }>(
        paths[path].get.responses['200'].content['application/json'].examples,
      )[0]!.value;
    const answer = async (path: string) => (await service.get(path)).json();
    expect(await answer('/api/v1/model')).toEqual(partsOf(exampleOf(DOCUMENT, '/api/v1/model')));
    expect(await answer('/api/v2/model')).toEqual(exampleOf(DOCUMENT_OF_V2, '/api/v2/model'));
    const { node_sets: sets } = exampleOf(DOCUMENT_OF_V2, '/api/v2/node-sets') as { node_sets: object[] };
    expect((await answer('/api/v2/node-sets')).node_sets).toContainEqual(sets[0]);
  });

  it('each operation is answered if it is sent with its examples, and with the names that links give', async () => {
    const done: string[] = [];
    const send = async (id: string, names: Names = {}, headers: Record<string, string> = {}) => {
      const { path, method, operation } = operationOf(id);
      const query = new URLSearchParams();
      for (const { in: place, name, schema } of operation.parameters ?? []) {
        if (place === 'query' && schema.examples !== undefined) query.set(name, String(schema.examples[0]));
      }
      const url = `${path.replace(/\{(\w+)\}/g, (_, name: string) => names[name]!)}?${query}`;
      const body = Object.values(operation.requestBody?.content['application/json'].examples ?? {})[0]?.value;
      const answer =
        method === 'post'
          ? await service.post(body, url, { 'content-type': 'application/json', ...headers })
          : await service[method](url);
      done.push(id);
      expect([id, answer.status]).toEqual([id, expect.any(Number)]);
      expect(answer.status).toBeLessThan(300);
      return answer;
    };
    /** The operations that the links of an answer name, each with the names of its path. */
    const linked = async (id: string, answer: Response) => {
      const body = (await answer.json()) as Names;
      const links = Object.values(operationOf(id).operation.responses[answer.status]!.links ?? {});
      return links.map(({ operationId, parameters }) => {
        const names = Object.entries(parameters).map(([name, pointer]) => [
          name,
          body[pointer.split('/')[1]!],
        ]);
        return [operationId, Object.fromEntries(names) as Names] as const;
      });
    };
    for (const id of ['getServedModel', 'getNodeSets', 'runOpenExperiment']) await send(id);
    expect((await (await send('findNeurons')).json()).count).toBeGreaterThan(0);
    expect((await (await send('findConnections')).json()).count).toBeGreaterThan(0);
    const job = await send('runOpenExperiment', {}, { prefer: 'respond-async' });
    for (const [id, names] of await linked('runOpenExperiment', job)) await send(id, names);
    const session = await send('openSession');
    for (const [id, names] of await linked('openSession', session)) {
      if (id !== 'watchSession') await send(id, names);
    }
    const others = operations
      .map(({ operation }) => operation.operationId)
      .filter((id) => !done.includes(id));
    expect(others.sort()).toEqual(['getOpenApi', 'watchSession']);
  });

  it.each(Object.keys(requests))('the request %s is answered', async (name) => {
    expect((await ask(requests[name]!.value)).status).toBe(200);
  });

  it.each([
    [400, 'INVALID_PARAMETER', { trials: 1000 }],
    [400, 'UNKNOWN_NEURONS', { inputs: { loom: { node_set: 'LC44x' } } }],
    [400, 'EMPTY_NODE_SET', { silence: [{ type: 'DNp01', side: 'center' }] }],
    [400, 'NO_CONNECTION', { connection_overrides: { direct: { source: 'LC4', target: 'MDN', weight: 0 } } }],
    [400, 'NO_SIGN_PROBABILITIES', { wiring: { signs: 'sampled' } }],
    [422, 'TOO_EXPENSIVE', { duration_ms: 5000, trials: 100, sweep: [{ set: 'seed', values: [1, 2, 3] }] }],
  ])('the example of %i %s is a failure', async (status, code, document) => {
    const refused = await ask(document);
    const { value } = responses[status].content['application/json'].examples[code];
    expect([refused.status, await refused.json()]).toEqual([status, value]);
  });

  it('the examples of jobs are states of a job of the first request, except its name and its times', async () => {
    const paths = DOCUMENT_OF_V2.paths as Record<
      string,
      Record<string, { responses: Record<string, unknown> }>
    >;
    const example = (path: string, method: string, status: number, name: string) => {
      const { content } = paths[path]![method]!.responses[status] as {
        content: Record<string, { examples: Record<string, { value: Record<string, unknown> }> }>;
      };
      return content['application/json']!.examples[name]!.value;
    };
    /** State without the members that differ from job to job. */
    const shapeOf = (state: Record<string, unknown>) => {
      const { jobID, created, started, updated, finished, seconds_left, ...rest } = state;
      const times = [created, started, updated, finished];
      expect(times.every((time) => time === undefined || !Number.isNaN(Date.parse(String(time))))).toBe(true);
      expect(seconds_left === undefined || Number.isInteger(seconds_left)).toBe(true);
      return JSON.parse(JSON.stringify(rest).replaceAll(String(jobID), 'JOB'));
    };
    const JOB = '/api/v2/experiments/{job}';
    const begun = await service.post(requests['sugar']!.value, '/api/v2/experiments', {
      'content-type': 'application/json',
      prefer: 'respond-async',
    });
    const location = begun.headers.get('location')!;
    expect(shapeOf(await begun.json())).toEqual(
      shapeOf(example('/api/v2/experiments', 'post', 202, 'accepted')),
    );
    const state = async () => (await service.get(location)).json();
    while ((await state()).status !== 'successful') await new Promise((next) => setTimeout(next, 20));
    const running = { ...example(JOB, 'get', 200, 'running') };
    expect(shapeOf(await state())).toEqual({
      ...shapeOf(running),
      status: 'successful',
      progress: 100,
      conditions_done: running['conditions'],
    });
    const { value } = answers['application/json'].examples.answer;
    expect(await (await service.get(`${location}/results`)).json()).toEqual(value);
    const dismissed = example(JOB, 'delete', 200, 'dismissed');
    expect(shapeOf(await (await service.delete(location)).json())).toEqual({
      ...shapeOf(dismissed),
      progress: 100,
      conditions_done: dismissed['conditions'],
    });
    const unknown = example(JOB, 'get', 404, 'NOT_FOUND');
    const missing = await service.get(
      `/api/v2/experiments/${String(example(JOB, 'get', 200, 'running')['jobID'])}`,
    );
    expect(await missing.json()).toEqual(unknown);
  });
});
