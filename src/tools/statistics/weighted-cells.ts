import { bisectRight } from 'd3-array';
import type { PhiloxSequence } from '../../engine/stimulus/philox.js';

/**
 * Samples cells of a group in proportion to their weights, without replacement. The weights are in a Fenwick tree (Fenwick
 * 1994, doi:10.1002/spe.4380240306). A sampled cell leaves the tree until sampling ends.
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
   * Samples distinct cells.
   * @param except a cell to exclude
   * @returns the cells in the order in which they were sampled
   */
  sample(count: number, random: PhiloxSequence, except?: number): number[] {
    if (this.weights.length === 1) return [0];
    const removed: number[] = [];
    let total = this.#total;
    const remove = (cell: number) => {
      removed.push(cell);
      total -= this.weights[cell]!;
      this.#add(cell, -this.weights[cell]!);
    };
    if (except !== undefined) remove(except);
    for (let k = 0; k < count; k++) remove(this.#cellAt(random.nextBelow(total)));
    for (const cell of removed) this.#add(cell, this.weights[cell]!);
    return except === undefined ? removed : removed.slice(1);
  }

  /** @returns a function that samples one of these cells in proportion to their weights, with replacement */
  picker(cells: readonly number[]): (random: PhiloxSequence) => number {
    let total = 0;
    const lots = cells.map((cell) => (total += this.weights[cell]!));
    return (random) => cells[bisectRight(lots, random.nextBelow(total))]!;
  }

  #add(cell: number, weight: number): void {
    for (let i = cell + 1; i < this.#tree.length; i += i & -i) this.#tree[i]! += weight;
  }

  /** The cell with lot number `lot`, if the lots of all cells are numbered consecutively. */
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
