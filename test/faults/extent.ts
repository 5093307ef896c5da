/**
 * The faults are tried in two extents: the full one of `npm run test:faults`, and a short one, `npm run
 * test:faults:short`. Observations are printed in full runs, for docs/operations.md.
 */
export const IS_FULL = process.env['FAULTS'] === 'full';

export function extent<T>({ short, full }: { readonly short: T; readonly full: T }): T {
  return IS_FULL ? full : short;
}

/** A fault that only full runs try; the summary of a short run lists it as skipped. */
export const itInFull = IS_FULL ? it : it.skip; // These tests take too long for the short extent.

export function observed(fault: string, what: string): void {
  if (IS_FULL || process.env['OBSERVE']) process.stderr.write(`observed | ${fault} | ${what}\n`);
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}
