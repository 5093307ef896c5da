import { join } from 'node:path';
import { MAXIMUM_NEURONS, type SourceFile } from '../connectome/connectome.js';
import type { CodedError } from '../errors.js';
import type { Progress } from './progress.js';
import { type ColumnChoice, readTable } from './read-table.js';
import { type IdValue, tableFault, type TableRow } from './table-row.js';

/** Digits of the lower half of a root id. */
const LOW_DIGITS = 9;
const LOW_RANGE = 10 ** LOW_DIGITS;
/** Factor of a multiplicative hash: 2^32 divided by the golden ratio. */
const GOLDEN = 0x9e3779b1;

/** The neurons of a brain, in ascending order of their root ids. */
export class NeuronIndex {
  /**
   * A hash table of indices by the halves of an id: a table of connections asks up to 300 million times, mostly for what
   * is no neuron, and a map of strings takes ten times as long.
   */
  readonly #slots: Int32Array;
  readonly #high: Float64Array;
  readonly #low: Uint32Array;

  /** @param file lists the neurons */
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

  /** The slot that holds an id, or the empty one where it would be. */
  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(low ^ Math.imul(high | 0, GOLDEN), GOLDEN) >>> 7) & mask;
    for (let i: number; (i = this.#slots[slot]!) >= 0; slot = (slot + 1) & mask) {
      if (this.#low[i] === low && this.#high[i] === high) return slot;
    }
    return slot;
  }
}

/** The number that some digits of an id spell, 0 for none; a loop, since Number() takes longer. */
function numberOf(id: string, begin: number, end: number): number {
  let value = 0;
  for (let i = Math.max(0, begin); i < end; i++) value = 10 * value + (id.charCodeAt(i) & 15);
  return value;
}

/** A row of the file that lists the neurons. */
export interface ListedNeuron {
  readonly id: string;
  /** Its place in the file, for a fault. */
  readonly line: number;
}

/**
 * @param listed neurons in the order of the file
 * @returns an index of the neurons, and their rows in its order
 * @throws CodedError TABLE_INVALID for too many neurons, or one twice
 */
export function indexNeurons<N extends ListedNeuron>(
  file: string,
  listed: readonly N[],
  noun: TableRow['noun'] = 'line',
): { index: NeuronIndex; inOrder: N[] } {
  if (listed.length > MAXIMUM_NEURONS) {
    throw tableFault(file, null, `expected at most ${MAXIMUM_NEURONS} neurons, found ${listed.length}`);
  }
  // Ids have no leading zeros, so a longer one is a larger number.
  const inOrder = [...listed].sort(
    (a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : Number(a.id > b.id)),
  );
  inOrder.forEach(({ id, line }, i) => {
    const earlier = inOrder[i - 1];
    if (earlier?.id === id) throw duplicate(file, noun, line, id, earlier.line);
  });
  const ids = inOrder.map(({ id }) => id);
  return { index: new NeuronIndex(ids, file), inOrder };
}

/** Reads the tables of one directory, whose rows refer to neurons by root id. */
export class TableReader {
  readonly sources: SourceFile[] = [];
  /** Sentences on omitted rows. */
  readonly remarks: string[] = [];

  constructor(
    readonly dir: string,
    readonly neurons: NeuronIndex,
    readonly progress: Progress,
  ) {}

  /** The neuron whose root id a column holds; undefined where the brain lacks it. */
  neuronIn(row: TableRow, column: number): number | undefined {
    return this.neurons.find(row.id(column));
  }

  /**
   * Reads a table and counts the rows that name a neuron which the brain lacks.
   * @param onRow returns false for such a row
   */
  async read(path: string, columns: ColumnChoice, onRow: (row: TableRow) => boolean): Promise<void> {
    let omitted = 0;
    let first = '';
    const source = await readTable(join(this.dir, path), columns, this.progress, (row) => {
      if (!onRow(row) && omitted++ === 0) first = firstAt(row.noun, row.at);
    });
    this.sources.push(source);
    if (omitted === 0) return;
    const [rows, they] = omitted === 1 ? ['row names', 'it was'] : ['rows name', 'they were'];
    this.remarks.push(
      `${source.file}: ${omitted} ${rows} a root id that ${this.neurons.file} lacks (${first}); ${they} left out.`,
    );
  }

  /**
   * Reads a table with rows of neurons; neurons without one are counted where each should have one.
   * @param several whether a neuron may have several rows
   */
  async readNeuronRows(
    file: string,
    columns: ColumnChoice,
    several: boolean,
    onRow: (neuron: number, row: TableRow) => void,
  ): Promise<void> {
    const { ids } = this.neurons;
    const placeOf = new Map<number, number>();
    await this.read(file, columns, (row) => {
      const neuron = this.neuronIn(row, 0);
      if (neuron === undefined) return false;
      const earlier = placeOf.get(neuron);
      if (earlier !== undefined && !several) throw duplicate(file, row.noun, row.at, ids[neuron]!, earlier);
      placeOf.set(neuron, row.at);
      onRow(neuron, row);
      return true;
    });
    const without = ids.length - placeOf.size;
    if (without > 0 && !several) {
      this.remarks.push(`${file} has no row for ${without} of ${ids.length} neurons.`);
    }
  }
}

/** Words for the place of an earlier row. */
function firstAt(noun: TableRow['noun'], place: number | string): string {
  return `first ${noun === 'line' ? 'on' : 'in'} ${noun} ${place}`;
}

function duplicate(
  file: string,
  noun: TableRow['noun'],
  place: number,
  id: string,
  earlier: number,
): CodedError {
  return tableFault(
    file,
    `${noun} ${place}`,
    `expected one row per neuron, found ${id} a second time (${firstAt(noun, earlier)})`,
  );
}
