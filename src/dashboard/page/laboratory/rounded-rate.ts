/** A rate as people read it. */
export function rounded(rateHz: number): string {
  if (rateHz === 0) return '0';
  // Mean rates of many neurons are low.
  if (rateHz < 0.1) return String(Number(rateHz.toPrecision(1)));
  return rateHz.toFixed(rateHz >= 99.95 ? 0 : 1);
}
