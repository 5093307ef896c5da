/** Draws counts of synapses from negative binomial distributions. docs/wiring.md specifies the draw ("Rewired networks"). */
import { MAX_SYNAPSES_PER_CONNECTION, type Wiring } from '../../connectome/connectome.js';
import { getOrInsert } from '../../get-or-insert.js';
import { PHILOX_STREAM, philox4x32 } from '../../stimulus/philox.js';

/**
 * The dispersion k: a count of mean n has the variance n + n^2 / k. validation/dispersion_of_sides.py measures it between
 * the two sides of FlyWire's brain. A whole number, so that the distribution needs no power that differs between platforms.
 */
export const COUNT_DISPERSION = 10;
const WORDS = 2 ** 32;
/** The end of a table: its last word would be drawn once in 2^32 times. */
const LAST = 1 - 1 / WORDS;

/**
 * @param numbers the number of each neuron in the order of ids
 * @returns the counts of a wiring, drawn anew
 */
export function resampledCounts(
  { neuronCount, rowStart, targets, synapseCounts }: Wiring,
  numbers: Uint32Array,
  seed: number,
): Uint16Array {
  const counts = new Uint16Array(synapseCounts.length);
  const block = new Uint32Array(4);
  /** For each mean, the probability of each count or a lower one. */
  const tables = new Map<number, Float64Array>();
  for (let source = 0; source < neuronCount; source++) {
    const end = rowStart[source + 1]!;
    for (let at = rowStart[source]!; at < end; at++) {
      philox4x32(block, numbers[source]!, numbers[targets[at]!]!, 0, PHILOX_STREAM.counts, seed, 0);
      const table = getOrInsert(tables, synapseCounts[at]!, cumulative);
      counts[at] = Math.max(1, firstAbove(table, (block[0]! + 0.5) / WORDS));
    }
  }
  return counts;
}

/** The probabilities of at most 0, 1, 2, ... synapses. The last one counts as 1. */
function cumulative(mean: number): Float64Array {
  const k = COUNT_DISPERSION;
  let probability = 1;
  for (let power = 0; power < k; power++) probability *= k / (k + mean);
  const sums = [probability];
  for (let count = 0; sums[count]! < LAST && count < MAX_SYNAPSES_PER_CONNECTION; count++) {
    probability *= ((k + count) * mean) / ((count + 1) * (k + mean));
    sums.push(sums[count]! + probability);
  }
  return Float64Array.from(sums);
}

/** The first position whose sum is above a number; the last position if there is none. */
function firstAbove(sums: Float64Array, number: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! > number) high = middle;
    else low = middle + 1;
  }
  return low;
}
