/** Documents are planned in one thread: many at once must not keep anybody else from their answer. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelHealth } from '../../src/service/health/model-health.js';
import { startReadyService, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';
import { exchange, type RawResponse } from '../support/raw-http.js';

/** Dear to plan and refused in the end, so the answer is short: 2000 conditions of 16 inputs, and too many rates. */
const DEAR = JSON.stringify({
  inputs: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`i${i}`, { node_set: 'S_sugar' }])),
  trials: 100,
  duration_ms: 1,
  reports: { all: { node_set: '@all', type: 'histogram', group_by: ['neuron'], bin_ms: 1 } },
  sweep: [
    { set: 'seed', from: 0, to: 99, step: 1 },
    { set: 'inputs.i0.rate_hz', from: 1, to: 20, step: 1 },
  ],
});
const CHEAP = '{"duration_ms":1,"reports":{"walk":{"node_set":"C_walk"}}}';
const AT_ONCE = 50;

const posted = (path: string, body: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}` +
  `Content-Length: ${body.length}\r\n\r\n${body}`;
const from = (client: string) => `X-Forwarded-For: ${client}\r\n`;
const document = (body: string, client: string) =>
  posted('/api/v2/experiments?dry_run=true', body, from(client));

let service: Service;
afterEach(() => service.stop());

/** Sends each request on a connection of its own, since a connection serves one after another. */
async function atOnce(requests: readonly string[]): Promise<RawResponse[]> {
  const answers = await Promise.all(requests.map((each) => exchange(service.port, [each], { endAfter: 1 })));
  return answers.flat();
}

const statusesOf = (answers: readonly RawResponse[]) => answers.map(({ status }) => status);

it('answers runs, health checks and documents of others before the last of a hundred documents', async () => {
  service = await startReadyService(
    { TRUST_PROXY: 'loopback', EXPERIMENTS_AT_ONCE: '20' },
    { limits: { experimentsPerClient: 13 } },
  );
  const order: string[] = [];
  const first = async (name: string, answers: Promise<RawResponse[]>) => {
    const statuses = statusesOf(await answers);
    order.push(name);
    return statuses;
  };
  const many = Array.from({ length: AT_ONCE }, () => document(DEAR, '192.0.2.1'));
  const answers = await Promise.all([
    first('many', atOnce(many)),
    first('many', atOnce(many)),
    first('run', atOnce([posted('/api/v1/run', '{"duration_ms":50}')])),
    first('health', atOnce(['GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'])),
    first('other', atOnce([document(CHEAP, '192.0.2.2')])),
  ]);
  expect(answers).toEqual([
    Array<number>(AT_ONCE).fill(422),
    Array<number>(AT_ONCE).fill(422),
    [200],
    [200],
    [200],
  ]);
  expect(order.slice(0, 3).sort()).toEqual(['health', 'other', 'run']);
});

it('lets a bounded number of documents of a client wait, and those of others beside them', async () => {
  service = await startReadyService({
    TRUST_PROXY: 'loopback',
    EXPERIMENTS_AT_ONCE: '2',
  });
  // 8 for each experiment that may be under way, while the first of each client is planned. The last quarter of the 16
  // is for clients that have none there.
  const [first, second, others, [run]] = await Promise.all([
    atOnce([document(DEAR, '192.0.2.1'), ...Array.from({ length: 9 }, () => document(CHEAP, '192.0.2.1'))]),
    sleep(10).then(() =>
      atOnce([document(DEAR, '192.0.2.2'), ...Array.from({ length: 6 }, () => document(CHEAP, '192.0.2.2'))]),
    ),
    sleep(20).then(() => atOnce([3, 4, 5, 6, 7].map((client) => document(DEAR, `192.0.2.${client}`)))),
    sleep(30).then(() => atOnce([posted('/api/v1/run', '{"duration_ms":50}', from('192.0.2.1'))])),
  ]);
  const counted = (answers: readonly RawResponse[]) =>
    Object.fromEntries(
      [200, 422, 503].map((status) => [status, answers.filter((answer) => answer.status === status).length]),
    );
  expect([first, second, others].map(counted)).toEqual([
    { 200: 7, 422: 1, 503: 2 },
    { 200: 3, 422: 1, 503: 3 },
    { 200: 0, 422: 4, 503: 1 },
  ]);
  expect(run!.status).toBe(200);
  const refusalOf = (answers: readonly RawResponse[]) => answers.find(({ status }) => status === 503)!;
  expect(JSON.parse(refusalOf(first).body)).toEqual({
    error: 'The queue is full: 8 documents of this client wait for their turn; try again shortly.',
    code: 'QUEUE_FULL',
  });
  expect(refusalOf(first).headers['retry-after']).toBe('1');
  expect(JSON.parse(refusalOf(second).body)).toMatchObject({
    error: 'The queue is full: 12 documents wait for their turn; try again shortly.',
  });
  expect(JSON.parse(refusalOf(others).body)).toMatchObject({
    error: 'The queue is full: 16 documents wait for their turn; try again shortly.',
  });
  // The queue is empty again.
  expect(statusesOf(await atOnce([document(CHEAP, '192.0.2.1')]))).toEqual([200]);
});

it('plans and computes the documents that wait when a shutdown begins', async () => {
  service = await startReadyService({ TRUST_PROXY: 'loopback' });
  const accepted = jest.spyOn(service.app.get(ModelHealth), 'modelForRuns');
  const experiments = Array.from({ length: 4 }, () => posted('/api/v2/experiments', CHEAP));
  const dear = Array.from({ length: 20 }, () => document(DEAR, '192.0.2.1'));
  const answers = atOnce([...dear, ...experiments]);
  while (accepted.mock.calls.length < 24) await new Promise((resolve) => setTimeout(resolve, 1));
  await service.stop();
  expect(statusesOf(await answers)).toEqual([...Array<number>(20).fill(422), ...Array<number>(4).fill(200)]);
});

it('bounds the documents that are arriving, of one client more than of all', async () => {
  service = await startReadyService({ TRUST_PROXY: 'loopback' });
  const begun = (client: string) => {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    // The largest body, of which nothing but the first byte ever comes.
    socket.write(
      `POST /api/v2/experiments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${from(client)}` +
        'Content-Length: 1048576\r\n\r\n{',
    );
    return socket;
  };
  const sockets = Array.from({ length: 8 }, () => begun('192.0.2.1'));
  const ask = async (client: string) => {
    const [answer] = await exchange(service.port, [document(CHEAP, client)], { endAfter: 1 });
    return answer!;
  };
  let refused = await ask('192.0.2.1');
  // Until the heads of all 8 have been read.
  await until(async () => (refused = await ask('192.0.2.1')).status !== 200);
  expect(refused.status).toBe(503);
  expect(refused.headers).toMatchObject({ 'retry-after': '5' });
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'QUEUE_FULL' });
  expect((await ask('192.0.2.2')).status).toBe(200);
  const [run] = await atOnce([posted('/api/v1/run', '{"duration_ms":50}', from('192.0.2.1'))]);
  expect(run!.status).toBe(200);

  sockets[0]!.destroy();
  await until(async () => (await ask('192.0.2.1')).status === 200);
  for (const socket of sockets) socket.destroy();
});
