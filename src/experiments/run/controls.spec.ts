import fc from 'fast-check';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { AnsweredCondition } from '../document/result.js';
import { countAsFar, falseDiscoveryRates } from './controls.js';
import { Screen } from './screen.js';

const pOf = (own: number, others: readonly number[]) =>
  (1 + countAsFar(own, Float64Array.from(others))) / (1 + others.length);

describe('p', () => {
  // The mean of all, then the distances that are at least that of the first value.
  it.each<[own: number, others: number[], p: number]>([
    // 4: 6, of 4, 2, 0.
    [10, [0, 2, 4], 1 / 4],
    // 4: 0, which all are.
    [4, [0, 10, 2], 4 / 4],
    // 4: 2, of 2, 2, 6.
    [2, [2, 2, 10], 4 / 4],
    // 0.8: 0.8, of 0.2 four times.
    [0, [1, 1, 1, 1], 1 / 5],
    // 2.25: 2.25, of 0.75, 2.25, 3.75.
    [0, [3, 0, 6], 3 / 4],
    // 6.25: 0.75, of 1.25, 1.25, 1.75.
    [7, [5, 5, 8], 4 / 4],
    // A silent group that is silent in all controls.
    [0, [0, 0, 0], 4 / 4],
    // 5/3: 5/3, of 5/3 and 10/3. Means of thirds are no doubles.
    [0, [0, 5], 3 / 3],
    // 10/3: 10/3, of 5/3 twice.
    [0, [5, 5], 1 / 3],
    [7, [], 1],
  ])('of %d beside %j is %d', (own, others, p) => {
    expect(pOf(own, others)).toBe(p);
  });

  it('is right about chance: of values that are all alike 1 in 20 is the furthest', () => {
    const random = new PhiloxSequence(1, 0, PHILOX_STREAM.shuffle);
    const tests = 4000;
    let positive = 0;
    for (let test = 0; test < tests; test++) {
      const [own, ...others] = Array.from({ length: 20 }, () => random.nextBelow(100_000));
      if (pOf(own!, others) <= 0.05) positive++;
    }
    // Binomial: 200 with a standard deviation of 13.8; beyond 4 of them once in 16,000.
    expect(Math.abs(positive - 0.05 * tests)).toBeLessThan(55);
  });

  it('is on the safe side if many values are equal', () => {
    const random = new PhiloxSequence(2, 0, PHILOX_STREAM.shuffle);
    let positive = 0;
    for (let test = 0; test < 2000; test++) {
      const [own, ...others] = Array.from({ length: 100 }, () => Math.max(0, random.nextBelow(12) - 9));
      if (pOf(own!, others) <= 0.05) positive++;
    }
    expect(positive).toBeLessThan(100 + 4 * 9.7);
  });
});

describe('q', () => {
  /** Sorted p from the highest on, each with the least value of itself and of those above. */
  function byHand(ps: readonly number[]): number[] {
    const order = [...ps.keys()].sort((a, b) => ps[b]! - ps[a]!);
    const qs = new Array<number>(ps.length);
    let least = 1;
    order.forEach((test, at) => {
      const place = ps.length - at;
      least = Math.min(least, (ps[test]! * ps.length) / place);
      qs[test] = least;
    });
    return qs;
  }

  it('of 1/20, 1/20, 4/20, 10/20 is 0.1, 0.1, 4/15, 0.5', () => {
    const counts = new Uint32Array(21);
    for (const rank of [1, 1, 4, 10]) counts[rank]!++;
    const rates = falseDiscoveryRates(counts);
    expect([1, 4, 10].map((rank) => rates[rank])).toEqual([0.1, 4 / 15, 0.5]);
  });

  it('is that of sorted tests, whatever p they have', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 }), (ranks) => {
        const counts = new Uint32Array(31);
        for (const rank of ranks) counts[rank]!++;
        const rates = falseDiscoveryRates(counts);
        const expected = byHand(ranks.map((rank) => rank / 30));
        ranks.forEach((rank, test) => expect(rates[rank]).toBeCloseTo(expected[test]!, 12));
      }),
    );
  });

  it('finds something in at most 1 of 20 reports in which there is nothing', () => {
    const random = new PhiloxSequence(3, 0, PHILOX_STREAM.shuffle);
    const reports = 400;
    let found = 0;
    for (let report = 0; report < reports; report++) {
      const counts = new Uint32Array(101);
      for (let group = 0; group < 5; group++) {
        const [own, ...others] = Array.from({ length: 100 }, () => random.nextBelow(100_000));
        counts[1 + countAsFar(own!, Float64Array.from(others))]!++;
      }
      const rates = falseDiscoveryRates(counts);
      if (counts.some((count, rank) => count > 0 && rates[rank]! <= 0.05)) found++;
    }
    // 20 with a standard deviation of 4.4.
    expect(found).toBeLessThan(38);
  });
});

describe('q of a screen', () => {
  /** @param controls number of each test's controls with different neurons */
  function foundIn(ps: readonly number[], controls: readonly number[]) {
    const screen = new Screen();
    ps.forEach((p, index) => {
      const control = { p, values: new Array<number>(100).fill(0), compared: controls[index] };
      const reports = { cells: [{ neurons: 1, control }] };
      screen.add({ index, parameters: {}, reports } as unknown as AnsweredCondition, [{ name: 'cells' }]);
    });
    return screen.result().found.map(({ index, q }) => [index, q]);
  }

  it('is not rounded: 3 of 3 tests with p = 1/20 have q = 1/20', () => {
    expect(foundIn([1 / 20, 1 / 20, 1 / 20], [19, 19, 19])).toEqual([0, 1, 2].map((test) => [test, 0.05]));
    expect(foundIn([1 / 40, 1, 1 / 40, 1], [39, 99, 39, 99]).map(([, q]) => q)).toEqual([0.05, 0.05]);
  });

  it('is at most that of a higher p, also if tests have other numbers of controls', () => {
    // 4 p / position is 0.04, 0.04, 0.03 and 0.8; the least from there on is 0.03 of the third.
    expect(foundIn([9 / 400, 0.8, 1 / 100, 1 / 50], [399, 9, 99, 49])).toEqual([
      [2, 0.03],
      [3, 0.03],
      [0, 0.03],
    ]);
  });
});
