import { meanSd, type MeanSd } from '../../mean-sd.js';

const DECIMALS = 10_000;

/**
 * Every mean, standard deviation and rate of an answer has four decimals at most: finer than the effect of one spike in
 * a small group, and short numbers keep answers small. Each is rounded once, from exact counts, never from another
 * rounded number.
 */
export function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}

/** @param perUnit how many of the values make one of the unit */
export function roundedMeanSd(values: ArrayLike<number>, perUnit = 1): MeanSd {
  const { mean, sd } = meanSd(values);
  return { mean: rounded(mean / perUnit), sd: rounded(sd / perUnit) };
}
