/** Clients that break off, or that leave HTTP: what they sent must neither end nor hold up anything. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { extent, observed } from './extent.js';

const RESETS = extent({ short: 20, full: 500 });
const LIMIT = 1_000_000;

describe('clients that reset their connection right after sending', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess({ RATE_LIMIT: String(LIMIT), CACHE_BYTES: '0' });
    await service.untilReady();
  });
  afterAll(() => service.stop());

  const RUN = 'POST /api/v1/run?view=drive HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  const clients = () => [
    ...new Set(service.log().flatMap(({ client }) => (client === undefined ? [] : [client]))),
  ];

  async function sendAndReset(): Promise<void> {
    const socket = await open(service.port);
    await new Promise((sent) => socket.write(RUN, sent));
    socket.resetAndDestroy();
  }

  /** What counts for the address of these clients so far. */
  async function counted(): Promise<number> {
    const answer = await fetch(`${service.url}/api/v1/run?view=drive`, { method: 'POST' });
    return LIMIT - Number(answer.headers.get('ratelimit-remaining'));
  }

  it('are counted under their address and no other', async () => {
    for (let i = 0; i < RESETS; i++) await sendAndReset();
    const runs = await counted();
    await until(() => service.log().filter(({ path }) => path === '/api/v1/run').length === runs);
    expect(clients()).toEqual(['127.0.0.1']);
    observed('clients that reset right after sending', `${RESETS} of them; all counted under their address`);
  });

  it('are not heard where the reset came before the service had accepted the connection', async () => {
    const before = await counted();
    service.child.kill('SIGSTOP');
    for (let i = 0; i < RESETS; i++) await sendAndReset();
    await new Promise((next) => setTimeout(next, 100));
    service.child.kill('SIGCONT');
    expect(await counted()).toBe(before + 1);
    expect(clients()).toEqual(['127.0.0.1']);
  });
});

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket;
}
