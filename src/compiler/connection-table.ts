import { MAXIMUM_SYNAPSES_PER_CONNECTION } from '../connectome/connectome.js';
import { type ConnectionColumns, MINIMUM_SYNAPSES } from './brain.js';
import { describeValue } from '../errors.js';
import { tableFault } from './csv.js';
import { rowsByPair } from './pair-order.js';
import type { RootIdIndex } from './root-id-index.js';

const INITIAL_CAPACITY = 1 << 20;
/** The fly has some eighty neuropils; more names than this mean that the column holds something else. */
const MAXIMUM_NEUROPIL_CODE = 0xffff;

/** Rows of a connection table (a pair of neurons in one neuropil), to be summed to pairs. */
export class ConnectionTable {
  #count = 0;
  #pre = new Uint32Array(INITIAL_CAPACITY);
  #post = new Uint32Array(INITIAL_CAPACITY);
  #synapses = new Uint32Array(INITIAL_CAPACITY);
  #neuropil = new Uint16Array(INITIAL_CAPACITY);
  #line = new Uint32Array(INITIAL_CAPACITY);
  readonly #neuropils = new Map<string, number>();

  constructor(
    readonly file: string,
    readonly index: RootIdIndex,
  ) {}

  /** @param line where the row stands, for messages */
  add(pre: number, post: number, neuropil: string, synapseCount: number, line: number): void {
    if (this.#count === this.#pre.length) {
      this.#grow();
    }
    const row = this.#count++;
    this.#pre[row] = pre;
    this.#post[row] = post;
    this.#synapses[row] = synapseCount;
    this.#neuropil[row] = this.#neuropilCode(neuropil, line);
    this.#line[row] = line;
  }

  /**
   * Sums each pair over its neuropils and leaves out pairs with fewer synapses than `minimumSynapses`.
   * @throws CodedError TABLE_INVALID for a pair that stands twice in one neuropil or has too many synapses
   */
  summed(minimumSynapses: number): { connections: ConnectionColumns; remarks: string[] } {
    const rows = rowsByPair(
      this.#pre.subarray(0, this.#count),
      this.#post.subarray(0, this.#count),
      this.index.highs.length,
    );
    const pre = new Uint32Array(rows.length);
    const post = new Uint32Array(rows.length);
    const synapseCounts = new Uint16Array(rows.length);
    let count = 0;
    let pairs = 0;
    let synapses = 0;
    let synapsesKept = 0;
    let fewest = Infinity;
    for (let begin = 0, end: number; begin < rows.length; begin = end) {
      const first = rows[begin]!;
      let sum = 0;
      for (end = begin; end < rows.length && this.#order(first, rows[end]!) === 0; end++) {
        const row = rows[end]!;
        for (let i = begin; i < end; i++) {
          this.#requireOtherNeuropil(rows[i]!, row);
        }
        sum += this.#synapses[row]!;
      }
      pairs += 1;
      synapses += sum;
      fewest = Math.min(fewest, sum);
      if (sum < minimumSynapses) {
        continue;
      }
      if (sum > MAXIMUM_SYNAPSES_PER_CONNECTION) {
        throw tableFault(
          this.file,
          this.#line[first]!,
          `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${this.#pairText(first)}, found ${sum}`,
        );
      }
      pre[count] = this.#pre[first]!;
      post[count] = this.#post[first]!;
      synapseCounts[count++] = sum;
      synapsesKept += sum;
    }
    return {
      connections: {
        count,
        pre: pre.slice(0, count),
        post: post.slice(0, count),
        synapseCounts: synapseCounts.slice(0, count),
      },
      remarks: [
        `${this.#count} rows summed over neuropils to ${pairs} pairs of neurons with ${synapses} synapses; ` +
          `${count} pairs with ${minimumSynapses} or more were kept, with ${synapsesKept} synapses.`,
        ...prunedBefore(minimumSynapses, fewest),
      ],
    };
  }

  #order(a: number, b: number): number {
    return this.#pre[a]! - this.#pre[b]! || this.#post[a]! - this.#post[b]!;
  }

  #requireOtherNeuropil(earlier: number, later: number): void {
    if (this.#neuropil[earlier] === this.#neuropil[later]) {
      const neuropil = [...this.#neuropils.keys()][this.#neuropil[later]!]!;
      throw tableFault(
        this.file,
        this.#line[later]!,
        `expected one row for a pair of neurons and a neuropil, found ${this.#pairText(later)} ` +
          `in "${neuropil}" a second time (first on line ${this.#line[earlier]!})`,
      );
    }
  }

  #pairText(row: number): string {
    return `${this.index.text(this.#pre[row]!)} to ${this.index.text(this.#post[row]!)}`;
  }

  #neuropilCode(neuropil: string, line: number): number {
    let code = this.#neuropils.get(neuropil);
    if (code === undefined) {
      code = this.#neuropils.size;
      if (code > MAXIMUM_NEUROPIL_CODE) {
        throw tableFault(
          this.file,
          line,
          `expected at most ${MAXIMUM_NEUROPIL_CODE + 1} names of neuropils, found one more: ${describeValue(neuropil)}`,
        );
      }
      this.#neuropils.set(neuropil, code);
    }
    return code;
  }

  #grow(): void {
    const capacity = 2 * this.#pre.length;
    this.#pre = resized(this.#pre, capacity);
    this.#post = resized(this.#post, capacity);
    this.#synapses = resized(this.#synapses, capacity);
    this.#line = resized(this.#line, capacity);
    const neuropil = new Uint16Array(capacity);
    neuropil.set(this.#neuropil);
    this.#neuropil = neuropil;
  }
}

function resized(values: Uint32Array, capacity: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(capacity);
  larger.set(values);
  return larger;
}

/**
 * @param fewest synapses of any pair in a source
 * @returns a warning where weaker pairs were asked for than the source holds
 */
export function prunedBefore(minimumSynapses: number, fewest: number): string[] {
  return minimumSynapses < Math.min(fewest, MINIMUM_SYNAPSES)
    ? [
        `Pairs with ${minimumSynapses} synapses or more were asked for, but no pair of the tables has fewer ` +
          `than ${fewest}: weaker ones were removed earlier.`,
      ]
    : [];
}
