import type { IdValue } from './table-row.js';

/** Digits of the lower half of a root id. */
const LOW_DIGITS = 9;
const LOW_RANGE = 10 ** LOW_DIGITS;
/** Factor of a multiplicative hash: 2^32 divided by the golden ratio. */
const GOLDEN = 0x9e3779b1;

/** Finds the neurons of a brain by their root ids. */
export class NeuronIds {
  /**
   * A hash table from the two halves of an id to the neuron's index. A table of connections needs up to 300 million
   * lookups, and a Map with strings takes ten times as long.
   */
  readonly #slots: Int32Array;
  readonly #high: Float64Array;
  readonly #low: Uint32Array;

  /**
   * @param ids ascending as numbers
   * @param file name of the table that lists the neurons, for messages
   */
  constructor(
    readonly ids: readonly string[],
    readonly file: string,
  ) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(4 * ids.length + 1))).fill(-1);
    this.#high = new Float64Array(ids.length);
    this.#low = new Uint32Array(ids.length);
    ids.forEach((id, i) => {
      const split = id.length - LOW_DIGITS;
      this.#high[i] = numberOf(id, 0, split);
      this.#low[i] = numberOf(id, split, id.length);
      this.#slots[this.#slotOf(this.#high[i], this.#low[i])] = i;
    });
  }

  find(id: IdValue): number | undefined {
    let slot: number;
    if (typeof id === 'number') {
      const high = Math.floor(id / LOW_RANGE);
      slot = this.#slotOf(high, id - high * LOW_RANGE);
    } else {
      const text = typeof id === 'bigint' ? String(id) : id;
      const split = text.length - LOW_DIGITS;
      slot = this.#slotOf(numberOf(text, 0, split), numberOf(text, split, text.length));
    }
    const neuron = this.#slots[slot]!;
    return neuron < 0 ? undefined : neuron;
  }

  /** The slot that holds an id, or the empty slot for it. */
  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(low ^ Math.imul(high | 0, GOLDEN), GOLDEN) >>> 7) & mask;
    for (let i: number; (i = this.#slots[slot]!) >= 0; slot = (slot + 1) & mask) {
      if (this.#low[i] === low && this.#high[i] === high) return slot;
    }
    return slot;
  }
}

/**
 * The value of a range of digits, 0 for an empty range. A loop, because Number() takes longer. TableRow.id has refused
 * text with other characters.
 */
function numberOf(id: string, begin: number, end: number): number {
  let value = 0;
  for (let i = Math.max(0, begin); i < end; i++) value = 10 * value + (id.charCodeAt(i) & 15);
  return value;
}
