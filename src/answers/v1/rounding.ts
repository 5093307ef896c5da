/** Rates in a body have 2 decimals, drives 4: more would be noise, and short numbers keep bodies small. */
export function roundRate(rateHz: number): number {
  return Math.round(rateHz * 100) / 100;
}

export function roundDrive(drive: number): number {
  // Adding 0 turns -0, which JSON would print as 0 anyway, into 0.
  return Math.round(drive * 10_000) / 10_000 + 0;
}
