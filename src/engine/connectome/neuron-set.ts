import { positionOf } from './sorted-array.js';

const WORD_BITS = 32;
/** The shift from a neuron to its word, and the mask for its bit in the word. */
const WORD_SHIFT = Math.log2(WORD_BITS);
const BIT_MASK = WORD_BITS - 1;
export const NO_NEURONS = new Uint32Array(0);

/**
 * An immutable set of neurons of one brain. A small set is a list of indices; a large set has a bit for each neuron of
 * the brain. Selectors need both: one may combine thousands of types, or hundreds of sets as large as the brain.
 */
export class NeuronSet {
  private constructor(
    private readonly count: number,
    /** Ascending. */
    private readonly list: Uint32Array | undefined,
    /** Used if there is no list. */
    private readonly bits = NO_NEURONS,
  ) {}

  /**
   * @param neurons ascending indices
   * @param count the number of neurons in the brain
   */
  static of(neurons: Uint32Array, count: number): NeuronSet {
    return isSmall(neurons.length, count)
      ? new NeuronSet(count, neurons)
      : NeuronSet.#ofBits(count, (bits) => setBits(bits, neurons));
  }

  /** @param sets at least one set */
  static union(sets: readonly NeuronSet[]): NeuronSet {
    const { count } = sets[0]!;
    if (sets.length === 1) return sets[0]!;
    const total = sets.reduce((sum, { list }) => sum + (list?.length ?? count), 0);
    // Then each set has a list: one without counts as the whole brain.
    if (isSmall(total, count)) {
      const all = Uint32Array.from(sets.flatMap(({ list }) => [...list!])).sort();
      return new NeuronSet(
        count,
        all.filter((neuron, at) => neuron !== all[at - 1]),
      );
    }
    return NeuronSet.#ofBits(count, (bits) => {
      for (const { list, bits: own } of sets) {
        if (list === undefined) for (let at = 0; at < bits.length; at++) bits[at]! |= own[at]!;
        else setBits(bits, list);
      }
    });
  }

  /** @param sets at least one set */
  static intersection(sets: readonly NeuronSet[]): NeuronSet {
    return sets.reduce((left, right) => {
      const [small, other] = left.list === undefined ? [right, left] : [left, right];
      if (small.list !== undefined) return small.#filtered((neuron) => other.has(neuron));
      return NeuronSet.#ofBits(left.count, (bits) => {
        for (let at = 0; at < bits.length; at++) bits[at] = left.bits[at]! & right.bits[at]!;
      });
    });
  }

  without(excepted: NeuronSet): NeuronSet {
    if (this.list !== undefined) return this.#filtered((neuron) => !excepted.has(neuron));
    return NeuronSet.#ofBits(this.count, (bits) => {
      if (excepted.list !== undefined) setBits(bits, excepted.list);
      const minus = excepted.list === undefined ? excepted.bits : bits;
      for (let at = 0; at < bits.length; at++) bits[at] = this.bits[at]! & ~minus[at]!;
    });
  }

  get isEmpty(): boolean {
    return this.list === undefined ? this.bits.every((word) => word === 0) : this.list.length === 0;
  }

  get size(): number {
    if (this.list !== undefined) return this.list.length;
    let size = 0;
    for (let left of this.bits) for (; left !== 0; left &= left - 1) size++;
    return size;
  }

  has(neuron: number): boolean {
    const { list } = this;
    if (list !== undefined) return positionOf(list, neuron) >= 0;
    return (this.bits[neuron >>> WORD_SHIFT]! & (1 << (neuron & BIT_MASK))) !== 0;
  }

  /** Ascending. */
  toIndices(): Uint32Array {
    if (this.list !== undefined) return this.list;
    const { bits } = this;
    const indices = new Uint32Array(this.count);
    let size = 0;
    for (let at = 0; at < bits.length; at++) {
      for (let left = bits[at]!; left !== 0; left &= left - 1) {
        indices[size++] = at * WORD_BITS + BIT_MASK - Math.clz32(left & -left);
      }
    }
    return indices.slice(0, size);
  }

  #filtered(isWanted: (neuron: number) => boolean): NeuronSet {
    return new NeuronSet(this.count, this.list!.filter(isWanted));
  }

  static #ofBits(count: number, fill: (bits: Uint32Array) => void): NeuronSet {
    const bits = new Uint32Array(Math.ceil(count / WORD_BITS));
    fill(bits);
    return new NeuronSet(count, undefined, bits);
  }
}

/**
 * Unites ascending lists of neurons; the result ascends.
 * @param count the number of neurons in the brain
 */
export function unionOf(lists: readonly Uint32Array[], count: number): Uint32Array {
  if (lists.length < 2) return lists[0] ?? NO_NEURONS;
  return NeuronSet.union(lists.map((list) => NeuronSet.of(list, count))).toIndices();
}

/** True if a list takes less memory than the bits. */
function isSmall(size: number, count: number): boolean {
  return size * WORD_BITS < count;
}

function setBits(bits: Uint32Array, neurons: Uint32Array): void {
  for (let k = 0; k < neurons.length; k++) bits[neurons[k]! >>> WORD_SHIFT]! |= 1 << (neurons[k]! & BIT_MASK);
}
