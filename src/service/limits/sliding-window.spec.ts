import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { MAX_CLIENTS, RATE_WINDOW_MS, SPENDING_SLOT_MS } from './limits.js';
import { MemoryWindow } from './sliding-window.js';

const SEED = 20_240_783;
const LIMIT = 600;

describe('MemoryWindow of runs', () => {
  let nowMs: number;
  const windowOf = (limit: number, windowMs: number, maxClients = 10) =>
    new MemoryWindow({ limit, windowMs, slotMs: 0, maxClients, nowMs: () => nowMs });
  beforeEach(() => {
    nowMs = 0;
  });

  it('lets the limit pass, then one for each that leaves the window, to the millisecond', () => {
    const window = windowOf(3, 60_000);
    const at = (ms: number) => {
      nowMs = ms;
      const { allowed, remaining, resetMs } = window.spend('a', 1);
      return [ms, allowed, remaining, resetMs];
    };
    expect([0, 10_000, 20_000, 30_000, 59_999, 60_000, 60_001, 70_000].map(at)).toEqual([
      [0, true, 2, 60_000],
      [10_000, true, 1, 50_000],
      [20_000, true, 0, 40_000],
      [30_000, false, 0, 30_000],
      [59_999, false, 0, 1],
      [60_000, true, 0, 10_000],
      [60_001, false, 0, 9_999],
      [70_000, true, 0, 10_000],
    ]);
  });

  it('never says to wait for longer than the window, however moments are rounded', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (ms) => {
        nowMs = ms;
        expect(windowOf(1, 60_000).spend('a', 1).resetMs).toBe(60_000);
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  it('tells clients apart', () => {
    const window = windowOf(1, 1_000);
    expect(['a', 'a', 'b', 'a', 'b'].map((client) => window.spend(client, 1).allowed)).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });

  it('takes back an amount, as if it had not been asked for', () => {
    const window = windowOf(2, 1_000);
    const first = window.spend('a', 1);
    nowMs = 400;
    expect(window.spend('a', 1)).toMatchObject({ allowed: true, remaining: 0, resetMs: 600 });
    const refused = window.spend('a', 1);
    expect([refused.allowed, refused.settle]).toEqual([false, undefined]);
    void first.settle!(0);
    expect(window.spend('a', 1)).toMatchObject({ allowed: true, remaining: 0, resetMs: 1_000 });
    // It has left the window by itself; nothing else leaves for it.
    nowMs = 1_500;
    expect(window.spend('a', 1)).toMatchObject({ remaining: 1 });
    void first.settle!(0);
    expect(window.spend('a', 1)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('never lets more than the limit pass in any window, and refuses only with the window full', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(400), { minLength: 1, maxLength: 80 }),
        (limit, gapsMs) => {
          nowMs = 0;
          const windowMs = 1_000;
          const window = windowOf(limit, windowMs);
          const passed: number[] = [];
          for (const gapMs of gapsMs) {
            nowMs += gapMs;
            const within = passed.filter((moment) => moment > nowMs - windowMs);
            const { allowed, remaining, resetMs } = window.spend('a', 1);
            expect(allowed).toBe(within.length < limit);
            if (allowed) passed.push(nowMs);
            expect(remaining).toBe(Math.max(0, limit - within.length - 1));
            // The promise of Retry-After: then, and not a millisecond earlier, one of those has left.
            const oldest = within[0] ?? nowMs;
            expect(nowMs + resetMs).toBe(oldest + windowMs);
          }
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('stays within its memory under a flood of addresses, and still counts those who come again', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const window = windowOf(30, 60_000, MAX_CLIENTS);
    collectGarbage();
    const beforeBytes = process.memoryUsage().heapUsed;
    const flood = 2 * MAX_CLIENTS;
    let passed = 0;
    for (let i = 0; i < flood; i++) {
      nowMs += 0.01;
      const address = `2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::/64`;
      if (window.spend(address, 1).allowed) passed++;
      if (i % 1_000 === 0) window.spend('regular', 1);
    }
    collectGarbage();
    expect(passed).toBe(flood);
    // Measured: 20 MB.
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(40e6);
    // It came a hundred times, and was not forgotten among the others.
    expect(window.spend('regular', 1).allowed).toBe(false);
  });
});

describe('MemoryWindow of brain time', () => {
  let nowMs: number;
  const log = (maxClients = 10) =>
    new MemoryWindow({
      limit: LIMIT,
      windowMs: RATE_WINDOW_MS,
      slotMs: SPENDING_SLOT_MS,
      maxClients,
      nowMs: () => nowMs,
    });
  beforeEach(() => (nowMs = 0));

  it('sums up the spending of a client, refuses more than the limit, and tells clients apart', () => {
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
            expect(within(nowMs, RATE_WINDOW_MS + SPENDING_SLOT_MS) + amount).toBeGreaterThan(LIMIT);
            nowMs += reading.resetMs;
            reading = window.spend('a', amount);
            expect(reading.allowed).toBe(true);
          }
          passed.push({ atMs: nowMs, amount });
          expect(within(nowMs, RATE_WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
        }
      }),
      { seed: SEED },
    );
  });
});
