/** Sorts the rows of a table by pairs of neurons, and sums the synapses of each pair. */
import { rowsByKey } from '../../engine/connectome/rows.js';
import { type ConnectionColumns, newConnections } from './brain.js';
import { percentOf } from './table-reader.js';

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
 * @param usualMinimum the threshold that is used if none was asked for
 * @returns the remaining pairs, the number of all pairs, the largest sum, a phrase on the counts, and remarks if pairs were
 *   omitted or the table itself lacks weak pairs
 */
export function sumPairs(
  { pre, post, synapses, parts }: PairRows,
  neuronCount: number,
  minimumSynapses: number,
  usualMinimum: number,
  { repeated, checkSum }: PairChecks,
): { connections: ConnectionColumns; pairCount: number; most: number; counted: string; weak: string[] } {
  const rows = rowsByPair(pre, post, neuronCount);
  /** For each part, the last position in `rows` with it. */
  const seenAt = new Map<number, number>();
  const kept = newConnections(rows.length);
  let count = 0;
  let pairs = 0;
  let allSynapses = 0;
  let synapsesKept = 0;
  let rowsOmitted = 0;
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
    if (sum < minimumSynapses) {
      rowsOmitted += end - begin;
      continue;
    }
    checkSum(first, sum);
    kept.pre[count] = pre[first]!;
    kept.post[count] = post[first]!;
    kept.synapseCounts[count++] = sum;
    synapsesKept += sum;
  }
  return {
    connections: firstOf(kept, count),
    pairCount: pairs,
    most,
    counted:
      `${pairs} pairs of neurons with ${allSynapses} synapses; ` +
      `${count} pairs with ${minimumSynapses} or more were kept, with ${synapsesKept} synapses.`,
    weak: [
      ...omittedHere(minimumSynapses, [rowsOmitted, rows.length], [allSynapses - synapsesKept, allSynapses]),
      ...(minimumSynapses < Math.min(fewest, usualMinimum) ? [prunedBefore(minimumSynapses, fewest)] : []),
    ],
  };
}

function firstOf({ pre, post, synapseCounts }: ConnectionColumns, count: number): ConnectionColumns {
  return {
    count,
    pre: pre.slice(0, count),
    post: post.slice(0, count),
    synapseCounts: synapseCounts.slice(0, count),
  };
}

/** @param rows the number of omitted rows and of all  @param synapses likewise */
function omittedHere(
  minimumSynapses: number,
  [rows, allRows]: readonly [number, number],
  [synapses, allSynapses]: readonly [number, number],
): string[] {
  if (rows === 0) return [];
  return [
    `Pairs with fewer than ${minimumSynapses} synapses were left out: ${rows} of ${allRows} rows, with ` +
      `${synapses} of ${allSynapses} synapses (${percentOf(synapses, allSynapses)}).`,
  ];
}

function prunedBefore(minimumSynapses: number, fewest: number): string {
  return (
    `Pairs with ${minimumSynapses} synapses or more were asked for, but no pair of the tables has fewer ` +
    `than ${fewest}: weaker ones were removed earlier.`
  );
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
