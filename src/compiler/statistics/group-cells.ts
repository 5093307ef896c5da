/**
 * Cells are grouped by their labels in the tables. A group whose cells have dissimilar connections is then split in two,
 * repeatedly, until the cells of each part are similar. Most of these groups consist of cells without a common type:
 * merged, each cell would connect to the partners of all others.
 */
import { type Brain, signsUnder } from '../brain.js';

/** A group is split if the mean cosine between the profiles of its cells and their centroid is below this. */
const MINIMUM_LIKENESS = { typed: 0.65, untyped: 0.75 };
const MAXIMUM_ROUNDS = 12;

/** @returns the neurons of each group, ascending; groups in the order of their names, parts by first neuron */
export function groupCells(brain: Brain): Uint32Array[] {
  const named = groupByName(brain);
  const groupOf = new Uint32Array(brain.neurons.count);
  named.forEach((cells, group) => {
    for (const cell of cells) groupOf[cell] = group;
  });
  const profiles = new Profiles(brain, groupOf, named.length);
  return named.flatMap((cells) => {
    const typed = brain.neurons.types[cells[0]!] !== '';
    return profiles
      .divide(cells, typed ? MINIMUM_LIKENESS.typed : MINIMUM_LIKENESS.untyped)
      .sort((a, b) => a[0]! - b[0]!);
  });
}

function groupByName({ neurons }: Brain): Uint32Array[] {
  const groups = new Map<string, number[]>();
  for (let i = 0; i < neurons.count; i++) {
    const name = [
      neurons.types,
      neurons.sides,
      neurons.superClasses,
      neurons.classes,
      neurons.subClasses,
      signsUnder('predicted', neurons),
      signsUnder('corrected', neurons),
    ]
      .map((column) => column[i])
      .join('\t');
    const cells = groups.get(name);
    if (cells) cells.push(i);
    else groups.set(name, [i]);
  }
  // Sorted by code unit, the same everywhere; untyped cells come first, as their name begins with a tab.
  return [...groups.keys()].sort().map((name) => Uint32Array.from(groups.get(name)!));
}

/** The connections of a cell to each group and from each group, as a vector of length 1. */
interface Profile {
  /** Those that are not 0, ascending. */
  readonly dimensions: Uint32Array;
  readonly values: Float64Array;
}

/** Sums run in a fixed order and use no function but the square root, which IEEE 754 defines to the last bit. */
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

class Profiles {
  readonly #profiles: readonly Profile[];
  readonly #a: Direction;
  readonly #b: Direction;

  constructor(brain: Brain, groupOf: Uint32Array, groupCount: number) {
    this.#profiles = profilesOf(brain, groupOf, groupCount);
    this.#a = new Direction(2 * groupCount);
    this.#b = new Direction(2 * groupCount);
  }

  /** Splits cells in two, and the parts again, until every part has the required similarity. */
  divide(cells: Uint32Array, minimumLikeness: number): Uint32Array[] {
    if (cells.length === 1) return [cells];
    const centroid = this.#setToCentroid(this.#a, cells);
    if (centroid.likeness >= minimumLikeness) return [cells];
    const parts = this.#bisect(cells, centroid);
    return parts.flatMap((part) => (parts.length === 1 ? [part] : this.divide(part, minimumLikeness)));
  }

  /** Spherical 2-means, starting from the cell least similar to the others and the cell least similar to that one. */
  #bisect(cells: Uint32Array, centroid: Direction): Uint32Array[] {
    const first = this.#leastLike(centroid, cells);
    const a = this.#setToCentroid(this.#a, Uint32Array.of(first));
    const b = this.#setToCentroid(this.#b, Uint32Array.of(this.#leastLike(a, cells)));
    let parts: Uint32Array[] = [cells];
    let isNearA = new Uint8Array(cells.length);
    for (let round = 0; round < MAXIMUM_ROUNDS; round++) {
      const before = isNearA;
      isNearA = Uint8Array.from(cells, (cell) => (this.#cosine(cell, a) >= this.#cosine(cell, b) ? 1 : 0));
      const nearA = cells.filter((_, k) => isNearA[k] === 1);
      const nearB = cells.filter((_, k) => isNearA[k] === 0);
      if (nearA.length === 0 || nearB.length === 0) break;
      parts = [nearA, nearB];
      if (isNearA.every((near, k) => near === before[k])) break;
      this.#setToCentroid(a, nearA);
      this.#setToCentroid(b, nearB);
    }
    return parts;
  }

  #setToCentroid(direction: Direction, cells: Uint32Array): Direction {
    direction.clear();
    let connected = 0;
    for (const cell of cells) {
      const { dimensions, values } = this.#profiles[cell]!;
      if (dimensions.length > 0) connected++;
      for (let k = 0; k < dimensions.length; k++) direction.add(dimensions[k]!, values[k]!);
    }
    direction.normalise(connected);
    return direction;
  }

  #cosine(cell: number, direction: Direction): number {
    const { dimensions, values } = this.#profiles[cell]!;
    let sum = 0;
    for (let k = 0; k < dimensions.length; k++) sum += values[k]! * direction.values[dimensions[k]!]!;
    return sum;
  }

  /** The first cell with the smallest cosine; a cell without connections counts as similar to all. */
  #leastLike(direction: Direction, cells: Uint32Array): number {
    let least = cells[0]!;
    let smallest = Infinity;
    for (const cell of cells) {
      const isAlone = this.#profiles[cell]!.dimensions.length === 0;
      const cosine = isAlone ? 1 : this.#cosine(cell, direction);
      if (cosine < smallest) {
        smallest = cosine;
        least = cell;
      }
    }
    return least;
  }
}

/** A sum of profiles, normalized to length 1. Most elements are 0, so it keeps a list of the others. */
class Direction {
  readonly values: Float64Array;
  /** Mean cosine between the profiles added and the direction. */
  likeness = 1;
  readonly #touched: number[] = [];

  constructor(dimensions: number) {
    this.values = new Float64Array(dimensions);
  }

  clear(): void {
    for (const dimension of this.#touched) this.values[dimension] = 0;
    this.#touched.length = 0;
  }

  add(dimension: number, value: number): void {
    if (this.values[dimension] === 0) this.#touched.push(dimension);
    this.values[dimension]! += value;
  }

  normalise(profiles: number): void {
    let squares = 0;
    for (const dimension of this.#touched) squares += this.values[dimension]! ** 2;
    const length = Math.sqrt(squares);
    for (const dimension of this.#touched) this.values[dimension]! /= length;
    // The mean cosine to the direction of a sum of unit vectors is the length of the sum over their number.
    this.likeness = profiles === 0 ? 1 : length / profiles;
  }
}
