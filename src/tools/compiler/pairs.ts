/** Sorts the rows of a table by pairs of neurons, and sums the synapses of each pair. */
import { rowsByKey } from '../../engine/connectome/rows.js';
import { type ConnectionColumns, MIN_SYNAPSES, newConnections } from './brain.js';

/** Packs a target (18 bits) and a row (32 bits) into one exact double. */
const ROW_RANGE = 2 ** 32;

/** Rows of a table, each with synapses from one neuron to another. */
interface PairRows extends Readonly<Record<'pre' | 'post' | 'synapses', Uint32Array>> {
  /** Number of each row's part, such as a neuropil; absent if rows have no parts. */
  readonly parts?: Uint32Array;
}

interface PairChecks {
  /** Called if two rows of a pair have the same part. */
  repeated(earlier: number, later: number): void;
  /** Called for each pair that is not omitted, with its first row. */
  checkSum(row: number, sum: number): void;
}

/**
 * Sums the rows of each pair of neurons and omits pairs with fewer synapses than `minimumSynapses`.
 * @returns the remaining pairs, the number of all pairs, the largest sum, a phrase on the counts, and a remark if the
 *   table itself lacks weak pairs
 */
export function sumPairs(
  { pre, post, synapses, parts }: PairRows,
  neuronCount: number,
  minimumSynapses: number,
  { repeated, checkSum }: PairChecks,
): { connections: ConnectionColumns; pairCount: number; most: number; counted: string; pruned: string[] } {
  const rows = rowsByPair(pre, post, neuronCount);
  /** For each part, the last position in `rows` with it. */
  const seenAt = new Map<number, number>();
  const kept = newConnections(rows.length);
  let count = 0;
  let pairs = 0;
  let allSynapses = 0;
  let synapsesKept = 0;
  let fewest = Infinity;
  let most = 0;
  for (let begin = 0, end: number; begin < rows.length; begin = end) {
    const first = rows[begin]!;
    let sum = 0;
    for (end = begin; end < rows.length; end++) {
      const row = rows[end]!;
      if (pre[row] !== pre[first] || post[row] !== post[first]) break;
      if (parts !== undefined) {
        const seen = seenAt.get(parts[row]!) ?? -1;
        if (seen >= begin) repeated(rows[seen]!, row);
        seenAt.set(parts[row]!, end);
      }
      sum += synapses[row]!;
    }
    pairs += 1;
    allSynapses += sum;
    fewest = Math.min(fewest, sum);
    most = Math.max(most, sum);
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
    most,
    counted:
      `${pairs} pairs of neurons with ${allSynapses} synapses; ` +
      `${count} pairs with ${minimumSynapses} or more were kept, with ${synapsesKept} synapses.`,
    pruned: minimumSynapses < Math.min(fewest, MIN_SYNAPSES) ? [prunedBefore] : [],
  };
}

/**
 * @param pre presynaptic neuron of each row
 * @param post postsynaptic neuron of each row
 * @returns the rows in ascending order of pre, then post, then row
 */
function rowsByPair(pre: Uint32Array, post: Uint32Array, neuronCount: number): Uint32Array {
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
