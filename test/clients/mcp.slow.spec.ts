/** The server for agents, with the brain in its own process and with a service; by hand and with the client of the SDK. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fitted } from '../../clients/mcp/fitted.js';
import { connectomeFile } from '../support/connectomes.js';
import { type CallResult, MCP_SERVER, McpClient, type McpMessage } from '../support/mcp-client.js';
import { type ServiceProcess, startProcess, until } from '../support/service-process.js';

const LOOM = {
  inputs: { LC4: { node_set: 'LC4', rate_hz: 100 } },
  reports: { giant_fibre: { node_set: 'DNp01', group_by: ['side'] } },
  duration_ms: 100,
  trials: 2,
};
const SPIKES = { ...LOOM, reports: { spikes: { node_set: ['LC4', 'DNp01'], type: 'spikes' } } };
const SWEEP = { ...LOOM, sweep: [{ set: 'inputs.LC4.rate_hz', values: [0, 50, 150] }] };
/** Half an hour of computation. */
const ENDLESS = {
  ...LOOM,
  duration_ms: 1000,
  trials: 100,
  sweep: [{ set: 'seed', from: 1, to: 400, step: 1 }],
};
/** As many sets and reports as a document may have, with names as long as they may be. */
const names = (count: number) => Array.from({ length: count }, (_, at) => String(at).padStart(64, '_'));
const MANY_NAMES = {
  ...LOOM,
  node_sets: Object.fromEntries(names(64).map((name) => [name, ['LC4', 'LPLC2', 'LC6', 'LC9']])),
  reports: Object.fromEntries(
    names(32).map((name) => [
      name,
      { node_set: name, group_by: ['type', 'side', 'super_class', 'class', 'sub_class'] },
    ]),
  ),
  duration_ms: 20,
  trials: 5,
  sweep: [{ set: 'seed', from: 1, to: 5, step: 1 }],
};
const UNKNOWN = { ...LOOM, inputs: { LC4: { node_set: 'LC4x' } } };

/** Settings of a program that starts servers, by its name for them. */
type Settings = Readonly<Record<string, Readonly<Record<string, { command: string; args: string[] }>>>>;

let service: ServiceProcess;
let clients: Readonly<Record<Place, McpClient>>;
let connectome: string;
type Place = 'its own brain' | 'a service';
const PLACES: readonly Place[] = ['its own brain', 'a service'];

beforeAll(async () => {
  connectome = await connectomeFile('default');
  service = await startProcess({
    CONNECTOME_FILE: connectome,
    EXPERIMENT_BRAIN_SECONDS: '1000000',
    EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0',
  });
  await service.untilReady();
  clients = {
    'its own brain': new McpClient(['--workers', '2'], { CONNECTOME_FILE: connectome }),
    'a service': new McpClient(['--url', service.url]),
  };
  for (const place of PLACES) await clients[place].initialize();
}, 300_000);
afterAll(async () => {
  await Promise.all(Object.values(clients ?? {}).map((client) => client.kill('SIGKILL')));
  await service?.stop();
});

async function asked(path: string, body?: object): Promise<unknown> {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return (await fetch(service.url + path, init ?? {})).json();
}

