import { connect, createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { RedisLink } from './redis-link.js';
import { RedisWindow } from './redis-window.js';
import { MemoryWindow, type SlidingWindow } from './sliding-window.js';

const WINDOW_MS = 1_000;
/** Where a test must not see anything leave. */
const LONG_WINDOW_MS = 600_000;
const LIMIT = 3;
const RUNS = { limit: LIMIT, windowMs: WINDOW_MS, slotMs: 0 };
const BRAIN_LIMIT = 600;
const BRAIN = { limit: BRAIN_LIMIT, windowMs: 60_000, slotMs: 1_000 };
const SHORT = { limit: BRAIN_LIMIT, windowMs: 1_200, slotMs: 20 };

/** Contract of windows of runs, on their own clocks. */
function counts(open: () => Promise<SlidingWindow>): void {
  let window: SlidingWindow;
  beforeEach(async () => (window = await open()));

  it('counts down, refuses, and lets one pass again when the oldest has left', async () => {
    const readings = [];
    for (let i = 0; i < 5; i++) readings.push(await window.spend('a', 1));
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
    expect((await window.spend('a', 1)).allowed).toBe(true);
  });

  it('tells clients apart', async () => {
    for (let i = 0; i < LIMIT; i++) await window.spend('c', 1);
    expect((await window.spend('c', 1)).allowed).toBe(false);
    expect((await window.spend('d', 1)).allowed).toBe(true);
  });

  it('takes back an amount, as if it had not been asked for', async () => {
    const { settle } = await window.spend('j', 1);
    for (let i = 1; i < LIMIT; i++) await window.spend('j', 1);
    await settle!(0);
    expect(await window.spend('j', 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect((await window.spend('j', 1)).allowed).toBe(false);
  });
}

/** Contract of windows of brain time, on their own clocks. */
function settles(open: () => Promise<SlidingWindow>): void {
  let window: SlidingWindow;
  beforeEach(async () => (window = await open()));

  it('fails for an amount that is no number, and counts on', async () => {
    const { settle } = await window.spend('n', 100);
    for (const amount of [NaN, Infinity]) {
      await expect(async () => window.spend('n', amount)).rejects.toThrow(RangeError);
      await expect(async () => settle!(amount)).rejects.toThrow(RangeError);
    }
    // The same for other clients.
    expect(await window.spend('n', 100)).toMatchObject({ allowed: true, remaining: BRAIN_LIMIT - 200 });
  });

  it('settles: the unused part is free at once', async () => {
    const { settle } = await window.spend('k', BRAIN_LIMIT);
    await settle!(350);
    expect((await window.spend('k', 251)).allowed).toBe(false);
    expect(await window.spend('k', 250)).toMatchObject({ allowed: true, remaining: 0 });
    // As good as nothing was spent.
    const { settle: none } = await window.spend('l', 7);
    await none!(0);
    expect(await window.spend('l', BRAIN_LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('settles: more than was asked for is spent, below zero, and after the wait that it names there is room', async () => {
    const { settle } = await window.spend('m', 100);
    await settle!(BRAIN_LIMIT + 300);
    const refused = await window.spend('m', 1);
    expect([refused.allowed, refused.remaining]).toEqual([false, -300]);
    expect(refused.settle).toBeUndefined();
    expect(refused.resetMs).toBeGreaterThan(0);
    expect(refused.resetMs).toBeLessThanOrEqual(SHORT.windowMs + SHORT.slotMs);
    await new Promise((next) => setTimeout(next, refused.resetMs + 5));
    expect(await window.spend('m', BRAIN_LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('settles work that outlasted its window: less gives nothing back, more counts from now on', async () => {
    const [one, other] = [await window.spend('n', 100), await window.spend('n', 100)];
    await new Promise((next) => setTimeout(next, SHORT.windowMs + 2 * SHORT.slotMs));
    await one.settle!(40);
    expect((await window.spend('n', 1)).remaining).toBe(BRAIN_LIMIT - 1);
    await other.settle!(150);
    expect((await window.spend('n', 1)).remaining).toBe(BRAIN_LIMIT - 52);
  });
}

describe('the window in memory', () => {
  const memory = (limits: { limit: number; windowMs: number; slotMs: number }) => async () =>
    new MemoryWindow({ ...limits, maxClients: 10, nowMs: () => performance.now() });
  describe('of runs', () => counts(memory(RUNS)));
  describe('of brain time', () => settles(memory(SHORT)));
});

describeWith(['redis'], 'the window in Redis', () => {
  let redis: RedisServer;
  const links: RedisLink[] = [];
  const toClose: (() => unknown)[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    for (const link of links.splice(0)) link.onApplicationShutdown();
    await Promise.all(toClose.splice(0).map((close) => close()));
  });
  afterAll(() => redis.kill());

  const replica = async (): Promise<RedisWindow> => (await watched({ limits: RUNS })).window;
  const brainReplica = (limits = BRAIN) => watched({ kind: 'brain', limits });

  async function watched({
    port = redis.port,
    kind = 'runs' as 'runs' | 'brain',
    limits = { limit: LIMIT, windowMs: LONG_WINDOW_MS, slotMs: 0 },
  } = {}) {
    const turns: string[] = [];
    let away = false;
    const link = new RedisLink(`redis://127.0.0.1:${port}`, {
      onAway: (reason) => {
        away = true;
        turns.push(reason);
      },
      onBack: () => {
        away = false;
        turns.push('back');
      },
    });
    links.push(link);
    const local = new MemoryWindow({ ...limits, maxClients: 10, nowMs: () => performance.now() });
    const window = new RedisWindow({ ...limits, link, kind, local });
    // A request before the connection stands is decided locally and makes the window look for Redis.
    await window.spend('nobody', 1);
    while (away) await new Promise((next) => setTimeout(next, 10));
    turns.length = 0;
    return { window, turns, isAway: () => away };
  }

  describe('of runs', () => counts(replica));
  describe('of brain time', () => settles(async () => (await brainReplica(SHORT)).window));

  it('lets exactly the limit pass, however many ask at once at however many replicas', async () => {
    const replicas = await Promise.all([replica(), replica(), replica()]);
    const readings = await Promise.all(
      Array.from({ length: 60 }, (_, at) => replicas[at % replicas.length]!.spend('b', 1)),
    );
    expect(readings.filter(({ allowed }) => allowed)).toHaveLength(LIMIT);
  });

  it('takes back an amount, in Redis and in the copy for its absence', async () => {
    const one = await watched();
    const { window: other } = await watched();
    const readings = [
      await one.window.spend('e', 1),
      await one.window.spend('e', 1),
      await other.spend('e', 1),
    ];
    expect((await other.spend('e', 1)).settle).toBeUndefined();
    await readings[0]!.settle!(0);
    expect(await other.spend('e', 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect((await other.spend('e', 1)).allowed).toBe(false);

    await redis.kill();
    await until(one.isAway);
    // Two of its own counts, minus the one that was given back.
    expect(await one.window.spend('e', 1)).toMatchObject({ allowed: true, remaining: LIMIT - 2 });
    await redis.start();
  });

  describe.each<[string, string[][], string[][]]>([
    ['is full', [['CONFIG', 'SET', 'maxmemory', '1']], [['CONFIG', 'SET', 'maxmemory', '0']]],
    ['may only be read', [['REPLICAOF', '127.0.0.1', '1']], [['REPLICAOF', 'NO', 'ONE']]],
    [
      'forbids scripts',
      [['ACL', 'SETUSER', 'default', '-@scripting']],
      [['ACL', 'SETUSER', 'default', '+@scripting']],
    ],
  ])('while Redis answers but %s', (_, forbid, allow) => {
    it('counts by itself until Redis counts again, and does not take it for back in between', async () => {
      const { window, turns, isAway } = await watched();
      await ask(...forbid);
      for (let i = 0; i < LIMIT; i++) expect((await window.spend('f', 1)).allowed).toBe(true);
      expect((await window.spend('f', 1)).allowed).toBe(false);
      expect(isAway()).toBe(true);
      const tried = await scriptsTried();
      await until(async () => {
        await window.spend('f', 1);
        return (await scriptsTried()) >= tried + 3;
      });
      expect(turns).toEqual([expect.not.stringContaining('default')]);
      await ask(...allow);
      await until(() => !isAway());
      expect(turns).toEqual([expect.any(String), 'back']);
      expect((await window.spend('g', 1)).allowed).toBe(true);
      expect(isAway()).toBe(false);
    });
  });

  it('forgets moments later than now, which a clock that was set back leaves over', async () => {
    const { window, turns } = await watched();
    const [time] = await ask(['TIME']);
    const nowMs = Number(time!.split(',')[0]) * 1_000;
    const moments = [-700_000, -2_000, 3_599_000, 3_600_000].map((afterMs) => String(nowMs + afterMs));
    await ask(['RPUSH', 'nes:runs:late', ...moments], ['PEXPIRE', 'nes:runs:late', '60000']);
    const reading = await window.spend('late', 1);
    // One of the four is within the window and leaves about two seconds before the newly counted ones.
    expect(reading).toMatchObject({ allowed: true, remaining: LIMIT - 2 });
    expect(reading.resetMs).toBeLessThanOrEqual(LONG_WINDOW_MS);
    expect(reading.resetMs).toBeGreaterThan(LONG_WINDOW_MS - 60_000);
    expect(await ask(['LLEN', 'nes:runs:late'])).toEqual(['2']);
    expect(turns).toEqual([]);
  });

  it.each([
    ['a key of another type', ['SET', 'nes:runs:foreign', 'x']],
    ['a list of something else', ['RPUSH', 'nes:runs:foreign', 'x', 'nan', 'inf']],
  ])('replaces %s in its place, without a word of Redis being away', async (_, put) => {
    const { window, turns } = await watched();
    await ask(['DEL', 'nes:runs:foreign'], put);
    const readings = [];
    for (let i = 0; i <= LIMIT; i++) readings.push(await window.spend('foreign', 1));
    expect(readings.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(turns).toEqual([]);
  });

  it('goes on counting if Redis forbids to give an amount back', async () => {
    const { window, turns } = await watched();
    await ask(['ACL', 'SETUSER', 'default', '-lrem']);
    const reading = await window.spend('h', 1);
    await reading.settle!(0);
    expect(await window.spend('h', 1)).toMatchObject({ allowed: true, remaining: LIMIT - 2 });
    expect(turns).toEqual([]);
    await ask(['ACL', 'SETUSER', 'default', '+lrem']);
  });

  it('finds the new master after a failover, although the old one keeps its connections', async () => {
    const successor = await RedisServer.start();
    toClose.push(() => successor.kill());
    let masterPort = redis.port;
    // Like a name or proxy that leads to the current master; existing connections stay.
    const name = createServer((near) => {
      const far = connect(masterPort, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
      }
    });
    await new Promise<void>((done) => name.listen(0, '127.0.0.1', done));
    toClose.push(() => name.close());
    const { window, turns, isAway } = await watched({
      port: (name.address() as AddressInfo).port,
    });
    masterPort = successor.port;
    await ask(['REPLICAOF', '127.0.0.1', String(successor.port)]);
    await window.spend('h', 1);
    expect(turns).toEqual([expect.any(String)]);
    await until(() => !isAway());
    expect((await window.spend('i', 1)).allowed).toBe(true);
    expect(isAway()).toBe(false);
    await ask(['REPLICAOF', 'NO', 'ONE']);
  });

  describe('of brain time, between replicas', () => {
    it('lets the limit pass and no more, whichever replicas are asked at once', async () => {
      const replicas = await Promise.all([brainReplica(), brainReplica(), brainReplica()]);
      const readings = await Promise.all(
        Array.from({ length: 30 }, (_, at) => replicas[at % 3]!.window.spend('a', 50)),
      );
      expect(readings.filter(({ allowed }) => allowed)).toHaveLength(BRAIN_LIMIT / 50);
      expect(await replicas[0]!.window.spend('b', BRAIN_LIMIT)).toMatchObject({
        allowed: true,
        remaining: 0,
      });
    });

    it('allows the refused amount when it said, and leaves no key that never expires', async () => {
      const { window } = await brainReplica(SHORT);
      await window.spend('c', 500);
      const { allowed, remaining, resetMs } = await window.spend('c', 200);
      expect([allowed, remaining]).toEqual([false, 100]);
      expect(resetMs).toBeGreaterThan(0);
      expect(resetMs).toBeLessThanOrEqual(1_220);
      expect(Number(await ask(['PTTL', 'nes:brain:c']))).toBeGreaterThan(0);
      await new Promise((next) => setTimeout(next, resetMs + 2));
      expect((await window.spend('c', 200)).allowed).toBe(true);
    });

    it('takes back the unused part, for all replicas and for the time without Redis', async () => {
      const [one, other] = [await brainReplica(), await brainReplica()];
      const { settle } = await one.window.spend('d', BRAIN_LIMIT);
      expect((await other.window.spend('d', 1)).allowed).toBe(false);
      await settle!(BRAIN_LIMIT - 200);
      expect(await other.window.spend('d', 200)).toMatchObject({ allowed: true, remaining: 0 });
      await redis.kill();
      await until(one.isAway);
      // It spent 400 itself.
      expect(await one.window.spend('d', 200)).toMatchObject({ allowed: true, remaining: 0 });
      await redis.start();
      await until(() => !one.isAway());
      await ask(['DEL', 'nes:brain:d']);
      await settle!(BRAIN_LIMIT - 200);
      expect(await ask(['EXISTS', 'nes:brain:d'])).toEqual(['0']);
    });

    it.each([
      ['a key of another type', ['SET', 'nes:brain:e', 'x']],
      [
        'fields that it did not write',
        ['HSET', 'nes:brain:e', 'x', '1', '1', 'nan', '99999999999', '5', '17e5', 'inf', '3', '-7'],
      ],
    ])('replaces %s', async (_, command) => {
      const { window, isAway } = await brainReplica();
      await ask(['DEL', 'nes:brain:e'], command);
      expect(await window.spend('e', BRAIN_LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
      expect((await window.spend('e', 1)).allowed).toBe(false);
      expect(isAway()).toBe(false);
    });
  });

  async function ask(...commands: readonly (readonly string[])[]): Promise<string[]> {
    const client = new Redis(redis.url);
    try {
      const answers = [];
      for (const [command, ...args] of commands) answers.push(String(await client.call(command!, ...args)));
      return answers;
    } finally {
      client.disconnect();
    }
  }

  /** However they ended. */
  async function scriptsTried(): Promise<number> {
    const [stats] = await ask(['INFO', 'commandstats']);
    const lines = stats!.match(/^cmdstat_eval.*$/gm) ?? [];
    const numbers = lines.flatMap((line) => [...line.matchAll(/\b(?:calls|rejected_calls)=(\d+)/g)]);
    return numbers.reduce((sum, [, number]) => sum + Number(number), 0);
  }
});
