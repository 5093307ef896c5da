/** A mean and a population standard deviation (ddof 0), as in Shiu et al. 2024: every sd of the project is one. */
export interface MeanSd {
  readonly mean: number;
  readonly sd: number;
}

/** Two passes in the order of the values, so equal values give equal bytes. */
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
