import { join } from 'node:path';
import { MAXIMUM_NEURONS, type SourceFile } from '../connectome/connectome.js';
import type { CodedError } from '../errors.js';
import { type CsvRow, readCsv, tableFault } from './csv.js';
import type { MarkedPositions } from './positions.js';
import type { Progress } from './progress.js';

/** Digits of the lower half of a root id. */
const LOW_DIGITS = 9;

/** The neurons of a brain, in ascending order of their root ids. */
export class NeuronIndex {
  /** Index by the halves of an id: a table of connections asks millions of times, and a map of strings takes longer. */
  readonly #byHalves = new Map<number, Map<number, number>>();

  /** @param file lists the neurons */
  constructor(
    readonly ids: readonly string[],
    readonly file: string,
  ) {
    ids.forEach((id, i) => {
      const split = id.length - LOW_DIGITS;
      const high = numberOf(id, 0, split);
      const byLow = this.#byHalves.get(high) ?? new Map<number, number>();
      this.#byHalves.set(high, byLow.set(numberOf(id, split, id.length), i));
    });
  }

  find(id: string): number | undefined {
    const split = id.length - LOW_DIGITS;
    return this.#byHalves.get(numberOf(id, 0, split))?.get(numberOf(id, split, id.length));
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
): { index: NeuronIndex; inOrder: N[] } {
  if (listed.length > MAXIMUM_NEURONS) {
    throw tableFault(file, null, `expected at most ${MAXIMUM_NEURONS} neurons, found ${listed.length}`);
  }
  // Ids have no leading zeros, so a longer one is a larger number.
  const inOrder = [...listed].sort((a, b) => a.id.length - b.id.length || compared(a.id, b.id));
  inOrder.forEach(({ id, line }, i) => {
    const earlier = inOrder[i - 1];
    if (earlier?.id === id) throw duplicate(file, line, id, earlier.line);
  });
  const ids = inOrder.map(({ id }) => id);
  return { index: new NeuronIndex(ids, file), inOrder };
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
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
  neuronIn(row: CsvRow, column: number): number | undefined {
    return this.neurons.find(row.rootId(column));
  }

  /**
   * Reads a table and counts the rows that name a neuron which the brain lacks.
   * @param onRow returns false for such a row
   */
  async read(file: string, columns: readonly string[], onRow: (row: CsvRow) => boolean): Promise<void> {
    let omitted = 0;
    let firstLine = 0;
    const source = await readCsv(join(this.dir, file), columns, this.progress, (row) => {
      if (!onRow(row) && omitted++ === 0) firstLine = row.line;
    });
    this.sources.push(source);
    if (omitted === 0) return;
    const [rows, they] = omitted === 1 ? ['row names', 'it was'] : ['rows name', 'they were'];
    this.remarks.push(
      `${file}: ${omitted} ${rows} a root id that ${this.neurons.file} lacks (first on line ${firstLine}); ${they} left out.`,
    );
  }

  /** Reads a table with at most one row for each neuron; those without one are counted. */
  async readNeuronRows(
    file: string,
    columns: readonly string[],
    onRow: (neuron: number, row: CsvRow) => void,
  ): Promise<void> {
    const { ids } = this.neurons;
    const lineOf = new Map<number, number>();
    await this.read(file, columns, (row) => {
      const neuron = this.neuronIn(row, 0);
      if (neuron === undefined) return false;
      const earlier = lineOf.get(neuron);
      if (earlier !== undefined) throw duplicate(file, row.line, ids[neuron]!, earlier);
      lineOf.set(neuron, row.line);
      onRow(neuron, row);
      return true;
    });
    const without = ids.length - lineOf.size;
    if (without > 0) this.remarks.push(`${file} has no row for ${without} of ${ids.length} neurons.`);
  }

  /** Reads a position for each neuron, the first of several that the release marks on it. */
  async readPositions(file: string): Promise<MarkedPositions> {
    const count = this.neurons.ids.length;
    const marked = { isMarked: new Uint8Array(count), nm: new Int32Array(3 * count) };
    await this.read(file, ['root_id', 'position'], (row) => {
      const neuron = this.neuronIn(row, 0);
      const parts = /^\[ *(\d{1,9}) +(\d{1,9}) +(\d{1,9}) *\]$/.exec(row.text(1));
      if (parts === null) {
        throw row.fault(1, 'three whole numbers in nm, such as [227220 216884 139400]');
      }
      if (neuron === undefined) return false;
      if (marked.isMarked[neuron] === 0) {
        marked.isMarked[neuron] = 1;
        marked.nm.set(parts.slice(1).map(Number), 3 * neuron);
      }
      return true;
    });
    return marked;
  }
}

function duplicate(file: string, line: number, id: string, earlierLine: number): CodedError {
  return tableFault(
    file,
    line,
    `expected one row per neuron, found ${id} a second time (first on line ${earlierLine})`,
  );
}
