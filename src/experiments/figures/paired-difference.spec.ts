import { halfInterval, pairedDifference, studentQuantile } from './paired-difference.js';

it('has the quantiles of published tables of Student’s t', () => {
  const rows: readonly (readonly [level: number, degrees: number, t: number])[] = [
    [0.95, 1, 12.706],
    [0.95, 2, 4.303],
    [0.95, 3, 3.182],
    [0.95, 9, 2.262],
    [0.95, 29, 2.045],
    [0.99, 4, 4.604],
    [0.99, 5, 4.032],
    [0.999, 10, 4.587],
    [0.999, 29, 3.659],
  ];
  for (const [level, degrees, t] of rows) expect(studentQuantile(level, degrees)).toBeCloseTo(t, 3);
});

it('pairs trials, and leaves out those without a number', () => {
  // Differences 1, 2, 3: mean 2, sample sd 1, standard error 1 / √3.
  const found = pairedDifference([11, 22, null, 33], [10, 20, 25, 30])!;
  expect(found).toMatchObject({ mean: 2, pairs: 3 });
  expect(found.standardError).toBeCloseTo(1 / Math.sqrt(3), 12);
  expect(halfInterval(found, 0.95)).toBeCloseTo(4.3027 / Math.sqrt(3), 4);
  expect(pairedDifference([1, null], [1, 2])).toBeUndefined();
});

it('has no interval for differences that are equal, apart from rounding', () => {
  // The second: thirds with nine digits. The last: a spike more among many.
  for (const [after, before] of [
    [
      [5, 7],
      [3, 5],
    ],
    [
      [66.6666667, 100],
      [33.3333333, 66.6666667],
    ],
    [
      [4, 4],
      [4, 4],
    ],
    [
      [21.9513245, 22.8147336],
      [21.9512764, 22.8146855],
    ],
    [
      [21.9513245, 22.8147336],
      [21.9512764, 22.8146854],
    ],
  ] as const) {
    expect(halfInterval(pairedDifference(after, before)!, 0.95)).toBeUndefined();
  }
});

it('takes a mean of nothing but rounding for 0', () => {
  const found = pairedDifference([33.3333333, 66.6666667, 50], [66.6666667, 33.3333333, 50.0000001])!;
  expect(found.mean).toBe(0);
  expect(halfInterval(found, 0.95)).toBeGreaterThan(80);
});
