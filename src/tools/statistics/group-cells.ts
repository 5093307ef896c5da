/**
 * Groups cells by their labels in the tables. A group whose cells have dissimilar connections is split in two, repeatedly,
 * until the cells of each part are similar. Most split groups have untyped cells: without the split, each sampled cell
 * would connect to the partners of all others.
 */
import { least } from 'd3-array';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { type Brain, signsUnder } from '../compiler/brain.js';
import { GROUP_LABELS } from './statistics.js';

/** A group is split if the mean cosine between the profiles of its cells and their centroid is below this. */
const MIN_LIKENESS = { typed: 0.65, untyped: 0.75 };
const MAX_ROUNDS = 12;

/** @returns the neurons of each group, ascending; groups in the order of their names, parts by first neuron */
export function groupCells(brain: Brain): Uint32Array[] {
  const named = groupByName(brain);
  const groupOf = new Uint32Array(brain.neurons.count);
  named.forEach((cells, group) => cells.forEach((cell) => (groupOf[cell] = group)));
  const profiles = profilesOf(brain, groupOf, named.length);
  return named.flatMap((cells) => {
    const typed = brain.neurons.labels.type[cells[0]!] !== '';
    const parts = divide(profiles, cells, typed ? MIN_LIKENESS.typed : MIN_LIKENESS.untyped);
    return parts.sort((a, b) => a[0]! - b[0]!);
  });
}

function groupByName({ neurons }: Brain): Uint32Array[] {
  const columns = [
    ...GROUP_LABELS.map((label) => neurons.labels[label]),
    signsUnder('predicted', neurons),
    signsUnder('corrected', neurons),
  ];
  const groups = new Map<string, number[]>();
  for (let i = 0; i < neurons.count; i++) {
    const name = columns.map((column) => column[i]).join('\t');
    getOrInsert(groups, name, (): number[] => []).push(i);
  }
  // Sorted by code unit, which does not depend on the locale. Untyped cells come first, because their key begins with a tab.
  return [...groups.keys()].sort().map((name) => Uint32Array.from(groups.get(name)!));
}

/** A cell's connections to each group and from each group, as a sparse vector of length 1. */
interface Profile {
  /** Dimensions with a value other than 0, ascending. */
  readonly dimensions: Uint32Array;
  readonly values: Float64Array;
}

/**
 * Every machine gives the same profiles: sums have a fixed order, and the only function is the square root, which IEEE 754
 * defines exactly.
 */
function profilesOf({ neurons, connections }: Brain, groupOf: Uint32Array, groupCount: number): Profile[] {
  const synapsesOf = Array.from({ length: neurons.count }, () => new Map<number, number>());
  const add = (cell: number, dimension: number, synapses: number) =>
    synapsesOf[cell]!.set(dimension, (synapsesOf[cell]!.get(dimension) ?? 0) + synapses);
  const { count, pre, post, synapseCounts } = connections;
  for (let c = 0; c < count; c++) {
    add(pre[c]!, groupOf[post[c]!]!, synapseCounts[c]!);
    add(post[c]!, groupCount + groupOf[pre[c]!]!, synapseCounts[c]!);
  }
  return synapsesOf.map((own) => {
    const dimensions = Uint32Array.from(own.keys()).sort();
    const values = Float64Array.from(dimensions, (dimension) => Math.sqrt(own.get(dimension)!));
    const length = Math.sqrt(values.reduce((squares, value) => squares + value ** 2, 0));
    return { dimensions, values: values.map((value) => value / length) };
  });
}

type Direction = ReturnType<typeof centroidOf>;

/** Splits cells in two, and the parts again, until every part has the required similarity. */
function divide(profiles: readonly Profile[], cells: Uint32Array, minimumLikeness: number): Uint32Array[] {
  if (cells.length === 1) return [cells];
  const centroid = centroidOf(profiles, cells);
  if (centroid.likeness >= minimumLikeness) return [cells];
  const parts = bisect(profiles, cells, centroid);
  if (parts.length === 1) return parts;
  return parts.flatMap((part) => divide(profiles, part, minimumLikeness));
}

/** Spherical 2-means, starting from the cell least similar to the others and the cell least similar to that one. */
function bisect(profiles: readonly Profile[], cells: Uint32Array, centroid: Direction): Uint32Array[] {
  let a = centroidOf(profiles, Uint32Array.of(leastLike(profiles, centroid, cells)));
  let b = centroidOf(profiles, Uint32Array.of(leastLike(profiles, a, cells)));
  let parts: Uint32Array[] = [cells];
  let isNearA = new Uint8Array(cells.length);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = isNearA;
    isNearA = Uint8Array.from(cells, (cell) =>
      cosine(profiles[cell]!, a) >= cosine(profiles[cell]!, b) ? 1 : 0,
    );
    const nearA = cells.filter((_, k) => isNearA[k] === 1);
    const nearB = cells.filter((_, k) => isNearA[k] === 0);
    if (nearA.length === 0 || nearB.length === 0) break;
    parts = [nearA, nearB];
    if (isNearA.every((near, k) => near === before[k])) break;
    a = centroidOf(profiles, nearA);
    b = centroidOf(profiles, nearB);
  }
  return parts;
}

/** @returns the sum of some profiles, scaled to length 1, and the mean cosine between it and the profiles */
function centroidOf(profiles: readonly Profile[], cells: Uint32Array) {
  const sums = new Map<number, number>();
  let connected = 0;
  for (const cell of cells) {
    const { dimensions, values } = profiles[cell]!;
    if (dimensions.length > 0) connected++;
    dimensions.forEach((dimension, k) => sums.set(dimension, (sums.get(dimension) ?? 0) + values[k]!));
  }
  let squares = 0;
  for (const sum of sums.values()) squares += sum ** 2;
  const length = Math.sqrt(squares);
  for (const [dimension, sum] of sums) sums.set(dimension, sum / length);
  // The mean cosine to the direction of a sum of unit vectors is the length of the sum over their number.
  return { values: sums, likeness: connected === 0 ? 1 : length / connected };
}

function cosine({ dimensions, values }: Profile, direction: Direction): number {
  let sum = 0;
  for (let k = 0; k < dimensions.length; k++) sum += values[k]! * (direction.values.get(dimensions[k]!) ?? 0);
  return sum;
}

/** The first cell with the smallest cosine; a cell without connections counts as similar to all. */
function leastLike(profiles: readonly Profile[], direction: Direction, cells: Uint32Array): number {
  const likeness = (cell: number): number =>
    profiles[cell]!.dimensions.length === 0 ? 1 : cosine(profiles[cell]!, direction);
  return least(cells, likeness)!;
}
