import fc from 'fast-check';
import { Redis } from 'ioredis';
import { RedisServer } from '../../test/support/daemons.js';
import { describeWith } from '../../test/support/requirements.js';
import { until } from '../../test/support/service-process.js';
import { RedisLink } from './redis-link.js';
import { RedisSpending } from './redis-spending.js';
import { SLOTS, SpendingLog } from './spending-window.js';

const WINDOW_MS = 60_000;
const LIMIT = 600;
const SEED = 20_240_783;

describe('SpendingLog', () => {
  let nowMs: number;
  const log = (maximumClients = 10) =>
    new SpendingLog({ limit: LIMIT, windowMs: WINDOW_MS, maximumClients, nowMs: () => nowMs });
  beforeEach(() => (nowMs = 0));

  it('sums up what a client spends, refuses what goes beyond, and tells clients apart', () => {
    const window = log();
    expect(window.spend('a', 400)).toMatchObject({ allowed: true, remaining: 200 });
    expect(window.spend('a', 201)).toMatchObject({ allowed: false, remaining: 200 });
    expect(window.spend('a', 200)).toMatchObject({ allowed: true, remaining: 0 });
    expect(window.spend('a', 1)).toMatchObject({ allowed: false, remaining: 0 });
    expect(window.spend('b', LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('tells when the amount that was refused will be allowed, not just any', () => {
    const window = log();
    window.spend('a', 100);
    nowMs = 10_000;
    window.spend('a', 500);
    nowMs = 10_500;
    // The first 100 leave a second and a window after they came, which is not enough for 101.
    expect(window.spend('a', 100)).toMatchObject({ allowed: false, resetMs: 61_000 - nowMs });
    expect(window.spend('a', 101)).toMatchObject({ allowed: false, resetMs: 71_000 - nowMs });
    nowMs = 60_999;
    expect(window.spend('a', 100).allowed).toBe(false);
    nowMs = 61_000;
    expect(window.spend('a', 100).allowed).toBe(true);
  });

  it('takes back a part of what was spent, once its slot has left nothing', () => {
    const window = log();
    const { giveBack } = window.spend('a', LIMIT);
    void giveBack!(250);
    expect(window.spend('a', 251).allowed).toBe(false);
    expect(window.spend('a', 250).allowed).toBe(true);
    void giveBack!(350);
    expect(window.spend('a', 350)).toMatchObject({ allowed: true, remaining: 0 });
    nowMs = 61_000;
    void giveBack!(1);
    expect(window.spend('a', LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('forgets the clients idle longest beyond the most that it remembers', () => {
    const window = log(2);
    for (const client of ['a', 'b', 'c']) window.spend(client, LIMIT);
    expect(window.spend('c', 1).allowed).toBe(false);
    expect(window.spend('a', 1).allowed).toBe(true);
  });

  it('never lets more than the limit pass in any window, and keeps its word of when', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 0, max: 20_000 }),
      amount: fc.integer({ min: 1, max: LIMIT }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        nowMs = 0;
        const window = log();
        const passed: { atMs: number; amount: number }[] = [];
        const within = (atMs: number, lengthMs: number) =>
          passed.filter((each) => each.atMs > atMs - lengthMs).reduce((sum, { amount }) => sum + amount, 0);
        for (const { afterMs, amount } of steps) {
          nowMs += afterMs;
          let reading = window.spend('a', amount);
          if (!reading.allowed) {
            // It may count for one slot longer than the window, and for no longer.
            expect(within(nowMs, WINDOW_MS + WINDOW_MS / SLOTS) + amount).toBeGreaterThan(LIMIT);
            nowMs += reading.resetMs;
            reading = window.spend('a', amount);
            expect(reading.allowed).toBe(true);
          }
          passed.push({ atMs: nowMs, amount });
          expect(within(nowMs, WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
        }
      }),
      { seed: SEED },
    );
  });
});

describeWith(['redis'], 'RedisSpending', () => {
  let redis: RedisServer;
  const links: RedisLink[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => {
    for (const link of links.splice(0)) link.close();
  });
  afterAll(() => redis.kill());

  async function replica(windowMs = WINDOW_MS) {
    let away = false;
    const link = new RedisLink({
      url: `redis://127.0.0.1:${redis.port}`,
      onAway: () => (away = true),
      onBack: () => (away = false),
    });
    links.push(link);
    const limits = { limit: LIMIT, windowMs };
    const local = new SpendingLog({ ...limits, maximumClients: 10, nowMs: () => performance.now() });
    const window = new RedisSpending({ ...limits, link, local });
    // What is asked before the connection stands is decided locally and makes the link look for Redis.
    await window.spend('nobody', 1);
    await until(() => !away);
    return { window, isAway: () => away };
  }

  async function ask(command: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(redis.url);
    try {
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  }

  it('lets the limit pass and no more, whichever replicas are asked at once', async () => {
    const replicas = await Promise.all([replica(), replica(), replica()]);
    const readings = await Promise.all(
      Array.from({ length: 30 }, (_, at) => replicas[at % 3]!.window.spend('a', 50)),
    );
    expect(readings.filter(({ allowed }) => allowed)).toHaveLength(LIMIT / 50);
    expect(await replicas[0]!.window.spend('b', LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('allows the refused amount when it said, and leaves no key that never expires', async () => {
    const { window } = await replica(1_200);
    await window.spend('c', 500);
    const { allowed, remaining, resetMs } = await window.spend('c', 200);
    expect([allowed, remaining]).toEqual([false, 100]);
    expect(resetMs).toBeGreaterThan(0);
    expect(resetMs).toBeLessThanOrEqual(1_220);
    expect(Number(await ask('PTTL', 'nes:brain:c'))).toBeGreaterThan(0);
    await new Promise((next) => setTimeout(next, resetMs + 2));
    expect((await window.spend('c', 200)).allowed).toBe(true);
  });

  it('takes back what was not used, for all replicas and for the time without Redis', async () => {
    const [one, other] = [await replica(), await replica()];
    const { giveBack } = await one.window.spend('d', LIMIT);
    expect((await other.window.spend('d', 1)).allowed).toBe(false);
    await giveBack!(200);
    expect(await other.window.spend('d', 200)).toMatchObject({ allowed: true, remaining: 0 });
    await redis.kill();
    await until(one.isAway);
    // It spent 400 itself.
    expect(await one.window.spend('d', 200)).toMatchObject({ allowed: true, remaining: 0 });
    await redis.start();
    await until(() => !one.isAway());
    await ask('DEL', 'nes:brain:d');
    await giveBack!(200);
    expect(await ask('EXISTS', 'nes:brain:d')).toBe(0);
  });

  it.each([
    ['a key of another type', ['SET', 'nes:brain:e', 'x']],
    [
      'fields that it did not write',
      ['HSET', 'nes:brain:e', 'x', '1', '1', 'nan', '99999999999', '5', '17e5', 'inf', '3', '-7'],
    ],
  ])('replaces %s', async (_, command) => {
    const { window, isAway } = await replica();
    await ask('DEL', 'nes:brain:e');
    await ask(command[0]!, ...command.slice(1));
    expect(await window.spend('e', LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
    expect((await window.spend('e', 1)).allowed).toBe(false);
    expect(isAway()).toBe(false);
  });
});
