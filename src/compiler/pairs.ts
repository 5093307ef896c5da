/** Sorts the rows of a table by pairs of neurons, and sums the synapses of each pair. */
import { rowsByKey } from '../connectome/rows.js';
import { type ConnectionColumns, MINIMUM_SYNAPSES, newConnections } from './brain.js';

/** Target and row in one exact double: 18 bits and 32. */
const ROW_RANGE = 2 ** 32;

/** Rows of a table, each with synapses from one neuron to another. */
type PairRows = Readonly<Record<'pre' | 'post' | 'synapses', Uint32Array>>;

interface PairChecks {
  /** Is called for each row with every earlier row of its pair. */
  checkRepeated(earlier: number, later: number): void;
  /** Is called for each pair that is kept, with its first row. */
  checkSum(row: number, sum: number): void;
}

/**
 * Sums each pair of neurons over its rows and leaves out pairs with fewer synapses than `minimumSynapses`.
 * @param neuronCount all neurons are below it
 * @returns the pairs that are kept, the number of all, a phrase on both, and a remark where the table was pruned before
 */
export function sumPairs(
  { pre, post, synapses }: PairRows,
  neuronCount: number,
  minimumSynapses: number,
  { checkRepeated, checkSum }: PairChecks,
): { connections: ConnectionColumns; pairCount: number; counted: string; pruned: string[] } {
  const rows = rowsByPair(pre, post, neuronCount);
  const kept = newConnections(rows.length);
  let count = 0;
  let pairs = 0;
  let allSynapses = 0;
  let synapsesKept = 0;
  let fewest = Infinity;
  for (let begin = 0, end: number; begin < rows.length; begin = end) {
    const first = rows[begin]!;
    let sum = 0;
    for (end = begin; end < rows.length; end++) {
      const row = rows[end]!;
      if (pre[row] !== pre[first] || post[row] !== post[first]) break;
      for (let i = begin; i < end; i++) checkRepeated(rows[i]!, row);
      sum += synapses[row]!;
    }
    pairs += 1;
    allSynapses += sum;
    fewest = Math.min(fewest, sum);
    if (sum < minimumSynapses) continue;
    checkSum(first, sum);
    kept.pre[count] = pre[first]!;
    kept.post[count] = post[first]!;
    kept.synapseCounts[count++] = sum;
    synapsesKept += sum;
  }
  const prunedBefore =
    `Pairs with ${minimumSynapses} synapses or more were asked for, but no pair of the tables has fewer ` +
    `than ${fewest}: weaker ones were removed earlier.`;
  return {
    connections: {
      count,
      pre: kept.pre.slice(0, count),
      post: kept.post.slice(0, count),
      synapseCounts: kept.synapseCounts.slice(0, count),
    },
    pairCount: pairs,
    counted:
      `${pairs} pairs of neurons with ${allSynapses} synapses; ` +
      `${count} pairs with ${minimumSynapses} or more were kept, with ${synapsesKept} synapses.`,
    pruned: minimumSynapses < Math.min(fewest, MINIMUM_SYNAPSES) ? [prunedBefore] : [],
  };
}

/**
 * @param pre, post presynaptic and postsynaptic neuron of each row
 * @param neuronCount all neurons are below it
 * @returns the rows in ascending order of pre, then post, then row
 */
function rowsByPair(pre: Uint32Array, post: Uint32Array, neuronCount: number): Uint32Array {
  // By pre first: it mostly comes in long runs, so the rows of one neuron then fit into a cache.
  const { items: sorted } = rowsByKey(pre, neuronCount);
  // The tables of the release are mostly in this order already.
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
