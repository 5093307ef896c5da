import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { INPUT_KINDS } from '../../src/experiments/kinds/input-kinds.js';
import { REPORT_KINDS } from '../../src/experiments/kinds/report-kinds.js';
import { API_VERSIONS } from '../../src/service/http/api-versions.js';
import { check, DOCUMENT, DOCUMENT_OF_V2, DOCUMENTS } from '../support/contract.js';
import { startReadyService, type Service } from '../support/service.js';

type Schema = Readonly<Record<string, unknown>>;

describe('the description of the interface', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startReadyService();
  });
  afterAll(() => service.stop());

  it.each([...DOCUMENTS])(
    'of version %s is served as it was committed; npm run openapi writes it anew',
    async (version, document) => {
      expect(await (await service.get(`/api/v${version}/openapi`)).json()).toEqual({
        ...document,
        servers: [{ url: service.url }],
      });
      expect(document.info.version).toBe(`${version}.0.0`);
    },
  );

  it.each(API_VERSIONS)('of version %s is valid, without a warning', (version) => {
    const file = version === '1' ? 'openapi.json' : `openapi-v${version}.json`;
    const output = execFileSync(
      process.execPath,
      ['node_modules/@redocly/cli/bin/cli.js', 'lint', file, '--format=json'],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    expect(JSON.parse(output).totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  it('gives each member a meaning, and an example that fits it', () => {
    const { schema: RunRequest } = DOCUMENT.paths['/api/v1/run'].post.requestBody.content['application/json'];
    for (const [name, schema] of Object.entries<Schema>({ ...DOCUMENT.components.schemas, RunRequest })) {
      // Other models have other channels, and so other drives.
      const isOpen = name === 'ChannelRates' || name === 'Drives';
      expect(schema).toMatchObject({
        type: 'object',
        additionalProperties: isOpen ? { type: 'number' } : false,
      });
      for (const [member, property] of Object.entries(schema['properties'] as Record<string, Schema>)) {
        const what = `${name}.${member}`;
        expect({ what, description: property['description'] }).toEqual({
          what,
          description: expect.stringMatching(/\w{2}/),
        });
        if (!refersToObjects(property)) {
          expect({ what, examples: property['examples'] }).toEqual({ what, examples: [expect.anything()] });
          check(what, property, (property['examples'] as unknown[])[0]);
        }
      }
    }
  });

  it('gives examples of requests and failures that fit their schemas', () => {
    let examples = 0;
    for (const content of contentsOf(DOCUMENT.paths)) {
      for (const [name, { value }] of Object.entries(content.examples ?? {})) {
        check(name, content.schema, value);
        examples++;
      }
    }
    expect(examples).toBeGreaterThan(20);
  });

  it('gives examples of open experiments that fit their schemas, and a meaning to each member', () => {
    let examples = 0;
    for (const content of contentsOf(DOCUMENT_OF_V2.paths)) {
      for (const [name, { value }] of Object.entries(content.examples ?? {})) {
        check(name, content.schema, value, 'openapi-v2');
        examples++;
      }
    }
    expect(examples).toBeGreaterThan(30);
    for (const [name, schema] of Object.entries<Schema>(DOCUMENT_OF_V2.components.schemas)) {
      const members = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
      for (const [member, { description, $ref }] of members) {
        expect({ name, member, text: description ?? $ref }).toEqual({
          name,
          member,
          text: expect.any(String),
        });
      }
    }
  });

  it.each([...DOCUMENTS])('of version %s has no member of another type than its map', (_, document) => {
    for (const schema of objectsIn<Schema>(document.components.schemas)) {
      const { properties, additionalProperties, required = [] } = schema;
      if (properties === undefined || typeof additionalProperties !== 'object') continue;
      const { type } = additionalProperties as Schema;
      for (const [member, own] of Object.entries(properties as Record<string, Schema>)) {
        expect({ member, type: own['type'], isRequired: (required as string[]).includes(member) }).toEqual({
          member,
          type,
          isRequired: true,
        });
      }
    }
  });

  it('has a component for each kind, and for the request and the answer of an experiment', () => {
    const { schemas } = DOCUMENT_OF_V2.components;
    const nameOf = (name: string, of: string) => `${name[0]!.toUpperCase()}${name.slice(1)}${of}`;
    const names = [
      ...Object.keys(INPUT_KINDS).map((name) => nameOf(name, 'Input')),
      ...Object.keys(REPORT_KINDS).map((name) => nameOf(name, 'Report')),
      ...[
        'SweepOfGroups',
        'SweepOfValues',
        'TimedSilence',
        'Wiring',
        'Constants',
        'ConnectionOverride',
        'Controls',
      ],
    ];
    for (const name of names)
      expect({ name, schema: schemas[name] }).toMatchObject({ schema: { type: 'object' } });
    const bodyOf = (path: string) =>
      DOCUMENT_OF_V2.paths[path].post.requestBody.content['application/json'].schema;
    const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(bodyOf('/api/v2/experiments')).toEqual(refTo('Experiment'));
    expect(bodyOf('/api/v2/sessions')).toEqual(refTo('SessionDocument'));
    // A default makes a member required in generated types of requests.
    expect(objectsIn<Schema>(schemas).filter((schema) => 'default' in schema)).toEqual([]);
    const { properties, required } = schemas.CompleteExperiment;
    const sometimes = ['name', 'network', 'constants', 'wiring', 'connection_overrides', 'sweep', 'controls'];
    expect(
      Object.keys(properties)
        .filter((name) => !required.includes(name))
        .sort(),
    ).toEqual(sometimes.sort());
    expect(properties.trials.description).not.toContain('Default');
    expect(schemas.Experiment.properties.trials.description).toContain('Default: 10.');
  });

  it('refuses what can never be right in a sweep and in a session', () => {
    const sweepOf = (set: string) => () => {
      const axis = { set, values: [1] };
      check(set, { $ref: '#/components/schemas/SweepOfValues' }, axis, 'openapi-v2');
    };
    for (const set of ['seed', 'inputs.my-1.rate_hz', 'wiring.jitter', 'connection_overrides.a.weight'])
      sweepOf(set)();
    for (const set of ['trials', 'inputs.a', 'inputs.a.b.rate_hz', 'wiring.shuffle'])
      expect(sweepOf(set)).toThrow('pattern');
    const part = (name: string, value: object) => () => {
      check(name, { $ref: `#/components/schemas/${name}` }, value, 'openapi-v2');
    };
    const range = { from: 1, to: 9, step: 2 };
    part('SweepOfValues', { set: 'seed', ...range })();
    for (const refused of [
      {},
      { from: 1 },
      { from: 1, to: 9 },
      { ...range, step: 0 },
      { ...range, values: [1] },
    ])
      expect(part('SweepOfValues', { set: 'seed', ...refused })).toThrow();
    expect(part('Controls', {})).toThrow('fewer than 1 properties');
    const session = (document: object) => () => {
      check('session', { $ref: '#/components/schemas/SessionDocument' }, document, 'openapi-v2');
    };
    session({ trials: 1, reports: { m: '@MN9', s: { node_set: 'LC4', type: 'spikes' } } })();
    for (const refused of [
      { sweep: [] },
      { controls: {} },
      { trials: 2 },
      { reports: { m: { node_set: 'LC4', type: 'histogram' } } },
    ])
      expect(session(refused)).toThrow();
  });

  it.each([
    ['neurons', 'type', ['LC4', '@'], ['', 'x'.repeat(101)]],
    ['neurons', 'root_id', ['1', '1,2'], ['', '1,', ',1', 'x'.repeat(101), '1,'.repeat(200) + 1]],
    ['connections', 'source', ['LC4,LC6'], ['', 'x'.repeat(6001)]],
  ])('refuses what %s refuses of %s', (path, parameter, allowed, refused) => {
    const { parameters } = DOCUMENT_OF_V2.paths[`/api/v2/${path}`].get;
    const { schema } = parameters.find(({ name }: { name: string }) => name === parameter);
    for (const value of allowed) check(value, schema, value);
    for (const value of refused) expect(() => check(value, schema, value)).toThrow();
  });

  it.each([...DOCUMENTS])(
    'of version %s says of each header whether it is always sent, with an example',
    (version) => {
      const { paths } = version === '1' ? DOCUMENT : DOCUMENT_OF_V2;
      const headers = objectsIn<Record<string, Header>>(paths, 'headers').flatMap(Object.entries<Header>);
      expect(headers.length).toBeGreaterThan(50);
      for (const [name, { required, schema, example }] of headers) {
        const isSometimes = /^(RateLimit-|Link$|Spikes-Truncated$|X-Accel-Buffering$)/.test(name);
        expect([name, required ?? false]).toEqual([name, !isSometimes]);
        if (!('const' in schema) && !('enum' in schema)) check(name, schema, example);
      }
    },
  );

  it('marks integers that may exceed 32 bits', () => {
    for (const { paths, components } of [DOCUMENT, DOCUMENT_OF_V2]) {
      for (const schema of objectsIn<Schema>([paths, components])) {
        const { type, maximum = Infinity, format } = schema;
        if (type !== 'integer' || 'enum' in schema || 'const' in schema) continue;
        expect({ schema, format }).toEqual({
          schema,
          format: (maximum as number) > 2 ** 31 - 1 ? 'int64' : undefined,
        });
      }
    }
  });

  it('repeats no header, parameter, failure or example', () => {
    for (const { paths } of DOCUMENTS.values()) {
      for (const kind of ['headers', 'responses', 'examples']) {
        const parts = objectsIn<Record<string, object>>(paths, kind)
          .flatMap((each) => Object.entries(each))
          .filter(([, part]) => !('$ref' in part))
          .map((entry) => JSON.stringify(entry));
        expect(parts.filter((part, at) => parts.indexOf(part) !== at)).toEqual([]);
      }
    }
  });

  it('tells the two views apart: neither is the other', async () => {
    const full = await (await service.post({})).json();
    const drive = await (await service.post({}, '/api/v1/run?view=drive')).json();
    const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    check('full', schema('FullRun'), full);
    check('drive', schema('DriveRun'), drive);
    expect(() => check('full', schema('DriveRun'), full)).toThrow('additional properties');
    expect(() => check('drive', schema('FullRun'), drive)).toThrow('required');
  });

  it('makes types that real answers fit', async () => {
    const run = await (await service.post({ stimulus: 'heat' })).json();
    const model = await (await service.get('/api/v1/model')).json();
    const { faults, types } = typesOf(
      'api.ts',
      `type Request = NonNullable<paths['/api/v1/run']['post']['requestBody']>['content']['application/json'];
type Run = paths['/api/v1/run']['post']['responses'][200]['content']['application/json'];
export const run: Run = ${JSON.stringify(run)};
export const model: components['schemas']['Model'] = ${JSON.stringify(model)};
// @ts-expect-error A stimulus that does not exist is no request.
export const wrong: Request = { stimulus: 'salt' };
export const right: Request = { stimulus: 'loom' };
`,
    );
    expect(faults).toBe('');
    expect(types).toContain('FullRun');
  });

  it('makes types that open experiments and their real answers fit', async () => {
    const request = {
      node_sets: { mine: ['S_sugar', ['S_loom', ['S_bitter']], { type: 'S_*', except: ['S_food'] }] },
      inputs: {
        sugar: { node_set: 'mine', rate_hz: 100 },
        replay: { node_set: 'S_heat', module: 'spikes', times_ms: [1, 2.5] },
      },
      silence: ['S_touch', { type: ['S_food'], side: 'left' }],
      duration_ms: 20,
      trials: 2,
      reports: {
        rates: { node_set: 'mine', group_by: ['type', 'side'] },
        short: 'mine',
        bins: { node_set: 'mine', type: 'histogram', bin_ms: 5 },
        events: { node_set: 'mine', type: 'inputs' },
        classes: { node_set: 'mine', group_by: ['class', 'sub_class'] },
        potentials: { node_set: 'mine', type: 'membrane', dt_ms: 5 },
      },
      sweep: [
        { set: 'inputs.sugar.rate_hz', values: [50, 100] },
        { each: 'S_bitter', as: 'silence' },
      ],
    };
    const answered = async (query: string, body: unknown) => {
      const answer = await service.post(body, `/api/v2/experiments${query}`);
      return answer.text();
    };
    const lines = (await answered('?format=ndjson', request)).trim().split('\n');
    const { faults, types } = typesOf(
      'api-v2.ts',
      `type Operation = paths['/api/v2/experiments']['post'];
type Request = NonNullable<Operation['requestBody']>['content']['application/json'];
type Answer = Operation['responses'][200]['content']['application/json'];
export const request: Request = ${JSON.stringify(request)};
export const answer: Answer = ${await answered('', request)};
export const complete: Request = (answer as components['schemas']['ExperimentAnswer']).experiment;
export const dryRun: Answer = ${await answered('?dry_run=true', request)};
export const lines: Operation['responses'][200]['content']['application/x-ndjson'][] = [${lines.join()}];
export const failure: Operation['responses'][400]['content']['application/json'] = ${await answered('', { trials: 0 })};
export const neurons: components['schemas']['NeuronSearch'] = ${await (await service.get('/api/v2/neurons?limit=3')).text()};
export const sets: components['schemas']['NodeSetList'] = ${await (await service.get('/api/v2/node-sets')).text()};
// @ts-expect-error A number is no root id.
export const wrongId: Request = { silence: [{ root_id: 720575940600000001 }] };
// @ts-expect-error There is no such label.
export const wrongLabel: Request = { silence: [{ typ: 'S_sugar' }] };
// @ts-expect-error A number is no selector.
export const wrongItem: Request = { silence: [['S_sugar', 5]] };
`,
    );
    expect(faults).toBe('');
    expect(types).toContain('LabelSelector');
  });
});

/**
 * Faults that the compiler finds in a program with the types of a description. Those of the typed client are what
 * openapi-typescript makes of it, as test/clients/typescript.spec.ts shows.
 */
function typesOf(file: string, program: string): { faults: string; types: string } {
  const dir = mkdtempSync(join(tmpdir(), 'openapi-types-'));
  const tool = (path: string, ...args: string[]) => {
    const { stdout, stderr } = spawnSync(process.execPath, [resolve('node_modules', path), ...args], {
      encoding: 'utf8',
    });
    return stdout + stderr;
  };
  copyFileSync(resolve('clients/typescript/src', file), join(dir, 'api.ts'));
  writeFileSync(join(dir, 'program.ts'), `import type { components, paths } from './api.js';\n${program}`);
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', types: [], skipLibCheck: true };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  const faults = tool('typescript-7/bin/tsc', '-p', dir);
  return { faults, types: readFileSync(join(dir, 'api.ts'), 'utf8') };
}

function refersToObjects(property: Schema): boolean {
  return '$ref' in property || '$ref' in ((property['items'] ?? {}) as object);
}

interface Header {
  readonly required?: boolean;
  readonly schema: object;
  readonly example?: unknown;
}

/** All objects inside a value, or only those that are members of this name; not those in examples. */
function objectsIn<T>(value: unknown, member?: string, at = ''): T[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) || (member !== undefined && member !== at) ? [] : [value as T];
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, each]) =>
      name.startsWith('example') && member !== name ? [] : objectsIn<T>(each, member, name),
    ),
  ];
}

function contentsOf(node: unknown): { schema: object; examples?: Record<string, { value: unknown }> }[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    /^application\/(json|x-ndjson)$/.test(key) ? [value] : contentsOf(value),
  );
}
