/** Sharing of the workers by runs, with a real pool whose runs take as long as a test wants. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { checkAnswer } from '../support/contract.js';
import { startProcess, until, type Faults, type ServiceProcess } from '../support/service-process.js';

interface Sent {
  readonly answer: Promise<{
    readonly status: number;
    readonly headers: Headers;
    readonly text: string;
  }>;
  /** Breaks the connection. */
  leave(): void;
}

let service: ServiceProcess;
const directory = mkdtempSync(join(tmpdir(), 'queue-'));
const holdFile = join(directory, 'hold');
afterEach(async () => {
  release();
  await service.stop();
});
afterAll(() => rmSync(directory, { recursive: true }));

async function start(variables: Record<string, string> = {}, faults: Faults = {}): Promise<void> {
  service = await startProcess({ WORKERS: '1', TRUST_PROXY: 'loopback', ...variables }, faults);
  await service.untilReady();
}

/** Runs of the next service begin, and end when they are released. Before it is ready, it tries one of its own. */
async function startHolding(variables: Record<string, string> = {}): Promise<void> {
  await start(variables, { FAULT_HOLD_RUNS: holdFile });
  rmSync(`${holdFile}.begun`, { force: true });
  writeFileSync(holdFile, '');
}

function release(): void {
  rmSync(holdFile, { force: true });
}

