/** Clients that break off, or that leave HTTP: their bytes must neither end nor delay anything. */
import { largestAsset } from '../support/largest-asset.js';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exchange } from '../support/raw-http.js';
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

  /** Runs counted for the address of these clients so far. */
  async function counted(): Promise<number> {
    const answer = await fetch(`${service.url}/api/v1/run?view=drive`, { method: 'POST' });
    return LIMIT - Number(answer.headers.get('ratelimit-remaining'));
  }

  it('are counted under their address and no other', async () => {
    for (let i = 0; i < RESETS; i++) await sendAndReset();
    // The last of them may be read after the request that asks for the count.
    await until(async () => {
      const runs = await counted();
      // A line of the log follows the answer.
      await new Promise((next) => setTimeout(next, 200));
      return service.log().filter(({ path }) => path === '/api/v1/run').length === runs;
    });
    expect(clients()).toEqual(['127.0.0.1']);
    observed('clients that reset right after sending', `${RESETS} of them; all counted under their address`);
  });

  it('are not heard if the reset came before the service had accepted the connection', async () => {
    const before = await counted();
    service.child.kill('SIGSTOP');
    for (let i = 0; i < RESETS; i++) await sendAndReset();
    await new Promise((next) => setTimeout(next, 100));
    service.child.kill('SIGCONT');
    expect(await counted()).toBe(before + 1);
    expect(clients()).toEqual(['127.0.0.1']);
  });
});

describe('connections that leave HTTP', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sockets-'));
  const hold = join(dir, 'hold');
  let service: ServiceProcess;
  const clients: Socket[] = [];

  beforeAll(async () => {
    service = await startProcess({ CACHE_BYTES: '0', RATE_LIMIT: '0' }, { FAULT_HOLD_RUNS: hold });
    await service.untilReady();
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    rmSync(hold, { force: true });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(dir, { recursive: true });
  });

  const CONNECT = 'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n';
  const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  const POST = 'POST /api/v1/run?view=drive HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';

  /** Sockets that the process holds, those that the system no longer knows included. */
  const sockets = () =>
    readdirSync(`/proc/${service.child.pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${service.child.pid}/fd/${fd}`).startsWith('socket:');
      } catch {
        return false;
      }
    }).length;

  async function send(bytes: string): Promise<Socket> {
    const socket = await open(service.port);
    clients.push(socket);
    await new Promise((sent) => socket.write(bytes, sent));
    return socket;
  }

  it.each([
    ['CONNECT', CONNECT],
    ['CONNECT with bytes after it', CONNECT + 'x'.repeat(5_000)],
    ['CONNECT after an answered request', GET + CONNECT],
    ['CONNECT after a run that is not answered yet', POST + CONNECT],
    ['CONNECT after many such runs', POST.repeat(20) + CONNECT],
    ['runs that wait for each other', POST.repeat(20)],
    ['text that is no HTTP', 'NONSENSE\r\n\r\n'],
    ['text that is no HTTP after a run', `${POST}NONSENSE\r\n\r\n`],
  ])('%s and a reset: the service goes on and keeps no descriptor', async (_, bytes) => {
    const before = sockets();
    writeFileSync(hold, '');
    for (let i = 0; i < RESETS; i++) {
      const socket = await send(bytes);
      // At once, and a little later, when it is about to be answered or was.
      if (i % 2 === 1) await new Promise((next) => setTimeout(next, 5));
      socket.resetAndDestroy();
    }
    await until(() => sockets() <= before);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  });

  it('are ended, whatever the client does', async () => {
    const before = sockets();
    const large = `GET ${largestAsset()} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(30);
    const openedMs = performance.now();
    for (const bytes of [
      CONNECT,
      `${GET}${CONNECT}${GET}`,
      'NONSENSE\r\n\r\n',
      large + CONNECT,
      `${large}X\r\n\r\n`,
    ]) {
      // One that waits, one that takes nothing, one that never stops sending.
      await send(bytes);
      (await send(bytes)).pause();
      const endless = await send(bytes);
      const timer = setInterval(() => endless.write('x'.repeat(10_000)), 20);
      endless.on('close', () => clearInterval(timer));
    }
    await until(() => sockets() <= before);
    const goneMs = performance.now() - openedMs;
    observed(
      'CONNECT and other answers outside HTTP',
      `gone ${Math.round(goneMs)} ms later, whatever the client did`,
    );
  });

  it('are answered once, after earlier requests, and later ones are not', async () => {
    const answers = await exchange(service.port, [GET + CONNECT + GET], { endAfter: 2 });
    expect(answers.map(({ status }) => status)).toEqual([200, 405]);
  });

  // Sockets of the tests above must not delay the end either.
  it('count as no open request and do not hold up the end', async () => {
    for (let i = 0; i < 10; i++) await send(CONNECT);
    expect(await service.stop()).toBe(0);
    expect(service.log().filter(({ msg }) => /Not everything was finished/.test(String(msg)))).toEqual([]);
  });
});

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket;
}