describe.each(PLACES)('with %s', (place) => {
  let client: McpClient;
  beforeAll(() => (client = clients[place]));

  it('lists tools whose schemas accept the examples and refuse mistakes', async () => {
    const { result } = await client.request('tools/list');
    const tools = result!['tools'] as { name: string; description: string; inputSchema: object }[];
    expect(tools.map(({ name }) => name)).toEqual([
      'describe_model',
      'find_neurons',
      'list_connections',
      'plan_experiment',
      'run_experiment',
      'run_stimulus',
      'open_session',
      'step_session',
      'end_session',
    ]);
    const ajv = new Ajv2020({ strict: false });
    const accepts = (name: string, args: object) =>
      ajv.validate(tools.find((tool) => tool.name === name)!.inputSchema, args);
    const relay = JSON.parse(readFileSync('examples/looming-relay.json', 'utf8')) as object;
    for (const name of ['plan_experiment', 'run_experiment', 'open_session'])
      expect([accepts(name, relay), accepts(name, { trial: 3 })]).toEqual([true, false]);
    expect(accepts('run_experiment', { inputs: { sugar: { node_set: '@sugar', rate_hz: -1 } } })).toBe(false);
    expect(accepts('list_connections', { source: { type: 'LC4', side: 'left' }, target: ['DNp01'] })).toBe(
      true,
    );
    expect(accepts('find_neurons', { type: 'LC4', format: 'csv' })).toBe(false);
    expect(accepts('run_stimulus', { stimulus: 'loom' })).toBe(true);
    expect(accepts('run_stimulus', { stimulus: 'looming' })).toBe(false);
    expect(accepts('step_session', { session: 'x', duration_ms: 20 })).toBe(true);
    expect(accepts('step_session', { duration_ms: 20 })).toBe(false);
  });

  it('gives the answers of the service, with a text', async () => {
    const model = (await asked('/api/v1/model')) as object;
    const described = await client.call('describe_model');
    expect(described.structuredContent).toMatchObject(model);
    expect(described.content[0]!.text).toMatch(/synthetic wiring\n[^]*loom +\d+[^]*@sugar +\d+/);

    const found = await client.call('find_neurons', { type: 'LC4', side: 'left', limit: 3 });
    expect(found.structuredContent).toEqual(await asked('/api/v2/neurons?type=LC4&side=left&limit=3'));
    expect(found.content[0]!.text).toMatch(/^\d+ neurons; left \d+; LC4 \d+\n[^]*… and \d+ more rows\n$/);
    for (const [from, more] of [
      [90, '  … and 4 more rows\n'],
      [100, ''],
      [200, ''],
    ] as const) {
      const { content } = await client.call('find_neurons', { type: 'LC4', from, limit: 10 });
      expect(/ {2}…[^]*|$/.exec(content[0]!.text!)![0]).toBe(more);
    }
    const after = { source: 'LC4', target: 'DN*', from: 100 };
    expect((await client.call('list_connections', after)).content[0]!.text).not.toContain('more row');

    const connections = await client.call('list_connections', { source: 'LC4', target: 'DNp01' });
    expect(connections.structuredContent).toEqual(
      await asked('/api/v2/connections?source=LC4&target=DNp01&limit=50'),
    );
    expect(connections.content[0]!.text).toMatch(/^\d+ connections with \d+ synapses, synthetic wiring\n/);

    const planned = await client.call('plan_experiment', SWEEP);
    expect(planned.structuredContent).toEqual(await asked('/api/v2/experiments?dry_run=true', SWEEP));
    expect(planned.content[0]!.text).toMatch(/inputs.LC4[^]*At most 0.6 brain seconds[^]*3 conditions/);

    const { frames, ...run } = (await asked('/api/v1/run', { stimulus: 'loom' })) as { frames: object[] };
    const ran = await client.call('run_stimulus', { stimulus: 'loom' });
    expect(frames.length).toBeGreaterThan(0);
    expect(ran.structuredContent).toEqual(run);
    expect(ran.content[0]!.text).toMatch(/loom: 100 ms[^]*escape +\d/);
  });

  it.each([
    ['a sweep', SWEEP, /LC4.rate_hz[^]*150/],
    ['one condition', LOOM, /giant_fibre[^]*left/],
    ['spikes', SPIKES, /2 trials of 100 ms/],
  ])('runs %s and draws it', async (_, document, text) => {
    const { content, structuredContent } = await client.call('run_experiment', document);
    expect(structuredContent).toEqual(await asked('/api/v2/experiments', document));
    expect(content.map(({ type }) => type)).toEqual(['text', 'image']);
    expect(content[0]!.text).toMatch(text);
    const png = Buffer.from(content[1]!.data!, 'base64');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.readUInt32BE(16)).toBeGreaterThan(600);
  });

  it('steps a session as the service does', async () => {
    const { duration_ms: _, trials: __, ...document } = LOOM;
    const { session: name } = (await asked('/api/v2/sessions', document)) as { session: string };
    const opened = await client.call('open_session', document);
    expect(opened.structuredContent).toMatchObject({ t_ms: 0, rates_hz: { LC4: 100 } });
    const session = opened.structuredContent['session'] as string;
    let t_ms = 0;
    for (const changes of [{}, { rates_hz: { LC4: 20 } }, { silence: ['DNp01'] }]) {
      const step = { duration_ms: 50, ...changes };
      const { structuredContent, content } = await client.call('step_session', { session, ...step });
      expect(structuredContent).toEqual(await asked(`/api/v2/sessions/${name}/steps`, { t_ms, ...step }));
      t_ms += 50;
      expect(content[0]!.text).toMatch(new RegExp(`^t_ms ${t_ms}, [^]*giant_fibre\n  side`));
    }
    const late = await client.call('step_session', { session, t_ms: 0, duration_ms: 50 });
    expect(late.structuredContent).toMatchObject({
      code: 'STEP_OUT_OF_ORDER',
      path: '/t_ms',
      suggestions: ['150'],
    });
    expect((await client.call('end_session', { session })).structuredContent).toEqual({ session, t_ms: 150 });
    const ended = await client.call('step_session', { session, duration_ms: 50 });
    expect(ended).toMatchObject({ isError: true, structuredContent: { code: 'SESSION_ENDED' } });
    // A later test waits until the service has no session.
    await fetch(`${service.url}/api/v2/sessions/${name}`, { method: 'DELETE' });
  });

  it('says that the service cut a table of a step', async () => {
    const { structuredContent } = await client.call('open_session', {
      inputs: { all: { node_set: '@all', rate_hz: 200 } },
      reports: { spikes: { node_set: '@all', type: 'spikes' } },
    });
    const { session } = structuredContent;
    const { content } = await client.call('step_session', { session, duration_ms: 20 });
    expect(content[0]!.text).toMatch(
      /… and 9960 more rows\n {2}The service cut this table after 10000 rows. Shorter steps have all of them\.\n/,
    );
    await client.call('end_session', { session });
  });

  it('takes two steps of a session one after the other', async () => {
    const { structuredContent } = await client.call('open_session', {
      inputs: LOOM.inputs,
      reports: LOOM.reports,
    });
    const step = { session: structuredContent['session'], duration_ms: 20 };
    const both = await Promise.all([client.call('step_session', step), client.call('step_session', step)]);
    expect(both.map((each) => each.structuredContent['t_ms'])).toEqual([20, 40]);
    await client.call('end_session', { session: step.session });
  });

  it('ends a session after the step that is under way', async () => {
    const { structuredContent } = await client.call('open_session', { inputs: LOOM.inputs });
    const { session } = structuredContent;
    const both = await Promise.all([
      client.call('step_session', { session, duration_ms: 500 }),
      client.call('end_session', { session }),
    ]);
    expect(both.map((each) => each.structuredContent['t_ms'])).toEqual([500, 500]);
  });

  it('leaves out a step that is cancelled while it waits for another', async () => {
    const { structuredContent } = await client.call('open_session', { inputs: LOOM.inputs });
    const session = structuredContent['session'];
    const begin = (duration_ms: number) =>
      client.begin('tools/call', { name: 'step_session', arguments: { session, duration_ms } });
    const first = begin(1000);
    client.notify('notifications/cancelled', { requestId: begin(500) });
    const last = await client.call('step_session', { session, duration_ms: 20 });
    expect(client.answerTo(first)!.result!['structuredContent']).toMatchObject({ t_ms: 1000 });
    expect(last.structuredContent['t_ms']).toBe(1020);
    await client.call('end_session', { session });
  });

  it('refuses in the words of the service', async () => {
    const refused = await client.call('run_experiment', UNKNOWN);
    const body = (await asked('/api/v2/experiments', UNKNOWN)) as { error: string; suggestions: string[] };
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toEqual(body);
    expect(body).toMatchObject({ code: 'UNKNOWN_NEURONS', path: '/inputs/LC4/node_set' });
    expect(body.suggestions).toContain('LC4');
    expect(refused.content).toEqual([
      {
        type: 'text',
        text: `${body.error}\ncode: UNKNOWN_NEURONS\npath: /inputs/LC4/node_set\nsuggestions: ${body.suggestions.join(', ')}`,
      },
    ]);
    const codes: unknown[] = [];
    for (const [name, args] of [
      ['find_neurons', { tipe: 'LC4' }],
      ['find_neurons', { limit: 'many' }],
      ['list_connections', { source: 'LC4', target: 'DNp011' }],
      ['list_connections', { format: 'csv' }],
      ['describe_model', { of: 'a mouse' }],
      ['run_stimulus', { stimulus: 'salt' }],
      ['plan_experiment', { trials: 0 }],
      ['open_session', { ...LOOM, trials: 2 }],
      ['step_session', { duration_ms: 20 }],
      ['end_session', { session: 'constructor' }],
    ] as const) {
      const { isError, structuredContent, content } = await client.call(name, args);
      const { code, error } = structuredContent as { code: string; error: string };
      expect([isError, content[0]!.text!.startsWith(error), error.length > 20]).toEqual([true, true, true]);
      codes.push(code);
    }
    const invalid = 'INVALID_PARAMETER';
    expect(codes).toEqual([
      ...[invalid, invalid, 'UNKNOWN_NEURONS', invalid, invalid],
      ...[invalid, invalid, invalid, invalid, 'SESSION_ENDED'],
    ]);
  });

  it('answers mistakes in the protocol, and goes on', async () => {
    client.write('no JSON\n{"jsonrpc":"2.0"}\n\n');
    const unknown = await client.request('tools/call', { name: 'toString', arguments: {} });
    expect(unknown.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('run_experiment') as string,
    });
    expect((await client.request('tools/call', { arguments: {} })).error).toBeDefined();
    expect((await client.request('prompts/list')).error).toMatchObject({ code: -32601 });
    expect(
      (await client.request('tools/call', { name: 'find_neurons', arguments: 'LC4' })).error,
    ).toBeDefined();
    expect((await client.request('ping')).result).toEqual({});
  });

  it('refuses arguments that no request can hold', async () => {
    // As text, because JSON.stringify refuses it here, too.
    const levels = 20_000;
    const selector = `${'{"except":'.repeat(levels)}"LC4"${'}'.repeat(levels)}`;
    const params = `{"name":"plan_experiment","arguments":{"silence":[${selector}]}}`;
    const id = 1_000_000;
    client.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}\n`);
    await until(() => client.answerTo(id) !== undefined);
    const { structuredContent } = client.answerTo(id)!.result!;
    expect(structuredContent).toMatchObject({
      code: 'INVALID_PARAMETER',
      error: 'The arguments are nested too deeply.',
    });
  });

  it('shortens what no agent reads, and says so', async () => {
    const all = {
      ...LOOM,
      duration_ms: 20,
      trials: 1,
      reports: { all: { node_set: '@all', group_by: ['type'] } },
    };
    const { structuredContent, content } = await client.call('run_experiment', all);
    expect(JSON.stringify(structuredContent).length).toBeLessThan(50_100);
    const leftOut = structuredContent['left_out'] as Readonly<Record<string, number>>;
    expect(leftOut['/conditions/*/reports/all']).toBeGreaterThan(1000);
    expect(content[0]!.text).toContain('Left out of the structured content: {');
    const { structuredContent: named } = await client.call('run_experiment', MANY_NAMES);
    expect(JSON.stringify(named).length).toBeLessThan(50_100);
    expect(named['left_out']).toMatchObject({ '/conditions': 4 });
  });

  it('reports the progress of an experiment, and stops if it is cancelled', async () => {
    const _meta = { progressToken: 'mine' };
    const id = client.begin('tools/call', { name: 'run_experiment', arguments: ENDLESS, _meta });
    const reported = () => client.messages.filter(({ method }) => method === 'notifications/progress');
    await until(() => reported().length > 2);
    await until(() => isComputing(place, client));
    client.notify('notifications/cancelled', { requestId: id, reason: 'enough' });
    await client.request('ping');
    const before = reported();
    await until(async () => !(await isComputing(place, client)));
    expect(reported()).toEqual(before);
    expect(client.answerTo(id)).toBeUndefined();
    expect(before.every(({ params }) => params!['progressToken'] === 'mine')).toBe(true);
    const done = before.map(({ params }) => params!['progress'] as number);
    expect(done.every((each, at) => each > (done[at - 1] ?? 0))).toBe(true);
    const { total } = before.at(-1)!.params as { total?: number };
    expect([undefined, 40_000]).toContain(total);
  });

  it('writes only the protocol to standard output', () => {
    const isProtocol = (message: McpMessage) =>
      message.jsonrpc === '2.0' && (message.id !== undefined || message.method === 'notifications/progress');
    expect(client.messages.filter((message) => !isProtocol(message))).toEqual([]);
  });
});

it('drops the longest members of content that is long without its lists', () => {
  const experiment = Object.fromEntries(names(64).map((name) => [name, 'x'.repeat(1000)]));
  const conditions = Array.from({ length: 5 }, () => ({ values: [1, 2] }));
  expect(fitted({ id: 'x', experiment, conditions })).toEqual({
    content: { id: 'x', conditions: [{ values: [1] }] },
    leftOut: { '/experiment': 64, '/conditions': 4, '/conditions/*/values': 1 },
  });
});

/** True if the brain of a place computes: a service says so, and of a process the kernel. */
async function isComputing(place: Place, { pid }: McpClient): Promise<boolean> {
  if (place === 'a service') return (await service.metric('nes_experiments_running')) !== 0;
  const ticks = () => {
    const [, after] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    return Number(after!.split(' ')[11]);
  };
  const before = ticks();
  // A core has a hundred ticks in this time. Others may have most of them, and an idle process takes none.
  await new Promise((next) => setTimeout(next, 1000));
  return ticks() - before > 1;
}

it('forgets a session that the service has lost, and says how to go on', async () => {
  const client = clients['a service'];
  for (const [name, more] of [
    ['step_session', { duration_ms: 20 }],
    ['end_session', {}],
  ] as const) {
    const { structuredContent } = await client.call('open_session', { inputs: LOOM.inputs });
    const session = structuredContent['session'] as string;
    await fetch(`${service.url}/api/v2/sessions/${session}`, { method: 'DELETE' });
    const lost = await client.call(name, { session, ...more });
    expect(lost.structuredContent).toMatchObject({
      code: 'SESSION_ENDED',
      error: expect.stringContaining(
        'Call open_session with the same document and repeat the steps',
      ) as string,
    });
  }
  const wrong = await client.call('step_session', { session: 'x', duration_ms: 20 });
  expect(wrong.structuredContent['error']).toBe('There is no session "x" here; none is open.');
});

it('gives the same texts, content and pictures in both places', async () => {
  for (const [name, args] of [
    ['describe_model', {}],
    ['find_neurons', { super_class: 'descending' }],
    ['list_connections', { source: 'LC4', group_by: 'neuron' }],
    ['plan_experiment', SPIKES],
    ['run_experiment', SWEEP],
    ['run_experiment', SPIKES],
    ['run_experiment', UNKNOWN],
    ['run_stimulus', { stimulus: 'groom', seed: 3 }],
  ] as const) {
    const [own, remote] = await Promise.all(PLACES.map((place) => clients[place].call(name, args)));
    expect(own).toEqual(remote);
  }
});

describe('the end of the connection', () => {
  it.each(PLACES)('ends %s, with its sessions and experiments, and exits with 0', async (place) => {
    for (const end of [
      (client: McpClient) => client.close(),
      (client: McpClient) => client.kill('SIGTERM'),
    ]) {
      const args = place === 'a service' ? ['--url', service.url] : ['--connectome', connectome];
      const client = new McpClient(args);
      await client.initialize();
      await client.call('open_session', { inputs: LOOM.inputs });
      const before = await service.metric('nes_sessions');
      client.begin('tools/call', { name: 'run_experiment', arguments: ENDLESS });
      client.begin('tools/call', { name: 'open_session', arguments: { inputs: LOOM.inputs } });
      await until(() => isComputing(place, client));
      expect([await end(client), client.stderr]).toEqual([[0, null], '']);
      if (place === 'a service') {
        expect(before).toBeGreaterThan(0);
        await until(async () => (await service.metric('nes_sessions')) === 0);
        await until(async () => (await service.metric('nes_experiments_running')) === 0);
      }
    }
  });

  it('says why it cannot begin, on standard error', async () => {
    const damaged = join(mkdtempSync(join(tmpdir(), 'mcp-')), 'damaged.connectome');
    writeFileSync(damaged, readFileSync(connectome).subarray(0, 1_000_000));
    const faults = [
      [
        ['--connectome', 'none.connectome'],
        /^There is no connectome file none\.connectome\. npm run up .+\n$/,
        1,
      ],
      [['--connectome', damaged], /^This connectome file cannot be used: .+\n$/, 1],
      [['--url', 'localhost'], /--url should be an http or https address.+\n$/, 2],
      [['--url', 'http://localhost:1', '--workers', '1'], /--url cannot be combined.+\n$/, 2],
    ] as const;
    for (const [args, message, code] of faults) {
      const client = new McpClient(args);
      expect(await client.ended).toEqual([code, null]);
      expect([client.lines, client.stderr]).toEqual([[], expect.stringMatching(message)]);
    }
  });

  it('says that a message was too large, and exits with 1', async () => {
    const client = new McpClient(['--url', 'http://127.0.0.1:1']);
    await client.initialize();
    client.write('x'.repeat(10_100_000));
    expect([await client.ended, client.stderr]).toEqual([
      [1, null],
      expect.stringMatching(/\nA message had more than 10 MB, so the connection was closed\.\n$/),
    ]);
  });

  it('outlives its service', async () => {
    const client = new McpClient(['--url', 'http://127.0.0.1:1']);
    await client.initialize();
    const { isError, structuredContent } = await client.call('describe_model');
    expect([isError, structuredContent]).toEqual([
      true,
      {
        error: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 does not answer: .+\.$/) as string,
        code: 'SERVICE_UNREACHABLE',
      },
    ]);
    expect(await client.close()).toEqual([0, null]);
  });
});

describe('docs/guide/agents.md', () => {
  const page = readFileSync('docs/guide/agents.md', 'utf8');

  it.each(['mcpServers', 'servers'])('has settings that start it: %s', async (member) => {
    const settings = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(
      ([, json]) => JSON.parse(json!.replaceAll('/home/me/fly', process.cwd())) as Settings,
    );
    const { command, args } = settings.find((each) => member in each)![member]!['fly']!;
    const client = new Client({ name: 'test', version: '1' });
    const faults: Error[] = [];
    client.onerror = (error) => faults.push(error);
    const env = { PATH: process.env['PATH']!, CONNECTOME_FILE: connectome };
    await client.connect(new StdioClientTransport({ command, args, env }));
    expect((await client.listTools()).tools).toHaveLength(9);
    await client.close();
    expect(faults).toEqual([]);
  });

  it('has a transcript with the numbers of the default brain', async () => {
    const calls = [...page.matchAll(/^```\n(\w+) (\{[^]*?\})\n\n([^]*?)^```$/gm)];
    expect(calls.map(([, name]) => name)).toEqual([
      'find_neurons',
      'list_connections',
      'plan_experiment',
      'run_experiment',
    ]);
    let args: object = {};
    for (const [, name, json, printed] of calls) {
      if (json !== '{…}') args = JSON.parse(json!) as object;
      const { content } = await clients['its own brain'].call(name!, args);
      const lines = printed!.split('\n').filter((line) => !line.endsWith('…'));
      expect(lines.filter((line) => !content[0]!.text!.split('\n').includes(line))).toEqual([]);
    }
  });
});

it('serves the client of the SDK', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_SERVER],
    env: { CONNECTOME_FILE: connectome },
  });
  await client.connect(transport);
  try {
    expect(client.getInstructions()).toContain('describe_model');
    expect((await client.listTools()).tools).toHaveLength(9);
    const progress: number[] = [];
    const stop = new AbortController();
    const call = client.callTool({ name: 'run_experiment', arguments: ENDLESS }, undefined, {
      signal: stop.signal,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress: done }) => {
        progress.push(done);
        if (progress.length === 3) stop.abort('enough');
      },
    });
    await expect(call).rejects.toThrow('enough');
    expect(progress).toHaveLength(3);
    const result = (await client.callTool({
      name: 'run_experiment',
      arguments: LOOM,
    })) as unknown as CallResult;
    expect(result.structuredContent).toEqual(await asked('/api/v2/experiments', LOOM));
    await expect(client.callTool({ name: 'none' })).rejects.toThrow('There is no tool "none"');
  } finally {
    await client.close();
  }
});
