/** A mean and a population standard deviation (ddof 0). Shiu et al. 2024 use it, and so does every sd in this project. */
export interface MeanSd {
  readonly mean: number;
  readonly sd: number;
}

/** Adds in the order of the values, so equal values give equal bytes. */
export function meanSd(values: ArrayLike<number>): MeanSd {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const deviation = values[i]! - mean;
    squares += deviation * deviation;
  }
  return { mean, sd: Math.sqrt(squares / values.length) };
}

const SIGNIFICANT_DIGITS = 9;

/**
 * Rounds every mean, standard deviation and rate of an answer to nine significant digits. A fixed number of decimals would
 * hide spikes: one spike changes the rate of 100,000 neurons by less than 0.0001 Hz. Nine digits still tell the number of
 * spikes. Each number is rounded once, from exact counts.
 */
export function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS));
}

/** @param perUnit divides mean and sd, to convert them to another unit */
export function roundedMeanSd(values: ArrayLike<number>, perUnit = 1): MeanSd {
  const { mean, sd } = meanSd(values);
  return { mean: rounded(mean / perUnit), sd: rounded(sd / perUnit) };
}
