import { type RootId, rootIdText } from './csv.js';

const EMPTY = -1;

/**
 * Finds the dense index of a neuron by its root id: an open-addressing hash table over typed arrays, since a
 * table of connections asks millions of times and a Map of strings would need a string for each question.
 */
export class RootIdIndex {
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** Ids are given in halves (see RootId); the index of an id is its place in them. */
  constructor(
    readonly highs: Int32Array,
    readonly lows: Int32Array,
  ) {
    const slotCount = 2 ** Math.ceil(Math.log2(2 * highs.length + 2));
    this.#slots = new Int32Array(slotCount).fill(EMPTY);
    this.#mask = slotCount - 1;
    for (let i = 0; i < highs.length; i++) {
      this.#slots[this.#slotOf(highs[i]!, lows[i]!)] = i;
    }
  }

  /** The index of this id, or -1. */
  find({ high, low }: RootId): number {
    return this.#slots[this.#slotOf(high, low)]!;
  }

  text(index: number): string {
    return rootIdText({ high: this.highs[index]!, low: this.lows[index]! });
  }

  /** All ids, by index. */
  texts(): string[] {
    return Array.from(this.highs, (_, index) => this.text(index));
  }

  /** The slot that holds this id, or the empty one where it would go. */
  #slotOf(high: number, low: number): number {
    // Root ids of one release share their leading digits; both halves are spread by an odd multiplier.
    const hash = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    for (;;) {
      const index = this.#slots[slot]!;
      if (index === EMPTY || (this.lows[index] === low && this.highs[index] === high)) {
        return slot;
      }
      slot = (slot + 1) & this.#mask;
    }
  }
}
