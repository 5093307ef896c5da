/** The rows of a sparse matrix: connections grouped by their source or target. */
import { MAX_SYNAPSES_PER_CONNECTION } from './connectome.js';

const SYNAPSES_RANGE = MAX_SYNAPSES_PER_CONNECTION + 1;

/**
 * Sorts items by key in a stable counting sort.
 * @param keys the key of each item, below `keyCount`
 * @returns the items; those with key k are at start[k] to start[k + 1] - 1
 */
export function rowsByKey(keys: Uint32Array, keyCount: number): { start: Uint32Array; items: Uint32Array } {
  const start = new Uint32Array(keyCount + 1);
  // Plain loops: for…of over a typed array costs several times as much.
  for (let item = 0; item < keys.length; item++) start[keys[item]! + 1]! += 1;
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!;
  const next = start.slice();
  const items = new Uint32Array(keys.length);
  for (let item = 0; item < keys.length; item++) items[next[keys[item]!]!++] = item;
  return { start, items };
}

/** Sorts the connections of each row by target, in place. */
export function sortRows(rowStart: Uint32Array, targets: Uint32Array, synapseCounts: Uint16Array): void {
  // Packs target and synapse count into a number of 32 bits, so that sorting numbers sorts connections.
  const packed = new Uint32Array(targets.length);
  for (let k = 0; k < packed.length; k++) packed[k] = targets[k]! * SYNAPSES_RANGE + synapseCounts[k]!;
  for (let row = 0; row + 1 < rowStart.length; row++)
    packed.subarray(rowStart[row], rowStart[row + 1]).sort();
  for (let k = 0; k < packed.length; k++) {
    targets[k] = Math.floor(packed[k]! / SYNAPSES_RANGE);
    synapseCounts[k] = packed[k]! % SYNAPSES_RANGE;
  }
}
