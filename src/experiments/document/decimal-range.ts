/**
 * Numbers from one to another in equal steps, calculated with the decimal digits that somebody wrote: 0.1, 0.2, 0.3
 * and not 0.30000000000000004, whichever step is reached.
 */
export class DecimalRange {
  readonly #first: bigint;
  readonly #step: bigint;
  readonly #decimals: number;
  /** Numbers of the range, the last one included if a step hits it. */
  readonly length: bigint;

  /** @param from finite  @param to finite, not below from  @param step finite, above 0 */
  constructor(from: number, to: number, step: number) {
    const parts = [from, to, step].map(decimal);
    this.#decimals = Math.max(...parts.map(({ decimals }) => decimals));
    const [first, last, distance] = parts.map(
      ({ digits, decimals }) => digits * 10n ** BigInt(this.#decimals - decimals),
    );
    this.#first = first!;
    this.#step = distance!;
    this.length = (last! - first!) / distance! + 1n;
  }

  /** All numbers; look at the length first. */
  values(): number[] {
    return Array.from({ length: Number(this.length) }, (_, i) =>
      Number(`${this.#first + BigInt(i) * this.#step}e-${this.#decimals}`),
    );
  }
}

/** The shortest decimal that is read as this number: digits / 10^decimals. */
function decimal(value: number): { digits: bigint; decimals: number } {
  const [mantissa, exponent] = value.toExponential().split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  const decimals = fraction.length - Number(exponent);
  const digits = BigInt(whole! + fraction);
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 };
}
