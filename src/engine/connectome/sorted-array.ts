/**
 * Finds the first position, from `from` on, whose value is not below a bound. It takes strides that double, then halves
 * the last one, so walking through a long list in small steps costs little.
 * @param values ascending
 */
export function firstNotBelow(
  values: Uint8Array | Uint16Array | Uint32Array,
  bound: number,
  from = 0,
): number {
  let low = from;
  let stride = 1;
  while (low + stride <= values.length && values[low + stride - 1]! < bound) {
    low += stride;
    stride *= 2;
  }
  let high = Math.min(low + stride - 1, values.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @returns the position of a value, or -1 if it is missing */
export function positionOf(values: Uint16Array | Uint32Array, value: number): number {
  const position = firstNotBelow(values, value);
  return values[position] === value ? position : -1;
}
