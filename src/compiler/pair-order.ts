/** Target and row in one exact double: 18 bits and 32. */
const ROW_RANGE = 2 ** 32;

/**
 * @param pre, post presynaptic and postsynaptic neuron of each row
 * @param neuronCount all neurons are below it
 * @returns the rows in ascending order of pre, then post, then row
 */
export function rowsByPair(pre: Uint32Array, post: Uint32Array, neuronCount: number): Uint32Array {
  const inFile = new Uint32Array(pre.length);
  for (let row = 0; row < inFile.length; row++) {
    inFile[row] = row;
  }
  // The tables of the release are mostly in this order already.
  if (isAscending(pre, post)) {
    return inFile;
  }
  // By pre first: it mostly comes in long runs, so the rows of one neuron then fit into a cache.
  const sorted = sortedBy(pre, neuronCount, inFile);
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

/** A stable counting sort: `rows` in ascending order of their keys. */
function sortedBy(keys: Uint32Array, keyLimit: number, rows: Uint32Array): Uint32Array {
  const next = new Uint32Array(keyLimit + 1);
  // Plain loops: iterating a typed array with for…of costs several times as much.
  for (let k = 0; k < rows.length; k++) {
    next[keys[rows[k]!]! + 1]! += 1;
  }
  for (let key = 0; key < keyLimit; key++) {
    next[key + 1]! += next[key]!;
  }
  const sorted = new Uint32Array(rows.length);
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k]!;
    const key = keys[row]!;
    sorted[next[key]!] = row;
    next[key]! += 1;
  }
  return sorted;
}
