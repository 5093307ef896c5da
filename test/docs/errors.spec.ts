/** docs/errors.md says what src/errors.ts says, in both directions, and its messages are those of the service. */
import { readFileSync } from 'node:fs';
import { ERRORS, describeValue, type ErrorCode } from '../../src/errors.js';
import { ModelHealth } from '../../src/health/model-health.js';
import { EXAMPLE_MESSAGES, PUBLIC_ERROR_CODES, type PublicErrorCode } from '../../src/http/error-examples.js';
import { internalError } from '../../src/http/error-of.js';
import { ExperimentQueue } from '../../src/pool/experiment-queue.js';
import type { V1RunTask } from '../../src/pool/task.js';
import { connectomeFile } from '../support/connectomes.js';
import { exchange } from '../support/raw-http.js';
import { startReadyService, startService, untilState, type Service } from '../support/service.js';

const document = readFileSync('docs/errors.md', 'utf8');
const CODES = Object.keys(ERRORS) as ErrorCode[];

interface Section {
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
  readonly message: string;
  readonly advice: string;
}

const sections: Section[] = [...document.matchAll(/^## (\d{3})\n([^]*?)(?=^## )/gm)].flatMap(
  ([, status, text]) =>
    [...text!.matchAll(/^### `([A-Z_]+)`\n\n(.+)\n\n> (.+)\n\n([^]*?)\n*(?=^### |(?![^]))/gm)].map(
      ([, code, meaning, message, advice]) => ({
        code: code!,
        status: Number(status),
        meaning: meaning!,
        message: message!,
        advice: advice!,
      }),
    ),
);
const rows = [...document.matchAll(/^\| `([A-Z_]+)` +\| (\d) +\| (.+?) +\|$/gm)].map(
  ([, code, exitCode, meaning]) => [code, Number(exitCode), meaning],
);

describe('docs/errors.md', () => {
  it('has a section for each failure that a client can meet, by status, and says what to do', () => {
    const documented = sections.map(({ code, status, meaning }) => [code, status, meaning]);
    const defined = PUBLIC_ERROR_CODES.map((code) => [code, ERRORS[code].status, ERRORS[code].meaning]);
    expect(sorted(documented)).toEqual(sorted(defined));
    const statuses = sections.map(({ status }) => status);
    expect(statuses).toEqual([...statuses].sort());
    for (const { advice } of sections) expect(advice).toMatch(/\w.*\.$/s);
    expect([...document.matchAll(/^### /gm)]).toHaveLength(sections.length);
  });

  it('has a row for each of the others', () => {
    const others = CODES.filter((code) => !(PUBLIC_ERROR_CODES as string[]).includes(code));
    expect(rows).toEqual(others.map((code) => [code, ERRORS[code].exitCode, ERRORS[code].meaning]));
  });

  it('shows the messages of the description', () => {
    expect(Object.fromEntries(sections.map(({ code, message }) => [code, message]))).toEqual(
      EXAMPLE_MESSAGES,
    );
  });

  it('tells of every status whether to try again', () => {
    const [, table] = /(\| status [^]*?)\n\n/.exec(document)!;
    const told = [...table!.matchAll(/\b\d{3}\b/g)].map(([status]) => Number(status));
    expect(told.sort()).toEqual([...new Set(sections.map(({ status }) => status))].sort());
  });
});

function sorted(entries: readonly (readonly unknown[])[]): string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort();
}

describe('the messages are what is said today', () => {
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
    other.app.get(ModelHealth).drain();
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
    const source = ['src/run/run.service.ts', 'src/pool/pool-worker.ts']
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
    ['what turns the direction of text', 'a\u202eb', '"a\\u202eb"'],
    ['controls that JSON leaves alone', '\u007f\u009b', '"\\u007f\\u009b"'],
    ['separators of lines', '\u2028\u2029', '"\\u2028\\u2029"'],
    ['what is invisible and needs two units', '\u{e0041}', '"\\udb40\\udc41"'],
    ['nothing', undefined, 'undefined'],
    ['a number that JSON does not have', 2n ** 70n, '1180591620717411303424'],
  ])('%s', (_, value, text) => {
    expect(describeValue(value)).toBe(text);
    expect(typeof value === 'string' && value.length < 10 ? JSON.parse(text) : value).toBe(value);
  });
});
