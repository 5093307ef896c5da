import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { UNANSWERED_REQUESTS_LIMIT } from '../../src/http/limits.js';
import { sendRun } from '../support/load.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { extent, observed, percentile } from './extent.js';

const IDLE_CONNECTIONS = extent({ short: 500, full: 10_000 });
const SLOW_CLIENTS = extent({ short: 20, full: 100 });
const RUNS = extent({ short: 10, full: 100 });
const OPENED_AT_ONCE = 250;
const MB = 2 ** 20;

describe('clients that take without end', () => {
  let service: ServiceProcess;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    service = await startProcess({ CACHE_BYTES: '0' });
    await service.untilReady();
    await latencies();
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => service.stop());

  const memory = async () => (await service.metric('process_resident_memory_bytes'))!;

  it(`${IDLE_CONNECTIONS} idle connections: runs are answered as before`, async () => {
    const [beforeMs, beforeBytes] = [await latencies(), await memory()];
    while (sockets.length < IDLE_CONNECTIONS) {
      await Promise.all(Array.from({ length: OPENED_AT_ONCE }, () => open()));
    }
    const [withMs, withBytes] = [await latencies(), await memory()];
    expect((withBytes - beforeBytes) / IDLE_CONNECTIONS).toBeLessThan(50_000);
    observed(
      `${IDLE_CONNECTIONS} idle connections`,
      `a run took ${median(beforeMs)} ms before and ${median(withMs)} ms with them (median of ${RUNS}); ` +
        `${Math.round((withBytes - beforeBytes) / MB)} MB more`,
    );
  });

  it(`${SLOW_CLIENTS} clients that send one byte at a time: runs are answered as before`, async () => {
    const beforeMs = await latencies();
    const head = `POST /api/v1/run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
    const timers = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, async () => {
        const socket = await open();
        let at = 0;
        return setInterval(() => socket.writable && socket.write(head.charAt(at++) || ' '), 100);
      }),
    );
    const withMs = await latencies();
    timers.forEach(clearInterval);
    observed(
      `${SLOW_CLIENTS} clients that send a byte every 100 ms`,
      `a run took ${median(beforeMs)} ms before and ${median(withMs)} ms with them (median of ${RUNS})`,
    );
  });

  it(`${SLOW_CLIENTS} clients that never read: runs are answered as before, memory stays bounded`, async () => {
    const [beforeMs, beforeBytes] = [await latencies(), await memory()];
    const request = 'GET /api/v1/openapi HTTP/1.1\r\nHost: x\r\n\r\n';
    for (let i = 0; i < SLOW_CLIENTS; i++) {
      const socket = await open();
      socket.pause();
      // More answers than the buffers of the system hold, and as many as one connection may leave open.
      socket.write(request.repeat(UNANSWERED_REQUESTS_LIMIT));
    }
    const [withMs, withBytes] = [await latencies(), await memory()];
    expect((withBytes - beforeBytes) / SLOW_CLIENTS).toBeLessThan(2 * MB);
    observed(
      `${SLOW_CLIENTS} clients that ask ${UNANSWERED_REQUESTS_LIMIT} times and never read`,
      `a run took ${median(beforeMs)} ms before and ${median(withMs)} ms with them (median of ${RUNS}); ` +
        `${Math.round((withBytes - beforeBytes) / MB)} MB more`,
    );
  });

  async function open(): Promise<Socket> {
    const socket = connect(service.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  /** Of runs one after the other; each must be answered. */
  async function latencies(): Promise<number[]> {
    const all: number[] = [];
    for (let seed = 0; seed < RUNS; seed++) {
      const { status, ms } = await sendRun(service.url, { seed });
      expect(status).toBe(200);
      all.push(ms);
    }
    return all;
  }
});

function median(values: readonly number[]): string {
  return percentile(values, 0.5).toFixed(1);
}
