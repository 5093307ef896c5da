import type { PhiloxSequence } from '../../stimulus/philox.js';

/**
 * Samples cells of a group in proportion to their weights, without replacement: a Fenwick tree (Fenwick 1994,
 * doi:10.1002/spe.4380240306) of integer weights, from which a sampled cell is removed until sampling ends.
 */
export class WeightedCells {
  /** tree[i] is the sum of the weights of the last (i & -i) cells up to cell i, counted from 1. */
  readonly #tree: Float64Array;
  readonly #total: number;
  readonly #highestBit: number;

  /** @param weights at least 1 each */
  constructor(readonly weights: Uint32Array) {
    this.#tree = new Float64Array(weights.length + 1);
    let total = 0;
    weights.forEach((weight, cell) => {
      total += weight;
      this.#add(cell, weight);
    });
    this.#total = total;
    this.#highestBit = 1 << (31 - Math.clz32(weights.length));
  }

  get count(): number {
    return this.weights.length;
  }

  /**
   * Samples different cells.
   * @param sampled receives them, in the order they were sampled
   * @param except a cell that is not sampled
   */
  sample(sampled: Uint32Array, count: number, random: PhiloxSequence, except?: number): void {
    if (this.weights.length === 1) {
      sampled[0] = 0;
      return;
    }
    let total = this.#total;
    if (except !== undefined) {
      total -= this.weights[except]!;
      this.#add(except, -this.weights[except]!);
    }
    for (let k = 0; k < count; k++) {
      const cell = this.#cellAt(random.nextBelow(total));
      sampled[k] = cell;
      total -= this.weights[cell]!;
      this.#add(cell, -this.weights[cell]!);
    }
    for (let k = 0; k < count; k++) this.#add(sampled[k]!, this.weights[sampled[k]!]!);
    if (except !== undefined) this.#add(except, this.weights[except]!);
  }

  #add(cell: number, weight: number): void {
    for (let i = cell + 1; i < this.#tree.length; i += i & -i) this.#tree[i]! += weight;
  }

  /** The cell that holds lot number `lot`, where the lots of all cells are numbered consecutively. */
  #cellAt(lot: number): number {
    let cell = 0;
    for (let step = this.#highestBit; step > 0; step >>= 1) {
      if (cell + step < this.#tree.length && this.#tree[cell + step]! <= lot) {
        cell += step;
        lot -= this.#tree[cell]!;
      }
    }
    return cell;
  }
}
