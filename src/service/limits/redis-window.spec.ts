import { connect, createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { RedisServer } from '../../test/support/daemons.js';
import { describeWith } from '../../test/support/requirements.js';
import { until } from '../../test/support/service-process.js';
import { RedisLink } from './redis-link.js';
import { RedisWindow } from './redis-window.js';
import { SlidingLog } from './sliding-window.js';

const WINDOW_MS = 1_000;
/** Where a test must not see anything leave. */
const LONG_WINDOW_MS = 600_000;
const LIMIT = 3;

describeWith(['redis'], 'the window in Redis', () => {
  let redis: RedisServer;
  const links: RedisLink[] = [];
  const toClose: (() => unknown)[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    for (const link of links.splice(0)) link.close();
    await Promise.all(toClose.splice(0).map((close) => close()));
  });
  afterAll(() => redis.kill());

  async function replica(): Promise<RedisWindow> {
    return (await watched({ windowMs: WINDOW_MS })).window;
  }

  async function watched({ port = redis.port, windowMs = LONG_WINDOW_MS } = {}) {
    const turns: string[] = [];
    let away = false;
    const limits = { limit: LIMIT, windowMs };
    const link = new RedisLink({
      url: `redis://127.0.0.1:${port}`,
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
    const local = new SlidingLog({ ...limits, maximumClients: 10, nowMs: () => performance.now() });
    const window = new RedisWindow({ ...limits, link, local });
    // What is asked before the connection stands is decided locally and makes the window look for Redis.
    await window.count('nobody');
    while (away) await new Promise((next) => setTimeout(next, 10));
    turns.length = 0;
    return { window, turns, isAway: () => away };
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

  it('takes back what is given back, in Redis and in what is remembered for its absence', async () => {
    const one = await watched();
    const { window: other } = await watched();
    const readings = [await one.window.count('e'), await one.window.count('e'), await other.count('e')];
    expect((await other.count('e')).giveBack).toBeUndefined();
    await readings[0]!.giveBack!();
    expect(await other.count('e')).toMatchObject({ allowed: true, remaining: 0 });
    expect((await other.count('e')).allowed).toBe(false);

    await redis.kill();
    await until(one.isAway);
    // Two of what it counted itself, less the one that was given back.
    expect(await one.window.count('e')).toMatchObject({ allowed: true, remaining: LIMIT - 2 });
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
      for (let i = 0; i < LIMIT; i++) expect((await window.count('f')).allowed).toBe(true);
      expect((await window.count('f')).allowed).toBe(false);
      expect(isAway()).toBe(true);
      const tried = await scriptsTried();
      await until(async () => {
        await window.count('f');
        return (await scriptsTried()) >= tried + 3;
      });
      expect(turns).toEqual([expect.not.stringContaining('default')]);
      await ask(...allow);
      await until(() => !isAway());
      expect(turns).toEqual([expect.any(String), 'back']);
      expect((await window.count('g')).allowed).toBe(true);
      expect(isAway()).toBe(false);
    });
  });

  it('forgets moments later than now, which a clock that was set back leaves behind', async () => {
    const { window, turns } = await watched();
    const [time] = await ask(['TIME']);
    const nowMs = Number(time!.split(',')[0]) * 1_000;
    const moments = [-700_000, -2_000, 3_599_000, 3_600_000].map((afterMs) => String(nowMs + afterMs));
    await ask(['RPUSH', 'nes:runs:late', ...moments], ['PEXPIRE', 'nes:runs:late', '60000']);
    const reading = await window.count('late');
    // Of the four one is within the window, and it leaves some two seconds earlier than what is counted now.
    expect(reading).toMatchObject({ allowed: true, remaining: LIMIT - 2 });
    expect(reading.resetMs).toBeLessThanOrEqual(LONG_WINDOW_MS);
    expect(reading.resetMs).toBeGreaterThan(LONG_WINDOW_MS - 60_000);
    expect(await ask(['LLEN', 'nes:runs:late'])).toEqual(['2']);
    expect(turns).toEqual([]);
  });

  it.each([
    ['a key of another type', ['SET', 'nes:runs:foreign', 'x']],
    ['a list of something else', ['RPUSH', 'nes:runs:foreign', 'x', 'nan', 'inf']],
  ])('replaces %s that stands in its place, without a word of Redis being away', async (_, put) => {
    const { window, turns } = await watched();
    await ask(['DEL', 'nes:runs:foreign'], put);
    const readings = [];
    for (let i = 0; i <= LIMIT; i++) readings.push(await window.count('foreign'));
    expect(readings.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(turns).toEqual([]);
  });

  it('goes on counting where Redis forbids to take out what is given back', async () => {
    const { window, turns } = await watched();
    await ask(['ACL', 'SETUSER', 'default', '-lrem']);
    const reading = await window.count('h');
    await reading.giveBack!();
    expect(await window.count('h')).toMatchObject({ allowed: true, remaining: LIMIT - 2 });
    expect(turns).toEqual([]);
    await ask(['ACL', 'SETUSER', 'default', '+lrem']);
  });

  it('finds the new master after a failover, although the old one keeps its connections', async () => {
    const successor = await RedisServer.start();
    toClose.push(() => successor.kill());
    let masterPort = redis.port;
    // As a name or a proxy that leads to whoever is master; connections that stand stay where they are.
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
    await window.count('h');
    expect(turns).toEqual([expect.any(String)]);
    await until(() => !isAway());
    expect((await window.count('i')).allowed).toBe(true);
    expect(isAway()).toBe(false);
    await ask(['REPLICAOF', 'NO', 'ONE']);
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
