import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { MAXIMUM_CLIENTS, SlidingLog } from './sliding-window.js';

const SEED = 20_240_783;

describe('SlidingLog', () => {
  let nowMs: number;
  const windowOf = (limit: number, windowMs: number, maximumClients = 10) =>
    new SlidingLog({ limit, windowMs, maximumClients, nowMs: () => nowMs });
  beforeEach(() => {
    nowMs = 0;
  });

  it('lets the limit pass, then one for each that leaves the window, to the millisecond', () => {
    const window = windowOf(3, 60_000);
    const at = (ms: number) => {
      nowMs = ms;
      const { allowed, remaining, resetMs } = window.count('a');
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
        expect(windowOf(1, 60_000).count('a').resetMs).toBe(60_000);
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  it('tells clients apart', () => {
    const window = windowOf(1, 1_000);
    expect(['a', 'a', 'b', 'a', 'b'].map((client) => window.count(client).allowed)).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });

  it('takes back what is given back, as if it had not been asked for', () => {
    const window = windowOf(2, 1_000);
    const first = window.count('a');
    nowMs = 400;
    expect(window.count('a')).toMatchObject({ allowed: true, remaining: 0, resetMs: 600 });
    const refused = window.count('a');
    expect([refused.allowed, refused.giveBack]).toEqual([false, undefined]);
    void first.giveBack!();
    expect(window.count('a')).toMatchObject({ allowed: true, remaining: 0, resetMs: 1_000 });
    // It has left the window by itself; nothing else leaves for it.
    nowMs = 1_500;
    expect(window.count('a')).toMatchObject({ remaining: 1 });
    void first.giveBack!();
    expect(window.count('a')).toMatchObject({ allowed: true, remaining: 0 });
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
            const { allowed, remaining, resetMs } = window.count('a');
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
    const window = windowOf(30, 60_000, MAXIMUM_CLIENTS);
    collectGarbage();
    const beforeBytes = process.memoryUsage().heapUsed;
    const flood = 2 * MAXIMUM_CLIENTS;
    let passed = 0;
    for (let i = 0; i < flood; i++) {
      nowMs += 0.01;
      const address = `2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::/64`;
      if (window.count(address).allowed) passed++;
      if (i % 1_000 === 0) window.count('regular');
    }
    collectGarbage();
    expect(window.clients).toBe(MAXIMUM_CLIENTS);
    expect(passed).toBe(flood);
    // 20 MB where this was written.
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(40e6);
    // It came a hundred times, and was not forgotten among the others.
    expect(window.count('regular').allowed).toBe(false);
  });
});
