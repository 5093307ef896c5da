/** docs/errors.md and src/engine/errors.ts agree in both directions, and its messages are those of the service. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ERRORS, describeValue } from '../../src/engine/errors.js';
import { ModelHealth } from '../../src/service/health/model-health.js';
import {
  EXAMPLE_MESSAGES,
  PUBLIC_ERROR_CODES,
  type PublicErrorCode,
} from '../../src/service/http/error-examples.js';
import { internalError } from '../../src/service/http/error-of.js';
import { ExperimentQueue } from '../../src/workers/queue/experiment-queue.js';
import type { V1RunTask } from '../../src/workers/pool/task.js';
import { connectomeFile } from '../support/connectomes.js';
import { exchange } from '../support/raw-http.js';
import { startReadyService, startService, untilState, type Service } from '../support/service.js';

const document = readFileSync('docs/errors.md', 'utf8');

describe('docs/errors.md', () => {
  it('is the output of npm run errors: each error with its meaning, its message and its remedy', () => {
    const check = () =>
      execFileSync(process.execPath, ['scripts/errors-doc.mjs', '--check'], { stdio: 'pipe' });
    expect(check).not.toThrow();
  });

  it('tells of every status whether to try again', () => {
    const [, table] = /(\| status [^]*?)\n\n/.exec(document)!;
    const told = [...table!.matchAll(/\b\d{3}\b/g)].map(([status]) => Number(status));
    const statuses = PUBLIC_ERROR_CODES.map((code) => ERRORS[code].status as number);
    expect(told.sort()).toEqual([...new Set(statuses)].sort());
  });
});

describe('the messages are those of today', () => {
  let service: Service;
  let shipped: Service | undefined;
  beforeAll(async () => {
    service = await startReadyService({ RATE_LIMIT: '30' }, { requestTimeoutMs: 1_500 });
  });
  afterAll(() => Promise.all([service.stop(), shipped?.stop()]));

  const head = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
  const run = head('POST', '/api/v1/run');
  const withBody = (body: string, type = 'application/json') =>
    `${run}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  it.each<[PublicErrorCode, string]>([
    ['INVALID_PARAMETER', withBody('{"duration_ms":75}')],
    ['MALFORMED_REQUEST', withBody('{"stimulus": loom}')],
    ['NOT_FOUND', `${head('POST', '/api/v2/run')}\r\n`],
    ['METHOD_NOT_ALLOWED', `${head('GET', '/api/v1/run')}\r\n`],
    ['BODY_TOO_LARGE', withBody('x'.repeat(9_000))],
    ['REQUEST_TIMEOUT', `${run}Content-Length: 10\r\n\r\n{`],
    ['UNSUPPORTED_MEDIA_TYPE', withBody('{}', 'text/plain')],
    ['EXPECTATION_FAILED', `${run}Expect: 202-accepted\r\n\r\n`],
    ['HEADERS_TOO_LARGE', `${run}X-Y: ${'y'.repeat(20_000)}\r\n\r\n`],
  ])('%s', async (code, bytes) => {
    const [answer] = await exchange(service.port, [bytes]);
    expect(answer!.status).toBe(ERRORS[code].status);
    expect(JSON.parse(answer!.body)).toEqual({ error: EXAMPLE_MESSAGES[code], code });
  });

  it.each<[PublicErrorCode, unknown, Record<string, string>]>([
    ['UNKNOWN_NEURONS', { inputs: { loom: { node_set: 'LC44x' } } }, {}],
    ['EMPTY_NODE_SET', { silence: [{ type: 'DNp01', side: 'center' }] }, {}],
    ['NO_CONNECTION', { connection_overrides: { direct: { source: 'LC4', target: 'MDN', weight: 0 } } }, {}],
    ['NO_SIGN_PROBABILITIES', { wiring: { signs: 'sampled' } }, {}],
    ['TOO_EXPENSIVE', { duration_ms: 5000, trials: 100, sweep: [{ set: 'seed', values: [1, 2, 3] }] }, {}],
    ['NOT_ACCEPTABLE', {}, { accept: 'image/png' }],
  ])(
    '%s, with the brain that ships',
    async (code, document, headers) => {
      shipped ??= await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
      const answer = await shipped.post(document, '/api/v2/experiments', {
        'content-type': 'application/json',
        ...headers,
      });
      expect(answer.status).toBe(ERRORS[code].status);
      expect(await answer.json()).toMatchObject({ error: EXAMPLE_MESSAGES[code], code });
    },
    120_000,
  );

  it('RATE_LIMITED', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => service.post({}, '/api/v1/run?view=drive')),
    );
    const refused = answers.find(({ status }) => status === 429)!;
    const { error } = await refused.json();
    expect(error.replace(/\d+(?= s\.)/, '60')).toBe(EXAMPLE_MESSAGES.RATE_LIMITED);
  });

  it.each<[PublicErrorCode, Record<string, string>]>([
    ['MODEL_LOADING', {}],
    ['MODEL_FAILED', { CONNECTOME_FILE: 'nowhere.connectome' }],
  ])('%s', async (code, variables) => {
    const other = await startService(variables);
    if (code === 'MODEL_FAILED') await untilState(other, 'failed');
    const { error } = await (await other.get('/api/v1/model')).json();
    await other.stop();
    expect(error).toBe(EXAMPLE_MESSAGES[code]);
  });

  it('DRAINING', async () => {
    const other = await startReadyService();
    other.app.get(ModelHealth).draining = true;
    expect((await (await other.post({})).json()).error).toBe(EXAMPLE_MESSAGES.DRAINING);
    await other.stop();
  });

  it('QUEUE_FULL, INTERNAL', () => {
    const queue = new ExperimentQueue([], { limit: 64, runTimeoutMs: 1 });
    const submit = (owner: number) => queue.submit({} as V1RunTask, `${owner}`);
    for (let owner = 0; owner < 64; owner++) submit(owner);
    expect(() => submit(64)).toThrow(EXAMPLE_MESSAGES.QUEUE_FULL);
    expect(internalError(undefined).message).toBe(EXAMPLE_MESSAGES.INTERNAL);
  });

  it.each<PublicErrorCode>(['DEADLINE_PASSED', 'WORKER_LOST'])('%s, in the code', (code) => {
    const sentence = EXAMPLE_MESSAGES[code].replace('30000', '${RUN_TIMEOUT_MS}');
    const source = ['src/service/api/v1/run.service.ts', 'src/workers/pool/pool-worker.ts']
      .map((file) => readFileSync(file, 'utf8'))
      .join('');
    expect(source).toContain(sentence);
  });
});

describe('describeValue', () => {
  it.each<[string, unknown, string]>([
    ['a string as JSON', 'a"b\n', '"a\\"b\\n"'],
    ['60 characters at most', 'x'.repeat(100), `"${'x'.repeat(59)}…`],
    ['characters whole', '🪰'.repeat(100), `"${'🪰'.repeat(59)}…`],
    ['characters that turn the direction of text', 'a\u202eb', '"a\\u202eb"'],
    ['controls that JSON leaves alone', '\u007f\u009b', '"\\u007f\\u009b"'],
    ['separators of lines', '\u2028\u2029', '"\\u2028\\u2029"'],
    ['an invisible character of two units', '\u{e0041}', '"\\udb40\\udc41"'],
    ['nothing', undefined, 'undefined'],
    ['a number that JSON does not have', 2n ** 70n, '1180591620717411303424'],
  ])('%s', (_, value, text) => {
    expect(describeValue(value)).toBe(text);
    expect(typeof value === 'string' && value.length < 10 ? JSON.parse(text) : value).toBe(value);
  });
});
