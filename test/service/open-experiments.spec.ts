/** Open experiments over real HTTP, with real workers, on a small brain. */
import { request as httpRequest } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { JSON_TYPE, NO_BUDGET, PATH, run, SUGAR } from '../support/experiment-requests.js';
import { exchange } from '../support/raw-http.js';
import { startReadyService, type Answer, type Service } from '../support/service.js';

interface Condition {
  readonly index: number;
  readonly parameters: Record<string, unknown>;
  readonly reports: Record<string, Record<string, unknown>[]>;
}

describe('an experiment on a small brain', () => {
  let service: Service;
  let answer: Answer;
  let body: { conditions: Condition[] } & Record<string, unknown>;

  beforeAll(async () => {
    service = await startReadyService({ WORKERS: '2', ...NO_BUDGET });
    answer = await run(service, SUGAR);
    body = await answer.json();
  });
  afterAll(() => service.stop());

  it('answers with the document, every default written out, and the conditions in order', () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('server-timing')).toMatch(/^total;dur=\d/);
    expect(answer.headers.has('x-backend')).toBe(false);
    expect(Object.keys(body)).toEqual([
      'id',
      'model',
      'wiring',
      'side_convention',
      'experiment',
      'resolved',
      'conditions',
      'unchanged',
      'cost',
      'warnings',
      'cite',
    ]);
    expect(body['experiment']).toMatchObject({
      seed: 42,
      silence: [],
      inputs: { sugar: { module: 'poisson', delay_ms: 0, duration_ms: 100 } },
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [0, 100, 200] }],
      on_missing: 'error',
    });
    expect(body.conditions.map(({ index, parameters }) => [index, parameters])).toEqual(
      [0, 100, 200].map((rate, index) => [index, { 'inputs.sugar.rate_hz': rate }]),
    );
    // Three conditions of three trials of a tenth of a second.
    expect(body['cost']).toMatchObject({ brain_seconds: 0.9 });
    const total = (condition: Condition) =>
      (condition as unknown as { spikes: { mean: number } }).spikes.mean;
    expect(total(body.conditions[0]!)).toBe(0);
    expect(total(body.conditions[2]!)).toBeGreaterThan(total(body.conditions[1]!));
  });

  it('answers equal documents with equal bytes, whatever the order of members and however often', async () => {
    const { sweep, reports, ...rest } = SUGAR;
    const turned = { reports, sweep, on_missing: 'error', silence: [], ...rest };
    const [again, other, complete] = await Promise.all(
      [SUGAR, turned, body['experiment']].map(async (document) => (await run(service, document)).text()),
    );
    expect(again).toBe(JSON.stringify(body));
    expect(other).toBe(again);
    expect(complete).toBe(again);
  });

  it('takes nothing for the default experiment: all channels, nothing stimulated', async () => {
    const empty = await (await service.post(undefined, PATH, {})).json();
    expect(Object.keys(empty.experiment.reports)).toHaveLength(
      (await (await service.get('/api/v1/model')).json()).channels.length,
    );
    expect(empty.conditions).toHaveLength(1);
    expect(empty.conditions[0].spikes).toEqual({ mean: 0, sd: 0 });
  });

  it('streams the same as lines', async () => {
    const lines = await run(service, SUGAR, '', { accept: 'application/x-ndjson, application/json;q=0.5' });
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(lines.headers.get('x-accel-buffering')).toBe('no');
    expect(lines.headers.has('content-length')).toBe(false);
    const [head, ...rest] = (await lines.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const totals = rest.pop();
    expect({ ...head, conditions: rest, ...totals }).toEqual(body);
  });

  it('gives the rates as CSV, Arrow and Parquet, equal to those of JSON', async () => {
    const expected = body.conditions.flatMap(({ index, parameters, reports }) =>
      reports['all']!.map((group) => [index, Object.values(parameters)[0], group['type'], rateOf(group)]),
    );
    const csv = await (await run(service, SUGAR, '?format=csv')).text();
    const rows = csv
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const header = rows.shift()!;
    const at = (name: string) => header.indexOf(name);
    expect(
      rows
        .filter((row) => row[at('report')] === 'all')
        .map((row) => [
          Number(row[0]),
          Number(row[at('inputs.sugar.rate_hz')]),
          row[at('type')],
          Number(row[at('rate_hz_mean')]),
        ]),
    ).toEqual(expected);
    const names = ['condition', 'inputs.sugar.rate_hz', 'type', 'rate_hz_mean'];
    const arrow = await run(service, SUGAR, '', { accept: 'application/vnd.apache.arrow.stream' });
    expect(arrow.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
    const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
    const fromArrow = table.toArray().filter(({ report }) => report === 'all');
    expect(fromArrow.map((row) => names.map((name) => row[name]))).toEqual(expected);
    const parquet = await run(service, SUGAR, '?format=parquet');
    const file = await parquet.arrayBuffer();
    expect(Number(parquet.headers.get('content-length'))).toBe(file.byteLength);
    const fromParquet = (await parquetReadObjects({ file })).filter(({ report }) => report === 'all');
    expect(fromParquet.map((row) => names.map((name) => row[name]))).toEqual(expected);
  });

  it('compresses text if the client accepts that, and says how long a short answer is', async () => {
    const send = (encoding: string, query = '') =>
      exchange(service.port, [
        `POST ${PATH}${query} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n` +
          `Accept-Encoding: ${encoding}\r\nContent-Length: ${JSON.stringify(SUGAR).length}\r\n\r\n${JSON.stringify(SUGAR)}`,
      ]);
    const [plain] = await send('identity');
    expect(Number(plain!.headers['content-length'])).toBe(Buffer.byteLength(plain!.body));
    const response = await fetch(`${service.url}${PATH}?format=ndjson`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(SUGAR),
    });
    // fetch accepts gzip and takes it off.
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect((await response.text()).trimEnd().split('\n')).toHaveLength(5);
    const gzipped = await new Promise<Buffer>((resolve, reject) => {
      const sent = httpRequest(
        `${service.url}${PATH}`,
        { method: 'POST', headers: { ...JSON_TYPE, 'accept-encoding': 'gzip' } },
        (message) => {
          const chunks: Buffer[] = [];
          message.on('data', (chunk: Buffer) => chunks.push(chunk));
          message.on('end', () => {
            const all = Buffer.concat(chunks);
            expect(message.headers['content-encoding']).toBe('gzip');
            expect(Number(message.headers['content-length'])).toBe(all.length);
            resolve(all);
          });
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(SUGAR));
    });
    expect(gunzipSync(gzipped).toString()).toBe(plain!.body);
  });

  it('goes on at a condition: the same conditions, at a lower cost', async () => {
    const rest = await (await run(service, SUGAR, '?from=2')).json();
    expect(rest.id).toBe(body['id']);
    expect(rest.conditions).toEqual(body.conditions.slice(2));
    expect(rest.cost.brain_seconds).toBeCloseTo(0.3, 9);
    const lines = (await (await run(service, SUGAR, '?from=1&format=ndjson')).text()).trimEnd().split('\n');
    expect(lines.slice(1, -1).map((line) => JSON.parse(line))).toEqual(body.conditions.slice(1));
  });

  it('prices an experiment without running it', async () => {
    const dry = await (await run(service, SUGAR, '?dry_run=true')).json();
    expect(dry).toMatchObject({ id: body['id'], resolved: body['resolved'], experiment: body['experiment'] });
    expect(Object.entries(dry)[0]).toEqual(['dry_run', true]);
    expect(body).not.toHaveProperty('dry_run');
    expect(dry.conditions).toEqual(body.conditions.map(({ index, parameters }) => ({ index, parameters })));
    // 12 neurons, 0, 100 and 200 Hz, three trials of 0.1 s: 12 x 300 x 0.1 x 3 events are expected.
    expect(dry.cost).toEqual({ brain_seconds: 0.9, input_events: 1080 });
    const refused = await run(service, SUGAR, '?dry_run=true&format=csv');
    expect([refused.status, (await refused.json()).code]).toEqual([400, 'INVALID_PARAMETER']);
  });

  it('gives every report, group, input and window', async () => {
    const document = {
      name: 'everything',
      node_sets: { both: ['S_sugar', 'S_loom'], some: { type: 'S_*', except: 'both' } },
      inputs: {
        sugar: { node_set: 'S_sugar', rate_hz: 150, delay_ms: 10, duration_ms: 50.5 },
        given: { node_set: 'S_loom', module: 'spikes', times_ms: [1, 2.3, 30] },
      },
      silence: ['C_walk', { type: 'C_turn_*', super_class: 'descending' }],
      duration_ms: 80,
      trials: 2,
      seed: 7,
      reports: {
        rate: { node_set: 'both', group_by: ['type', 'side'], start_ms: 5 },
        histogram: { node_set: 'some', type: 'histogram', group_by: ['type'], bin_ms: 25 },
        spikes: { node_set: 'both', type: 'spikes' },
        inputs: { node_set: 'S_loom', type: 'inputs', end_ms: 20 },
        potentials: { node_set: 'C_wing', type: 'membrane', dt_ms: 20, start_ms: 40 },
      },
      sweep: [
        { set: 'inputs.sugar.delay_ms', values: [0, 10] },
        { each: 'C_wing', group_by: ['type'], as: 'silence' },
      ],
    };
    const whole = await (await run(service, document)).json();
    expect(whole.conditions.length + whole.unchanged.length).toBe(4);
    const [first] = whole.conditions;
    expect(first.parameters).toEqual({ 'inputs.sugar.delay_ms': 0, silence: null });
    expect(first.reports.rate.map(({ type, side }: Record<string, string>) => `${type} ${side}`)).toEqual([
      'S_loom left',
      'S_loom right',
      'S_sugar left',
      'S_sugar right',
    ]);
    for (const group of first.reports.histogram) expect(group.bins_hz).toHaveLength(4);
    // Twelve neurons, two trials, the two given times before 20 ms.
    expect(first.reports.inputs.t_ms).toHaveLength(48);
    expect([...new Set(first.reports.inputs.t_ms)]).toEqual([1, 2.3]);
    expect(new Set(first.reports.inputs.input)).toEqual(new Set(['given']));
    expect(new Set(first.reports.spikes.trial)).toEqual(new Set([0, 1]));
    // Four neurons at 40 and 60 ms; 80 ms is the end.
    const potentials = first.reports.potentials;
    expect(Object.keys(potentials)).toEqual(['trial', 't_ms', 'root_id', 'v_mv']);
    expect(potentials.t_ms.slice(0, 8)).toEqual([40, 40, 40, 40, 60, 60, 60, 60]);
    expect(potentials.v_mv).toHaveLength(16);
    const read = await run(service, document, '?format=arrow&table=membrane');
    const membranes = tableFromIPC(new Uint8Array(await read.arrayBuffer())).getChild('v_mv')!;
    expect([...membranes].slice(0, 16)).toEqual(potentials.v_mv);
    expect(whole.conditions.every((each: { responding_any: number }) => each.responding_any > 0)).toBe(true);
    const shiu = await run(service, document, '?format=parquet&table=spikes&names=shiu');
    // The small brain is synthetic: its neurons have no ids of FlyWire.
    expect([200, 400]).toContain(shiu.status);
    const spikes = tableFromIPC(
      new Uint8Array(await (await run(service, document, '?format=arrow&table=spikes')).arrayBuffer()),
    );
    const rows = whole.conditions.reduce(
      (sum: number, { reports }: { reports: { spikes: { t_ms: number[] } } }) =>
        sum + reports.spikes.t_ms.length,
      0,
    );
    expect(spikes.numRows).toBe(rows);
  });

  it('answers other methods, preflights and pages as every resource does', async () => {
    const preflight = await fetch(`${service.url}${PATH}`, {
      method: 'OPTIONS',
      headers: { origin: 'http://lab.example', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    for (const path of [PATH, '/api/v2/neurons', '/api/v2/node-sets']) {
      const refused = await fetch(`${service.url}${path}`, { method: 'DELETE' });
      expect([refused.status, await refused.json()]).toEqual([
        405,
        expect.objectContaining({ code: 'METHOD_NOT_ALLOWED' }),
      ]);
    }
    expect((await service.get(PATH)).headers.get('allow')).toBe('OPTIONS, POST');
    const head = await fetch(`${service.url}/api/v2/neurons?type=S_loom`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length') ?? 1)).toBeGreaterThan(0);
  });

  it('finds neurons and lists sets that selectors can name', async () => {
    const found = await (await service.get('/api/v2/neurons?type=S_*&side=left&limit=3')).json();
    expect(found.neurons).toHaveLength(3);
    expect(found.count).toBe(
      Object.values(found.types as Record<string, number>).reduce((sum, count) => sum + count, 0),
    );
    expect(found.sides).toEqual({ left: found.count });
    const rest = await (await service.get('/api/v2/neurons?type=S_*&side=left&from=3')).json();
    expect(rest.neurons).toHaveLength(found.count - 3);
    const none = await (await service.get('/api/v2/neurons?type=S_sugr')).json();
    expect([none.count, none.suggestions['S_sugr'][0]]).toEqual([0, 'S_sugar']);
    const [, second, third] = found.neurons.map(({ root_id: id }: { root_id: string }) => id);
    const byId = await (await service.get(`/api/v2/neurons?root_id=${third},nobody,${second}`)).json();
    expect(byId.neurons).toEqual(found.neurons.slice(1));
    expect([byId.count, byId.suggestions]).toEqual([2, { nobody: [] }]);
    const csv = await service.get('/api/v2/neurons?type=S_loom&format=csv');
    expect((await csv.text()).split('\r\n')).toHaveLength(12 + 2);
    const { node_sets: sets } = await (await service.get('/api/v2/node-sets')).json();
    const names = sets.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['@sugar', '@channel/escape', '@stimulus/loom']));
    const loom = sets.find(({ name }: { name: string }) => name === '@stimulus/loom');
    expect(loom.neurons).toBe(12);
    const tooMany = `?root_id=${Array<string>(201).fill('1').join(',')}`;
    const wrong = ['?limit=x', '?limit=10001', '?side=up', '?type=a&type=b', '?kind=x', '?type='];
    for (const query of [...wrong, '?root_id=', '?root_id=1,,2', '?root_id=1&root_id=2', tooMany]) {
      const refused = await service.get(`/api/v2/neurons${query}`);
      expect([query, refused.status, (await refused.json()).code]).toEqual([query, 400, 'INVALID_PARAMETER']);
    }
  });

  it('refuses a format that it does not have, and a query that means nothing', async () => {
    const refusedFor = async (query: string, headers: Record<string, string> = {}) => {
      const refused = await run(service, SUGAR, query, headers);
      const { code, path, error } = await refused.json();
      // A table needs a report of its kind, whose place is in the document.
      expect([path, error]).toEqual([
        expect.stringMatching(/^(\/reports)?$/),
        expect.stringMatching(/, got |allowed: |the reports are /),
      ]);
      return [refused.status, code];
    };
    for (const query of [
      '?format=xml',
      '?format=json&format=csv',
      '?dry_run=1',
      '?dry_run=',
      '?from=-1',
      '?from=3',
      '?from=1.0',
      '?from=1e1',
      '?from=99999999999',
      '?table=rates',
      '?names=shiu',
      '?format=csv&table=voltages',
      '?format=csv&table=spikes',
      '?format=csv&names=other',
      '?trials=3',
      '?__proto__=1',
    ]) {
      expect([query, ...(await refusedFor(query))]).toEqual([query, 400, 'INVALID_PARAMETER']);
    }
    expect(await refusedFor('', { accept: 'image/png' })).toEqual([406, 'NOT_ACCEPTABLE']);
    expect(await refusedFor('', { accept: 'application/json;q=0' })).toEqual([406, 'NOT_ACCEPTABLE']);
    for (const accept of [
      '*/*',
      'application/*',
      'text/html, */*;q=0.1',
      'image/png, application/json;q=0.01',
      'application/json; charset=utf-8',
      'text/csv; charset=utf-8; q=0.5, application/json; charset="UTF-8"; q=0.6',
      // Sent by a browser in which an address is opened.
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/png,image/svg+xml,*/*;q=0.8',
    ]) {
      const { headers } = await run(service, SUGAR, '?dry_run=true', { accept });
      expect([accept, headers.get('content-type')]).toEqual([accept, 'application/json; charset=utf-8']);
    }
  });

  it('refuses bodies that are no document, with the right limit', async () => {
    const refusedFor = async (text: string, headers: Record<string, string> = JSON_TYPE) => {
      const refused = await service.post(text, PATH, headers);
      const { code, path, error } = await refused.json();
      expect(path).toBe('');
      return { status: refused.status, code, error };
    };
    expect(await refusedFor('{"trials":')).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' });
    expect(await refusedFor('{}', { 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
    expect(await refusedFor(JSON.stringify({ name: 'x'.repeat(1_048_576) }))).toEqual({
      status: 413,
      code: 'BODY_TOO_LARGE',
      error: 'The request body is larger than 1048576 bytes, the maximum.',
    });
    // A body that is too large for version 1 arrives here; version 1 still refuses more than 8 KiB.
    const long = JSON.stringify({ name: 'x'.repeat(9_000) });
    expect((await (await service.post(long, PATH)).json()).path).toBe('/name');
    const run1 = await service.post(long, '/api/v1/run');
    expect([run1.status, await run1.json()]).toEqual([
      413,
      { error: 'The request body is larger than 8192 bytes, the maximum.', code: 'BODY_TOO_LARGE' },
    ]);
    const nested = 40_000;
    for (const [deep, path] of [
      [`${'['.repeat(3 * nested)}${']'.repeat(3 * nested)}`, ''],
      [`${'{"a":'.repeat(nested)}1${'}'.repeat(nested)}`, '/a'],
      [`{"silence":${'['.repeat(3 * nested)}${']'.repeat(3 * nested)}}`, expect.stringMatching(/^\/silence/)],
    ]) {
      const refused = await service.post(deep, PATH);
      expect([refused.status, await refused.json()]).toEqual([
        400,
        { error: expect.stringMatching(/^.{1,300}$/), code: 'INVALID_PARAMETER', path },
      ]);
    }
    const twice = '{"trials": 1, "inputs": {"a": {"node_set": "S_sugar"}, "a": {"node_set": "S_loom"}}}';
    const refusedTwice = await service.post(twice, PATH);
    expect([refusedTwice.status, await refusedTwice.json()]).toEqual([
      400,
      {
        error: 'The document must have each member once, got "a" twice in the same object.',
        code: 'INVALID_PARAMETER',
        path: '/inputs/a',
      },
    ]);
    for (const text of ['null', '[]', '"x"', '1', 'true']) {
      expect(await refusedFor(text)).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' });
    }
  });

  const faults = badDocuments();
  it(`refuses each of ${faults.length} bad documents with one clear error and its place, and costs nothing`, async () => {
    expect(faults.length).toBeGreaterThan(300);
    for (const [document, place, code = 'INVALID_PARAMETER'] of faults) {
      const refused = await run(service, document);
      const body = await refused.json();
      expect({ document, status: refused.status, code: body.code, path: body.path }).toEqual({
        document,
        status: code === 'TOO_EXPENSIVE' ? 422 : 400,
        code,
        path: typeof place === 'string' ? place : expect.stringMatching(place),
      });
      expect(body.error.length).toBeLessThan(1_000);
      expect(body.error).toMatch(/^\S.*\.$/);
    }
    expect((await run(service, SUGAR)).status).toBe(200);
  });

  it('refuses selectors that select too much together, however few brain seconds it takes', async () => {
    const small = await startReadyService({}, { limits: { selectedNeurons: 40 } });
    const sets = (count: number) => ({
      trials: 1,
      reports: Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`r${i}`, { node_set: i % 2 ? 'S_sugar' : 'S_loom' }]),
      ),
    });
    expect((await run(small, sets(3))).status).toBe(200);
    const refused = await run(small, sets(4), '?dry_run=true');
    expect([refused.status, await refused.json()]).toEqual([
      422,
      {
        error:
          'The selectors of the experiment select at least 48 neurons in all; at most 40 are allowed. With fewer or smaller ' +
          'node sets it would fit.',
        code: 'TOO_EXPENSIVE',
        path: '',
      },
    ]);
    await small.stop();
  });

  it('refuses overrides of too many connections, also as a job', async () => {
    const small = await startReadyService({}, { limits: { overriddenPairs: 300 } });
    const overriding = (target: string) => ({
      trials: 1,
      connection_overrides: { weaker: { source: '@all', target, weight: 0.5 } },
    });
    expect((await run(small, overriding('C_walk'))).status).toBe(200);
    for (const prefer of ['', 'respond-async']) {
      const headers = { 'content-type': 'application/json', prefer };
      const refused = await small.post(overriding('@all'), '/api/v2/experiments', headers);
      expect([refused.status, await refused.json()]).toMatchObject([
        422,
        {
          code: 'TOO_EXPENSIVE',
          path: '/connection_overrides',
          error: expect.stringMatching(/name \d+ connections; at most 300/),
        },
      ]);
    }
    await small.stop();
  });

  it('suggests similar names', async () => {
    const { error, suggestions, path } = await (
      await run(service, { inputs: { a: { node_set: ['S_sugr', 'S_loom', 'S_loon'] } } })
    ).json();
    expect(path).toBe('/inputs/a/node_set/0');
    expect(error).toContain('"S_sugr"');
    expect(error).toContain('"S_loon"');
    expect(suggestions).toEqual(expect.arrayContaining(['S_sugar', 'S_loom']));
  });
});

function rateOf(group: Record<string, unknown>): number {
  return (group['rate_hz'] as { mean: number }).mean;
}

type Fault = readonly [document: unknown, place: string | RegExp, code?: string];

/** Values that no field of that kind allows, at each path that has one. */
function badDocuments(): Fault[] {
  const input = { node_set: 'S_sugar' };
  const report = { node_set: 'S_sugar' };
  const numbers = (from: number, to: number, isWhole: boolean) => [
    from - 1,
    to + 1,
    -1e300,
    1e300,
    'x',
    '5',
    true,
    [],
    {},
    [1],
    null,
    ...(isWhole ? [from + 0.5] : []),
  ];
  const texts = ['', 'x'.repeat(200), 5, true, {}, [], null];
  const noObjects = [5, 'x', true, [], null];
  const places: [path: string, document: (value: unknown) => unknown, values: readonly unknown[]][] = [
    ['/trials', (value) => ({ trials: value }), numbers(1, 100, true)],
    ['/duration_ms', (value) => ({ duration_ms: value }), numbers(1, 600_000, true)],
    ['/seed', (value) => ({ seed: value }), numbers(0, 2 ** 32 - 1, true)],
    ['/name', (value) => ({ name: value }), [5, true, {}, [], null, 'x'.repeat(121)]],
    ['/on_missing', (value) => ({ on_missing: value }), ['no', 5, null, [], {}]],
    ['/node_sets', (value) => ({ node_sets: value }), noObjects],
    ['/inputs', (value) => ({ inputs: value }), noObjects],
    ['/reports', (value) => ({ reports: value }), noObjects],
    ['/silence', (value) => ({ silence: value }), [5, 'S_sugar', true, {}, null]],
    ['/sweep', (value) => ({ sweep: value }), [5, 'x', true, {}, null]],
    ['/inputs/a', (value) => ({ inputs: { a: value } }), noObjects],
    [
      '/inputs/a/rate_hz',
      (value) => ({ inputs: { a: { ...input, rate_hz: value } } }),
      numbers(0, 500, false),
    ],
    [
      '/inputs/a/delay_ms',
      (value) => ({ inputs: { a: { ...input, delay_ms: value } } }),
      [0.05, ...numbers(0, 5000, false)],
    ],
    [
      '/inputs/a/module',
      (value) => ({ inputs: { a: { ...input, module: value } } }),
      ['gamma', 5, null, [], {}],
    ],
    [
      '/inputs/a/times_ms',
      (value) => ({ inputs: { a: { ...input, module: 'spikes', times_ms: value } } }),
      [5, 'x', true, null, {}],
    ],
    [
      '/inputs/a/times_ms/1',
      (value) => ({ inputs: { a: { ...input, module: 'spikes', times_ms: [1, value] } } }),
      [0.05, -1, 'x', null, 1, [], 600_001],
    ],
    ['/reports/r', (value) => ({ reports: { r: value } }), [5, true, [], null]],
    [
      '/reports/r/type',
      (value) => ({ reports: { r: { ...report, type: value } } }),
      ['mean', 5, null, [], {}],
    ],
    [
      '/reports/r/group_by',
      (value) => ({ reports: { r: { ...report, group_by: value } } }),
      [5, 'side', true, {}, null],
    ],
    [
      '/reports/r/group_by/0',
      (value) => ({ reports: { r: { ...report, group_by: [value] } } }),
      ['classes', 5, null, [], {}],
    ],
    [
      '/reports/r/start_ms',
      (value) => ({ reports: { r: { ...report, start_ms: value } } }),
      [0.05, ...numbers(0, 5000, false)],
    ],
    [
      '/reports/r/bin_ms',
      (value) => ({ reports: { r: { ...report, type: 'histogram', bin_ms: value } } }),
      [0.5, 1.05, 'x', null, [], -1],
    ],
    [
      '/reports/r/dt_ms',
      (value) => ({ reports: { r: { ...report, type: 'membrane', dt_ms: value } } }),
      [0.05, 0, 'x', null, [], -1, 5000.1, 1000],
    ],
  ];
  const faults: Fault[] = places.flatMap(([path, document, values]) =>
    values.map((value): Fault => [document(value), new RegExp(`^${path}(/|$)`)]),
  );
  // Every place that takes a selector.
  const selectors: [path: string, document: (value: unknown) => unknown][] = [
    ['/node_sets/s', (value) => ({ node_sets: { s: value } })],
    ['/inputs/a/node_set', (value) => ({ inputs: { a: { node_set: value } } })],
    ['/silence/0', (value) => ({ silence: [value] })],
    ['/reports/r/node_set', (value) => ({ reports: { r: { node_set: value } } })],
    ['/sweep/0/each', (value) => ({ sweep: [{ each: value, as: 'silence' }] })],
  ];
  for (const [path, document] of selectors) {
    for (const value of [
      ...texts,
      [5],
      [[]],
      { type: 5 },
      { type: [] },
      { kind: 'x' },
      JSON.parse('{"root_id": 720575940611875570}'),
      { side: 'up' },
      [{ type: 'S_sugar' }, null],
    ]) {
      faults.push([document(value), new RegExp(`^${path}(/|$)`)]);
    }
    faults.push([document({ root_id: '720575940611875570' }), new RegExp(`^${path}`)]);
    for (const value of [
      'Nobody',
      '@nobody',
      '@channel/nobody',
      ['S_sugar', 'Nobody'],
      { type: 'Nobody*' },
      { class: 'x' },
      { type: 'S_sugar', except: 'Nobody' },
    ]) {
      faults.push([document(value), new RegExp(`^${path}`), 'UNKNOWN_NEURONS']);
    }
    for (const value of [
      { type: 'S_sugar', except: 'S_sugar' },
      { type: 'S_sugar', super_class: 'descending' },
    ]) {
      faults.push([document(value), new RegExp(`^${path}`), 'EMPTY_NODE_SET']);
    }
  }
  // Faults that several members make together.
  const axis = (value: unknown) => ({ inputs: { a: input }, sweep: [value] });
  const swept: Fault[] = [
    {},
    { set: 'inputs.a.rate_hz' },
    { set: 'inputs.b.rate_hz', values: [1] },
    { set: 'inputs.a.module', values: [1] },
    { set: 'trials', values: [1] },
    { set: 'seed', values: [] },
    { set: 'seed', values: [1, 1] },
    { set: 'seed', values: [0.5] },
    { set: 'seed', values: ['1'] },
    { set: 'duration_ms', values: [600_001] },
    { set: 'inputs.a.rate_hz', values: [501] },
    { set: 'inputs.a.rate_hz', from: 0, to: 10 },
    { set: 'inputs.a.rate_hz', from: 0, to: 10, step: 0 },
    { set: 'inputs.a.rate_hz', from: 0, to: 10, step: -1 },
    { set: 'inputs.a.rate_hz', from: 10, to: 0, step: 1 },
    { set: 'inputs.a.rate_hz', from: 0, to: 10, step: 1, values: [1] },
    { set: 'inputs.a.rate_hz', from: 0, to: 500, step: 1e-9 },
    { set: 'seed', from: 0, to: 4294967295, step: 1 },
    { each: 'S_sugar', as: 'inputs.b' },
    { each: 'S_sugar', as: 'stimulate' },
    { each: 'S_sugar' },
    { each: 'S_sugar', as: 'silence', group_by: ['classes'] },
    { each: { responders_of: 'last' }, as: 'silence' },
    { each: { responders_of: 'baseline', top: 0 }, as: 'silence' },
    { each: { responders_of: 'baseline' }, as: 'silence', group_by: [] },
  ].map((value): Fault => [axis(value), /^\/sweep/]);
  const seeds = { set: 'seed', from: 1, to: 1000, step: 1 };
  return [
    ...faults,
    ...swept,
    [{ sweep: [seeds, { set: 'duration_ms', from: 1, to: 1000, step: 1 }] }, /^\/sweep/],
    [{ sweep: [seeds, seeds] }, /^\/sweep/],
    [{ sweep: [1, 2, 3, 4].map((seed) => ({ set: 'seed', values: [seed] })) }, /^\/sweep/],
    [{ node_sets: { a: 'b', b: 'a' } }, /^\/node_sets\//],
    [{ node_sets: { a: ['a'] } }, /^\/node_sets\//],
    [{ node_sets: { S_sugar: 'S_loom' } }, '/node_sets/S_sugar'],
    [{ node_sets: { 'a b': 'S_loom' } }, /^\/node_sets/],
    [{ node_sets: { '': 'S_loom' } }, /^\/node_sets/],
    [{ inputs: { 'a.b': input } }, /^\/inputs/],
    [{ inputs: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`i${i}`, input])) }, '/inputs'],
    [{ reports: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`r${i}`, report])) }, '/reports'],
    [{ silence: Array.from({ length: 65 }, (_, i) => `S_${i}`) }, '/silence'],
    [{ silence: ['S_sugar', 'S_sugar'] }, '/silence/1'],
    [{ inputs: { a: {} } }, /^\/inputs\/a/],
    [{ inputs: { a: { ...input, times_ms: [1] } } }, '/inputs/a/times_ms'],
    [{ inputs: { a: { ...input, module: 'spikes', rate_hz: 5, times_ms: [1] } } }, '/inputs/a/rate_hz'],
    [{ inputs: { a: { ...input, delay_ms: 900, duration_ms: 200 } } }, /^\/inputs\/a/],
    [{ inputs: { a: { ...input, delay_ms: 100 } }, duration_ms: 100 }, /^\/inputs\/a/],
    [{ reports: { r: { ...report, start_ms: 50, end_ms: 50 } } }, /^\/reports\/r/],
    [{ reports: { r: { ...report, end_ms: 2000 } } }, /^\/reports\/r/],
    [{ reports: { r: { ...report, bin_ms: 10 } } }, '/reports/r/bin_ms'],
    [{ reports: { r: { ...report, type: 'spikes', group_by: ['side'] } } }, /^\/reports\/r\/group_by/],
    [{ stimulus: 'sugar' }, '/stimulus'],
    [{ constructor: 1 }, '/constructor'],
    [JSON.parse('{"__proto__": {"trials": 1}}'), '/__proto__'],
    [{ 'a/b~c': 1 }, '/a~1b~0c'],
    [{ trails: 3 }, '/trails'],
    [{ name: 'x\u0000'.repeat(200) }, '/name'],
    [
      {
        inputs: { a: input },
        duration_ms: 5000,
        trials: 100,
        sweep: [{ set: 'seed', from: 1, to: 2000, step: 1 }],
      },
      /^\//,
      'TOO_EXPENSIVE',
    ],
  ];
}
