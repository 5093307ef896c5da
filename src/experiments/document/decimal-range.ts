export interface DecimalRange {
  /** How many numbers there are, the last one included if a step hits it. */
  readonly length: bigint;
  /** All numbers; look at the length first. */
  values(): number[];
}

/**
 * Numbers from one to another in equal steps, calculated with the decimal digits that somebody wrote: 0.1, 0.2, 0.3
 * and not 0.30000000000000004, whichever step is reached.
 * @param from finite  @param to finite, not below from  @param step finite, above 0
 */
export function decimalRange(from: number, to: number, step: number): DecimalRange {
  const parts = [from, to, step].map(decimalOf);
  const lowest = Math.min(...parts.map(({ exponent }) => exponent));
  const [first, last, distance] = parts.map(
    ({ digits, exponent }) => digits * 10n ** BigInt(exponent - lowest),
  );
  const length = (last! - first!) / distance! + 1n;
  return {
    length,
    values: () =>
      Array.from({ length: Number(length) }, (_, i) => Number(`${first! + BigInt(i) * distance!}e${lowest}`)),
  };
}

/** The shortest decimal that is read as this number: digits times 10^exponent. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa, exponent] = value.toExponential().split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  return { digits: BigInt(whole! + fraction), exponent: Number(exponent) - fraction.length };
}
