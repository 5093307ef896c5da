import { RedisServer } from '../../test/support/daemons.js';
import { describeWith } from '../../test/support/requirements.js';
import { RedisWindow } from './redis-window.js';
import { SlidingLog } from './sliding-window.js';

const WINDOW_MS = 1_000;
const LIMIT = 3;

describeWith(['redis'], 'the window in Redis', () => {
  let redis: RedisServer;
  const windows: RedisWindow[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => {
    for (const window of windows.splice(0)) window.close();
  });
  afterAll(() => redis.kill());

  async function replica(): Promise<RedisWindow> {
    let away = false;
    const limits = { limit: LIMIT, windowMs: WINDOW_MS };
    const window = new RedisWindow({
      ...limits,
      url: redis.url,
      local: new SlidingLog({ ...limits, maximumClients: 10, nowMs: () => performance.now() }),
      onAway: () => (away = true),
      onBack: () => (away = false),
    });
    windows.push(window);
    // What is asked before the connection stands is decided locally and makes the window look for Redis.
    await window.count('nobody');
    while (away) await new Promise((next) => setTimeout(next, 10));
    return window;
  }

  it('counts down, refuses, and lets one pass again when the oldest has left', async () => {
    const window = await replica();
    const readings = [];
    for (let i = 0; i < 5; i++) readings.push(await window.count('a'));
    expect(readings.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ]);
    const { resetMs } = readings[4]!;
    expect(resetMs).toBeGreaterThan(0);
    expect(resetMs).toBeLessThanOrEqual(WINDOW_MS);
    await new Promise((next) => setTimeout(next, resetMs + 5));
    expect((await window.count('a')).allowed).toBe(true);
  });

  it('lets exactly the limit pass, however many ask at once at however many replicas', async () => {
    const replicas = await Promise.all([replica(), replica(), replica()]);
    const readings = await Promise.all(
      Array.from({ length: 60 }, (_, at) => replicas[at % replicas.length]!.count('b')),
    );
    expect(readings.filter(({ allowed }) => allowed)).toHaveLength(LIMIT);
  });

  it('tells clients apart', async () => {
    const window = await replica();
    for (let i = 0; i < LIMIT; i++) await window.count('c');
    expect((await window.count('c')).allowed).toBe(false);
    expect((await window.count('d')).allowed).toBe(true);
  });
});
