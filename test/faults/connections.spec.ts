import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { UNANSWERED_REQUESTS_LIMIT } from '../../src/service/limits/limits.js';
import { sendRun } from '../support/load.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { extent, IS_FULL, observed, percentile } from './extent.js';

const IDLE_CONNECTIONS = extent({ short: 500, full: 10_000 });
const SLOW_CLIENTS = extent({ short: 20, full: 100 });
const RUNS = extent({ short: 10, full: 100 });
/** In full the 30 seconds that a request has are over before the last byte of the head is out. */
const BYTE_EVERY_MS = extent({ short: 5, full: 100 });
const SLOW_HEAD = [
  'POST /api/v1/run HTTP/1.1',
  'Host: x',
  `X-Filler: ${'x'.repeat(210)}`,
  'Content-Type: application/json',
  'Content-Length: 8000',
  '',
  '',
].join('\r\n');
const OPENED_AT_ONCE = 250;
const MAX_MEASUREMENTS = extent({ short: 50, full: 5 });
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
    const [withMs, withBytes] = [await latenciesAsBefore(beforeMs), await memory()];
    expect((withBytes - beforeBytes) / IDLE_CONNECTIONS).toBeLessThan(50_000);
    observed(
      `${IDLE_CONNECTIONS} idle connections`,
      `a run took ${median(beforeMs)} ms before and ${median(withMs)} ms with them (median of ${RUNS}); ` +
        `${Math.round((withBytes - beforeBytes) / MB)} MB more`,
    );
  });

  it(`${SLOW_CLIENTS} clients that send one byte at a time: runs are answered as before`, async () => {
    const beforeMs = await latencies();
    const startedMs = performance.now();
    const clients = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, async () => {
        const socket = await open();
        const client = { sentBytes: 0, answer: '', isCutOff: false };
        socket.on('data', (bytes) => (client.answer += bytes.toString('latin1')));
        const timer = setInterval(() => {
          if (socket.writable) socket.write(SLOW_HEAD.charAt(client.sentBytes++) || ' ');
        }, BYTE_EVERY_MS);
        socket.on('close', () => {
          clearInterval(timer);
          client.isCutOff = true;
        });
        return client;
      }),
    );
    await until(() => clients.every(({ sentBytes }) => sentBytes > SLOW_HEAD.length / 2));
    const withMs = await latenciesAsBefore(beforeMs);
    expect(clients.some(({ isCutOff }) => isCutOff)).toBe(false);
    if (IS_FULL) {
      await until(() => clients.every(({ isCutOff }) => isCutOff));
      expect(new Set(clients.map(({ answer }) => answer.split('\r\n', 1)[0]))).toEqual(
        new Set(['HTTP/1.1 408 Request Timeout']),
      );
    }
    observed(
      `${SLOW_CLIENTS} clients that send a byte every ${BYTE_EVERY_MS} ms`,
      `a run took ${median(beforeMs)} ms before and ${median(withMs)} ms with them (median of ${RUNS}), half of the ` +
        `head sent; all cut off with 408 within ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
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
    const [withMs, withBytes] = [await latenciesAsBefore(beforeMs), await memory()];
    expect((withBytes - beforeBytes) / SLOW_CLIENTS).toBeLessThan(2 * MB);
    observed(
      `${SLOW_CLIENTS} clients that ask ${UNANSWERED_REQUESTS_LIMIT} times and never read`,
      `a run took ${median(beforeMs)} ms before and ${median(withMs)} ms with them (median of ${RUNS}); ` +
        `${Math.round((withBytes - beforeBytes) / MB)} MB more`,
    );
  });

  it('clients whose bodies break while their answers wait for a turn: each has one answer, and the process lives', async () => {
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(
        Array.from({ length: 120 }, async (_, at) => {
          const socket = await open();
          // A compressed description is one piece, another has several.
          const accepted = at % 2 === 0 ? 'gzip' : 'identity';
          const head = `GET /api/v2/openapi HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${accepted}\r\n`;
          let answer = '';
          socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
          socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`);
          if (!socket.closed) await once(socket, 'close');
          return answer;
        }),
      );
      for (const answer of answers) {
        expect(answer).toMatch(/^HTTP\/1\.1 (200 OK|400 Bad Request)\r\n/);
        expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
        // The error is not described by the headers of the answer that it replaces.
        if (answer.startsWith('HTTP/1.1 400')) expect(answer).not.toMatch(/^(content-encoding|etag):/im);
      }
    }
    await latencies();
    expect(service.child.exitCode).toBeNull();
  });

  async function open(): Promise<Socket> {
    const socket = connect(service.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  /** Latencies of runs one after the other; each must be answered. */
  async function latencies(): Promise<number[]> {
    const all: number[] = [];
    for (let seed = 0; seed < RUNS; seed++) {
      const { status, ms } = await sendRun(service.url, { seed });
      expect(status).toBe(200);
      all.push(ms);
    }
    return all;
  }

  /** A machine that has something else to do is slow for a moment; a service that is held up stays slow. */
  async function latenciesAsBefore(beforeMs: readonly number[]): Promise<number[]> {
    // The ratio is about 1 on an idle machine.
    const mostMs = 5 * percentile(beforeMs, 0.5);
    let withMs = await latencies();
    for (let more = 1; more < MAX_MEASUREMENTS && percentile(withMs, 0.5) >= mostMs; more++) {
      withMs = await latencies();
    }
    expect(percentile(withMs, 0.5)).toBeLessThan(mostMs);
    return withMs;
  }
});

function median(values: readonly number[]): string {
  return percentile(values, 0.5).toFixed(1);
}