/** A run on a connection of its own, so that one client can leave and the others stay. */
function send(body: object, { view = 'drive', client = '203.0.113.1', encoding = 'identity' } = {}): Sent {
  const path = `/api/v1/run?view=${view}`;
  const sent = request(`${service.url}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': client,
      'accept-encoding': encoding,
    },
  });
  const answer = new Promise<Awaited<Sent['answer']>>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const headers = new Headers(response.headers as Record<string, string>);
        const text = (headers.get('content-encoding') === 'gzip' ? gunzipSync(bytes) : bytes).toString();
        const status = response.statusCode!;
        checkAnswer({ method: 'POST', path, status, headers, text });
        resolve({ status, headers, text });
      });
    });
  });
  // A test that leaves does not await the answer, which then fails.
  answer.catch(() => undefined);
  sent.end(JSON.stringify(body));
  return { answer, leave: () => sent.destroy() };
}

const waiting = (runs: number) =>
  until(async () => (await service.metric('nes_queue_runs{state="waiting"}')) === runs);
const running = (runs: number) =>
  until(async () => (await service.metric('nes_queue_runs{state="running"}')) === runs);
const simulated = () => service.metric('nes_simulations_total{backend="cpu"}');

async function outcome({ answer }: Sent): Promise<[number, string]> {
  const { status, headers, text } = await answer;
  return status === 200
    ? [status, headers.get('cache-status')!.replace(/^[^;]*; /, '')]
    : [status, (JSON.parse(text) as { code: string }).code];
}

describe('equal runs', () => {
  it('are simulated once, whoever asks, in whatever view and encoding; later ones come from the cache', async () => {
    await startHolding();
    const first = send({ stimulus: 'loom', seed: 5 }, { view: 'full' });
    await running(1);
    const others = [
      send({ seed: 5, stimulus: 'loom', intensity: 1.0 }, { view: 'full', client: '203.0.113.2' }),
      send({ stimulus: 'loom', seed: 5, duration_ms: 100 }, { view: 'full', encoding: 'gzip' }),
      send({ stimulus: 'loom', seed: 5 }, { view: 'drive', client: '203.0.113.3' }),
    ];
    // Their arrival cannot be observed. The service has nothing else to do, and answers others in the meantime.
    await setTimeout(300);
    await simulated();
    release();
    expect(await outcome(first)).toEqual([200, 'fwd=miss; stored']);
    for (const other of others) expect(await outcome(other)).toEqual([200, 'fwd=miss; collapsed']);
    const later = [
      send({ stimulus: 'loom', seed: 5 }, { view: 'full' }),
      send({ stimulus: 'loom', seed: 5 }, { view: 'drive', encoding: 'gzip' }),
    ];
    for (const each of later) expect(await outcome(each)).toEqual([200, 'hit']);
    expect(await simulated()).toBe(1);

    const texts = await Promise.all(
      [first, ...others, ...later].map(async ({ answer }) => (await answer).text),
    );
    const [full, , , drive] = texts;
    expect(texts).toEqual([full, full, full, drive, full, drive]);

    // Shared and cached answers have the bytes that a service without a cache computes.
    await service.stop();
    await start({ CACHE_BYTES: '0' });
    for (const [view, text] of [
      ['full', full],
      ['drive', drive],
    ] as const) {
      const fresh = send({ stimulus: 'loom', seed: 5 }, { view });
      expect(await outcome(fresh)).toEqual([200, 'fwd=miss']);
      expect((await fresh.answer).text).toBe(text);
    }
  });

  it('that differ in anything are simulated each', async () => {
    await start();
    const runs = [
      {},
      { seed: 43 },
      { intensity: 1.0000000000000002 },
      { duration_ms: 50 },
      { stimulus: 'bitter' },
      { stimulus: 'none' },
    ];
    const answers = await Promise.all(runs.map((run) => send(run).answer));
    expect(new Set(answers.map(({ text }) => (JSON.parse(text) as { id: string }).id)).size).toBe(
      runs.length,
    );
    expect(await simulated()).toBe(runs.length);
  });
});

describe('the cache', () => {
  const LIMIT_BYTES = 60_000;

  it('holds as many bytes as it may and forgets who was not asked for the longest', async () => {
    await start({ CACHE_BYTES: String(LIMIT_BYTES) });
    const full = async (seed: number) => outcome(send({ stimulus: 'loom', seed }, { view: 'full' }));
    for (let seed = 0; seed < 20; seed++) {
      expect(await full(seed)).toEqual([200, 'fwd=miss; stored']);
      expect(await service.metric('nes_cache_bytes')).toBeLessThanOrEqual(LIMIT_BYTES);
      // Asked for in between, so never the oldest.
      expect(await full(0)).toEqual([200, 'hit']);
    }
    const entries = (await service.metric('nes_cache_entries'))!;
    expect(entries).toBeGreaterThan(1);
    expect(entries).toBeLessThan(20);
    expect(await full(19)).toEqual([200, 'hit']);
    expect(await full(1)).toEqual([200, 'fwd=miss; stored']);
  });

  it('does not keep an answer that is larger than the cache', async () => {
    await start({ CACHE_BYTES: '3000' });
    const ask = async (view: string) => outcome(send({ stimulus: 'loom' }, { view }));
    expect(await ask('full')).toEqual([200, 'fwd=miss']);
    expect(await ask('full')).toEqual([200, 'fwd=miss']);
    expect(await service.metric('nes_cache_entries')).toBe(0);
  });
});

describe('the waiting line', () => {
  it('gives one client half of itself at most, and says when it is full for all', async () => {
    await startHolding({ QUEUE_LIMIT: '4', RATE_LIMIT: '9' });
    const run = send({ seed: 0 });
    await running(1);
    const accepted = [send({ seed: 1 }), send({ seed: 2 })];
    await waiting(2);
    const { status, headers, text } = await send({ seed: 3 }).answer;
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(JSON.parse(text)).toEqual({
      error: expect.stringContaining('2 runs of this client are waiting'),
      code: 'QUEUE_FULL',
    });
    // The limit of 9 counts the three runs before this one, which was refused and does not count.
    expect(headers.get('ratelimit-remaining')).toBe('6');
    // Waiting for a run that waits already takes no place.
    const joined = send({ seed: 2 });
    accepted.push(send({ seed: 4 }, { client: '203.0.113.2' }), send({ seed: 5 }, { client: '2001:db8::1' }));
    await waiting(4);
    const full = await send({ seed: 6 }, { client: '203.0.113.3' }).answer;
    expect(JSON.parse(full.text)).toEqual({
      error: expect.stringContaining('The queue is full: 4 runs are waiting'),
      code: 'QUEUE_FULL',
    });
    release();
    for (const each of [run, ...accepted]) expect((await outcome(each))[0]).toBe(200);
    expect(await outcome(joined)).toEqual([200, 'fwd=miss; collapsed']);
    // The places are free again.
    expect(await outcome(send({ seed: 3 }))).toEqual([200, 'fwd=miss; stored']);
  });

  it('takes a run back when the last client that waited for it has gone, and not before', async () => {
    await startHolding();
    const run = send({ seed: 0 });
    await running(1);
    const wanted = [send({ seed: 1 }), send({ seed: 1 }, { client: '203.0.113.2' })];
    const other = send({ seed: 2 });
    await waiting(2);
    wanted[0]!.leave();
    await until(() => service.log().some(({ status }) => status === 499));
    await waiting(2);
    wanted[1]!.leave();
    await waiting(1);
    release();
    expect(await outcome(run)).toEqual([200, 'fwd=miss; stored']);
    expect(await outcome(other)).toEqual([200, 'fwd=miss; stored']);
    expect(await simulated()).toBe(2);
    // The same run is like any other when it is asked for again.
    expect(await outcome(send({ seed: 1 }))).toEqual([200, 'fwd=miss; stored']);
  });

  it('finishes a run that has begun although its client has gone, for who asks next', async () => {
    await startHolding();
    const run = send({ seed: 0 });
    await until(() => existsSync(`${holdFile}.begun`));
    run.leave();
    await until(() => service.log().some(({ status }) => status === 499));
    release();
    await running(0);
    expect(await outcome(send({ seed: 0 }))).toEqual([200, 'hit']);
    expect(await simulated()).toBe(1);
  });

  it('tells only the log about an error in a worker', async () => {
    await start({}, { FAULT_THROW_SEED: '7' });
    const { status, text } = await send({ seed: 7 }).answer;
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({
      error: 'An unexpected error occurred in the service; its log has the details.',
      code: 'INTERNAL',
    });
    await until(() => /TypeError.*experiment\.worker/.test(JSON.stringify(service.log())));
    expect(await outcome(send({ seed: 8 }))).toEqual([200, 'fwd=miss; stored']);
  });

  it('holds nobody for longer than RUN_TIMEOUT_MS from arrival, and does not compute runs that nobody waits for', async () => {
    // The second run begins in the middle of its time, and its time ends in the middle of the run.
    await start({ RUN_TIMEOUT_MS: '6000' }, { FAULT_DELAY_MS: '4000' });
    const runs = [0, 1, 2].map((seed) => send({ seed }));
    const [first, second, third] = await Promise.all(runs.map(({ answer }) => answer));
    expect(first!.status).toBe(200);
    for (const late of [second!, third!]) {
      expect(late.status).toBe(503);
      expect(late.headers.get('retry-after')).toBe('1');
      expect(JSON.parse(late.text)).toEqual({
        error: 'The run did not finish within 6000 ms of its arrival; try again.',
        code: 'DEADLINE_PASSED',
      });
    }
    expect(await service.metric('nes_queue_runs{state="running"}')).toBe(1);
    // The second had begun and its result is kept; the third had not.
    await running(0);
    expect(await outcome(send({ seed: 1 }))).toEqual([200, 'hit']);
    expect(await simulated()).toBe(2);
  });
});
