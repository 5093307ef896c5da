import { rowsByKey } from '../../engine/connectome/rows.js';

/** Packs a target (18 bits) and a row (32 bits) into one exact double. */
const ROW_RANGE = 2 ** 32;

/**
 * @param pre presynaptic neuron of each row
 * @param post postsynaptic neuron of each row
 * @returns the rows in ascending order of pre, then post, then row
 */
export function rowsByPair(pre: Uint32Array, post: Uint32Array, neuronCount: number): Uint32Array {
  // Sort by pre first. The rows of one presynaptic neuron then fit into a cache for the sort by post.
  const { items: sorted } = rowsByKey(pre, neuronCount);
  // Most tables of releases are in this order already.
  if (isAscending(pre, post)) return sorted;
  let keys = new Float64Array(0);
  for (let begin = 0, end: number; begin < sorted.length; begin = end) {
    const neuron = pre[sorted[begin]!];
    for (end = begin + 1; end < sorted.length && pre[sorted[end]!] === neuron;) {
      end++;
    }
    if (keys.length < end - begin) keys = new Float64Array(2 * (end - begin));
    for (let k = begin; k < end; k++) {
      keys[k - begin] = post[sorted[k]!]! * ROW_RANGE + sorted[k]!;
    }
    keys.subarray(0, end - begin).sort();
    for (let k = begin; k < end; k++) {
      sorted[k] = keys[k - begin]! % ROW_RANGE;
    }
  }
  return sorted;
}

function isAscending(pre: Uint32Array, post: Uint32Array): boolean {
  for (let row = 1; row < pre.length; row++) {
    if ((pre[row - 1]! - pre[row]! || post[row - 1]! - post[row]!) > 0) return false;
  }
  return true;
}
