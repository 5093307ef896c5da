/** Below this the series converges to the last bit within TERMS terms. */
const SMALL = 1 / 16;
const TERMS = 12;

/**
 * exp(-x) for x >= 0, with the same bits on every machine, which Math.exp does not guarantee. It uses only IEEE
 * additions, multiplications and divisions, in a fixed order.
 */
export function exponentialDecay(x: number): number {
  let halvings = 0;
  let small = x;
  while (small > SMALL) {
    small /= 2;
    halvings++;
  }
  let sum = 1;
  for (let k = TERMS; k >= 1; k--) sum = 1 - (small / k) * sum;
  for (; halvings > 0; halvings--) sum *= sum;
  return sum;
}
