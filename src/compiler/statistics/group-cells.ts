/**
 * Cells are grouped by their labels in the tables. A group whose cells have dissimilar connections is then split in two,
 * repeatedly, until the cells of each part are similar. Most of these groups consist of cells without a common type:
 * merged, each cell would connect to the partners of all others.
 */
import { type Brain, signsUnder } from '../brain.js';

/** A group is split if the mean cosine between the profiles of its cells and their centroid is below this. */
const MINIMUM_LIKENESS = { typed: 0.65, untyped: 0.75 };
const MAXIMUM_ROUNDS = 12;
const COUNT_RANGE = 2 ** 16;

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

/**
 * The profile of a cell: its connections to each group and from each group, as a vector of length 1.
 * Sums run in a fixed order and use no function but the square root, which IEEE 754 defines to the last bit.
 */
class Profiles {
  readonly #start: Uint32Array;
  readonly #dimension: Uint32Array;
  readonly #value: Float64Array;
  readonly #a: Direction;
  readonly #b: Direction;

  constructor(brain: Brain, groupOf: Uint32Array, groupCount: number) {
    const { count, pre, post, synapseCounts } = brain.connections;
    const cells = brain.neurons.count;
    this.#a = new Direction(2 * groupCount);
    this.#b = new Direction(2 * groupCount);
    const ends = new Uint32Array(cells + 1);
    for (let c = 0; c < count; c++) {
      ends[pre[c]! + 1]!++;
      ends[post[c]! + 1]!++;
    }
    for (let i = 0; i < cells; i++) ends[i + 1]! += ends[i]!;
    // Group and synapses of each connection, in one number that sorts by group.
    const packed = new Float64Array(2 * count);
    const next = ends.slice(0, cells);
    for (let c = 0; c < count; c++) {
      packed[next[pre[c]!]!++] = groupOf[post[c]!]! * COUNT_RANGE + synapseCounts[c]!;
      packed[next[post[c]!]!++] = (groupCount + groupOf[pre[c]!]!) * COUNT_RANGE + synapseCounts[c]!;
    }
    this.#start = new Uint32Array(cells + 1);
    this.#dimension = new Uint32Array(2 * count);
    this.#value = new Float64Array(2 * count);
    let at = 0;
    for (let i = 0; i < cells; i++) {
      let squares = 0;
      let synapses = 0;
      const own = packed.subarray(ends[i]!, ends[i + 1]!).sort();
      own.forEach((connection, k) => {
        const dimension = Math.floor(connection / COUNT_RANGE);
        synapses += connection % COUNT_RANGE;
        if (k + 1 < own.length && Math.floor(own[k + 1]! / COUNT_RANGE) === dimension) return;
        const value = Math.sqrt(synapses);
        this.#dimension[at] = dimension;
        this.#value[at++] = value;
        squares += value ** 2;
        synapses = 0;
      });
      const length = Math.sqrt(squares);
      for (let k = this.#start[i]!; k < at; k++) this.#value[k]! /= length;
      this.#start[i + 1] = at;
    }
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
      if (this.#start[cell + 1]! > this.#start[cell]!) connected++;
      for (let k = this.#start[cell]!; k < this.#start[cell + 1]!; k++) {
        direction.add(this.#dimension[k]!, this.#value[k]!);
      }
    }
    direction.normalise(connected);
    return direction;
  }

  #cosine(cell: number, { values }: Direction): number {
    let sum = 0;
    for (let k = this.#start[cell]!; k < this.#start[cell + 1]!; k++) {
      sum += this.#value[k]! * values[this.#dimension[k]!]!;
    }
    return sum;
  }

  /** The first cell with the smallest cosine; a cell without connections counts as similar to all. */
  #leastLike(direction: Direction, cells: Uint32Array): number {
    let least = cells[0]!;
    let smallest = Infinity;
    for (const cell of cells) {
      const cosine = this.#start[cell] === this.#start[cell + 1] ? 1 : this.#cosine(cell, direction);
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
