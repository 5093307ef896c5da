/** Differences between two conditions, trial by trial, with intervals of Student's t. */
import { meanSd } from '../kinds/mean-sd.js';

/** The largest error of a difference, as a share of the largest number: numbers have nine digits. */
const ROUNDING = 1e-8;

interface TrialMean {
  readonly mean: number;
  readonly trials: readonly (number | null)[];
}

export interface PairedDifference {
  /** 0 if it is not more than rounding. */
  readonly mean: number;
  /** Estimated standard deviation of the mean; 0 if all differences are equal, apart from rounding. */
  readonly standardError: number;
  /** Number of trials with both numbers, at least 2. */
  readonly pairs: number;
}

/** @returns undefined if fewer than two trials have both numbers */
export function pairedDifference(
  after: readonly (number | null)[],
  before: readonly (number | null)[],
): PairedDifference | undefined {
  const both = valuesOfBoth(after, before);
  const pairs = both.length;
  if (pairs < 2) return undefined;
  const { mean, sd } = meanSd(both.map(([value, other]) => value - other));
  const largest = Math.max(...both.flat().map(Math.abs));
  const beyondRounding = (value: number) => (Math.abs(value) <= ROUNDING * largest ? 0 : value);
  return { mean: beyondRounding(mean), standardError: beyondRounding(sd) / Math.sqrt(pairs - 1), pairs };
}

/**
 * The change of a mean. If a trial lacks the number, such as a first spike, only trials with both numbers count: means over
 * different trials differ even if nothing changed in any of them.
 * @returns undefined if no trial has both
 */
export function changeOfMean(after: TrialMean, before: TrialMean): number | undefined {
  const both = valuesOfBoth(after.trials, before.trials);
  if (both.length === after.trials.length) return after.mean - before.mean;
  return both.length === 0 ? undefined : meanSd(both.map(([value, other]) => value - other)).mean;
}

/** The numbers of the trials that have both. */
function valuesOfBoth(
  after: readonly (number | null)[],
  before: readonly (number | null)[],
): readonly (readonly [number, number])[] {
  return after.flatMap((value, trial) => {
    const other = before[trial] ?? null;
    return value === null || other === null ? [] : [[value, other] as const];
  });
}

/**
 * Half the width of the interval of a difference.
 * @param level its probability, below 1
 * @returns undefined if all differences are equal: they do not tell how much others would differ
 */
export function halfInterval({ standardError, pairs }: PairedDifference, level: number): number | undefined {
  return standardError === 0 ? undefined : standardError * studentQuantile(level, pairs - 1);
}

/** The t within which Student's distribution has this probability, on both sides of 0. */
export function studentQuantile(level: number, degrees: number): number {
  let [low, high] = [0, 1];
  while (studentShare(high, degrees) < level) high *= 2;
  // Each step halves the interval, so this is exact to the last bits.
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (studentShare(middle, degrees) < level) low = middle;
    else high = middle;
  }
  return high;
}

/** The probability between -t and t: Abramowitz and Stegun 1964, 26.7.3 and 26.7.4. */
function studentShare(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let at = isOdd ? 3 : 2; at <= degrees - 2; at += 2) {
    term *= ((at - 1) / at) * cosine ** 2;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}
