/** Requests of one client that arrive at the same moment, and requests of others beside them, over real HTTP. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startReadyService, type Service } from '../support/service.js';

const BUSY = '192.0.2.66';
const REQUESTS = 400;
/** Two turns of the event loop. */
const MAX_BEFORE_OTHERS = 16;

let service: Service;
beforeAll(async () => {
  service = await startReadyService({ TRUST_PROXY: 'loopback' });
});
afterAll(() => service.stop());

async function opened(): Promise<Socket> {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  // Node accepts few connections in a turn of its event loop.
  await answered(socket, BUSY, 'GET /livez');
  return socket;
}

/** Sends one request; resolves with the first bytes of its answer. */
async function answered(socket: Socket, client: string, request: string): Promise<string> {
  socket.write(`${request} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\nContent-Length: 0\r\n\r\n`);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return String(bytes);
}

it.each(['GET /livez', 'GET /nowhere', 'POST /api/v2/sessions/unknown/steps'])(
  'answers another client before most of 400 earlier requests: %s',
  async (request) => {
    const [busy, other] = [await Promise.all(Array.from({ length: REQUESTS }, opened)), await opened()];
    let before = 0;
    // The service shares this thread, so it reads none of them before all are sent.
    const all = busy.map((socket) => answered(socket, BUSY, request).then(() => before++));
    expect(await answered(other, '203.0.113.1', 'GET /livez')).toContain('HTTP/1.1 200');
    expect(before).toBeLessThanOrEqual(MAX_BEFORE_OTHERS);
    await Promise.all(all);
    expect(before).toBe(REQUESTS);
    for (const socket of [...busy, other]) socket.destroy();
  },
  60_000,
);

it('forgets requests whose connections close while they wait, and answers the next', async () => {
  const busy = await Promise.all(Array.from({ length: REQUESTS }, opened));
  for (const socket of busy) void answered(socket, BUSY, 'GET /livez').catch(() => undefined);
  for (const socket of busy.slice(0, -1)) socket.destroy();
  const next = await opened();
  expect(await answered(next, BUSY, 'GET /livez')).toContain('HTTP/1.1 200');
  for (const socket of [next, ...busy]) socket.destroy();
});
