import { join } from 'node:path';
import type { SourceFile } from '../connectome/connectome.js';
import { MAXIMUM_NEURONS } from '../connectome/connectome.js';
import { type CsvRow, readCsv, type RootId, tableFault } from './csv.js';
import type { MarkedPositions } from './positions.js';
import type { Progress } from './progress.js';
import { RootIdIndex } from './root-id-index.js';

/** The neurons of a brain as a file lists them: the halves of their root ids (see RootId), and their lines. */
export class NeuronList {
  readonly #highs: number[] = [];
  readonly #lows: number[] = [];
  readonly #lines: number[] = [];

  constructor(readonly file: string) {}

  add({ high, low }: RootId, line: number): void {
    this.#highs.push(high);
    this.#lows.push(low);
    this.#lines.push(line);
  }

  /**
   * @returns an index of the neurons in ascending order of their ids, and the place in the file of each of them
   * @throws CodedError TABLE_INVALID for too many neurons, or one twice
   */
  ascending(): { index: RootIdIndex; order: number[] } {
    const [highs, lows, lines] = [this.#highs, this.#lows, this.#lines];
    const count = highs.length;
    if (count > MAXIMUM_NEURONS) {
      throw tableFault(this.file, null, `expected at most ${MAXIMUM_NEURONS} neurons, found ${count}`);
    }
    const order = Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => highs[a]! - highs[b]! || lows[a]! - lows[b]! || a - b,
    );
    const index = new RootIdIndex(
      Int32Array.from(order, (i) => highs[i]!),
      Int32Array.from(order, (i) => lows[i]!),
    );
    for (let place = 1; place < count; place++) {
      const [earlier, later] = [order[place - 1]!, order[place]!];
      if (highs[earlier] === highs[later] && lows[earlier] === lows[later]) {
        throw duplicate(this.file, lines[later]!, 'one row per neuron', index.text(place), lines[earlier]!);
      }
    }
    return { index, order };
  }
}

/** Reads the tables of one directory, whose rows refer to neurons by root id. */
export class TableReader {
  readonly sources: SourceFile[] = [];
  /** Sentences on omitted rows. */
  readonly remarks: string[] = [];
  readonly #texts = new Map<string, string>();

  /**
   * @param index the neurons of the brain
   * @param neuronFile the file that listed them, for messages
   */
  constructor(
    readonly dir: string,
    readonly index: RootIdIndex,
    readonly neuronFile: string,
    readonly progress: Progress,
  ) {}

  /** The same text for equal texts: a hundred thousand neurons share a few labels. */
  shared(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) {
      return known;
    }
    this.#texts.set(text, text);
    return text;
  }

  /** Reads a table with at most one row for each neuron; rows of other neurons are counted. */
  async readNeuronRows(
    file: string,
    columns: readonly string[],
    expected: string,
    onRow: (neuron: number, row: CsvRow) => void,
  ): Promise<void> {
    const seenOn = new Int32Array(this.index.highs.length);
    const unknown = new UnknownIds(file, this.neuronFile);
    await this.read(file, columns, (row) => {
      const neuron = this.#find(row, 0, unknown);
      if (neuron < 0) {
        return;
      }
      if (seenOn[neuron] !== 0) {
        throw duplicate(file, row.line, expected, this.index.text(neuron), seenOn[neuron]!);
      }
      seenOn[neuron] = row.line;
      onRow(neuron, row);
    });
    this.remark(unknown);
    const without = seenOn.reduce((sum, line) => sum + (line === 0 ? 1 : 0), 0);
    if (without > 0) {
      this.remarks.push(`${file} has no row for ${without} of ${seenOn.length} neurons.`);
    }
  }

  /** Of several points that the release marks on a neuron, the first counts. */
  async readPositions(file: string): Promise<MarkedPositions> {
    const marked = { isMarked: new Uint8Array(this.index.highs.length), nm: new Int32Array(0) };
    marked.nm = new Int32Array(3 * marked.isMarked.length);
    const unknown = new UnknownIds(file, this.neuronFile);
    await this.read(file, ['root_id', 'position'], (row) => {
      const neuron = this.#find(row, 0, unknown);
      const parts = /^\[ *(\d{1,9}) +(\d{1,9}) +(\d{1,9}) *\]$/.exec(row.text(1));
      if (parts === null) {
        throw row.fault(1, 'three whole numbers in nm, such as [227220 216884 139400]');
      }
      if (neuron >= 0 && marked.isMarked[neuron] === 0) {
        marked.isMarked[neuron] = 1;
        marked.nm.set([Number(parts[1]), Number(parts[2]), Number(parts[3])], 3 * neuron);
      }
    });
    this.remark(unknown);
    return marked;
  }

  async read(file: string, columns: readonly string[], onRow: (row: CsvRow) => void): Promise<void> {
    this.sources.push(await readCsv(join(this.dir, file), columns, this.progress, onRow));
  }

  #find(row: CsvRow, column: number, unknown: UnknownIds): number {
    const id: RootId = row.rootId(column);
    const neuron = this.index.find(id);
    if (neuron < 0) {
      unknown.add(row.line);
    }
    return neuron;
  }

  remark(unknown: UnknownIds): void {
    if (unknown.count > 0) {
      this.remarks.push(unknown.sentence());
    }
  }
}

/** Counts rows of a table that name a neuron which the brain does not have. */
export class UnknownIds {
  count = 0;
  #firstLine = 0;

  constructor(
    readonly file: string,
    readonly neuronFile: string,
  ) {}

  add(line: number): void {
    this.count += 1;
    if (this.count === 1) {
      this.#firstLine = line;
    }
  }

  sentence(): string {
    const [rows, they] = this.count === 1 ? ['row names', 'it was'] : ['rows name', 'they were'];
    return `${this.file}: ${this.count} ${rows} a root id that ${this.neuronFile} lacks (first on line ${this.#firstLine}); ${they} left out.`;
  }
}

function duplicate(file: string, line: number, expected: string, found: string, earlierLine: number) {
  return tableFault(
    file,
    line,
    `expected ${expected}, found ${found} a second time (first on line ${earlierLine})`,
  );
}
