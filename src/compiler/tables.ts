/**
 * Reads the public tables of release 783, in the layout of Codex, into a Brain. What is a property of the
 * release is reported in its provenance; what is a fault of a table is an error with file and line.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from '../connectome/connectome.js';
import { MAXIMUM_NEURONS, SIDES } from '../connectome/connectome.js';
import { type Brain, MINIMUM_SYNAPSES, type NeuronColumns } from './brain.js';
import { ConnectionTable } from './connection-table.js';
import { type CsvRow, readCsv, type RootId, tableFault } from './csv.js';
import { positionsOf, type MarkedPositions } from './positions.js';
import { type Progress, silent } from './progress.js';
import { RootIdIndex } from './root-id-index.js';
import { readSignRules, signsBy, type Transmitter } from './signs.js';

export const TABLE_FILES = [
  'neurons.csv.gz',
  'classification.csv.gz',
  'consolidated_cell_types.csv.gz',
  'coordinates.csv.gz',
  'connections.csv.gz',
] as const;

/** Not part of the release; used where it lies beside the tables. */
const ESTIMATED_POSITIONS_FILE = 'estimated_positions.csv.gz';

/** Columns of neurons.csv with the average prediction for each transmitter; of equal ones the first counts. */
const AVERAGES = [
  ['da_avg', 'DA'],
  ['ser_avg', 'SER'],
  ['gaba_avg', 'GABA'],
  ['glut_avg', 'GLUT'],
  ['ach_avg', 'ACH'],
  ['oct_avg', 'OCT'],
] as const;
const TRANSMITTERS: readonly string[] = AVERAGES.map(([, transmitter]) => transmitter);

/**
 * @param dir holds TABLE_FILES
 * @param minimumSynapses pairs of neurons with fewer are left out
 * @throws CodedError TABLE_INVALID
 */
export async function readTables(
  dir: string,
  progress: Progress = silent,
  minimumSynapses = MINIMUM_SYNAPSES,
): Promise<Brain> {
  const tables = new TableReader(dir, progress);
  const { index, transmitters } = await tables.readNeurons();
  const count = transmitters.length;

  const superClasses = new Array<string>(count).fill('');
  const classes = new Array<string>(count).fill('');
  const subClasses = new Array<string>(count).fill('');
  const sides = new Array<string>(count).fill('');
  await tables.readNeuronRows(
    'classification.csv.gz',
    ['root_id', 'super_class', 'class', 'sub_class', 'side'],
    'one row a neuron',
    (neuron, row) => {
      superClasses[neuron] = tables.shared(row.text(1));
      classes[neuron] = tables.shared(row.text(2));
      subClasses[neuron] = tables.shared(row.text(3));
      sides[neuron] = tables.shared(row.text(4));
      if (!(SIDES as readonly string[]).includes(sides[neuron])) {
        throw row.fault(4, 'left, right, center or nothing');
      }
    },
  );

  const types = new Array<string>(count).fill('');
  await tables.readNeuronRows(
    'consolidated_cell_types.csv.gz',
    ['root_id', 'primary_type'],
    'one row a neuron',
    (neuron, row) => (types[neuron] = tables.shared(row.text(1))),
  );

  const measured = await tables.readPositions('coordinates.csv.gz');
  const estimated = existsSync(join(dir, ESTIMATED_POSITIONS_FILE))
    ? await tables.readPositions(ESTIMATED_POSITIONS_FILE)
    : null;

  const connections = await tables.readConnections(minimumSynapses);

  const signs = { predicted: new Int8Array(count), corrected: new Int8Array(count) };
  const rules = readSignRules();
  const predicted = signsBy(rules, 'predicted');
  const corrected = signsBy(rules, 'corrected');
  for (let i = 0; i < count; i++) {
    const neuron = {
      type: types[i]!,
      class: classes[i]!,
      sub_class: subClasses[i]!,
      super_class: superClasses[i]!,
      transmitter: transmitters[i]!,
    };
    signs.predicted[i] = predicted(neuron);
    signs.corrected[i] = corrected(neuron);
  }

  const labels = { types, superClasses, classes, sides };
  const neurons: NeuronColumns = {
    count,
    ids: Array.from({ length: count }, (_, i) => index.text(i)),
    ...labels,
    subClasses,
    signs,
    ...positionsOf(labels, measured, estimated),
  };
  return {
    wiring: 'measured',
    neurons,
    connections,
    minimumSynapses,
    sources: tables.sources,
    transmitterCounts: transmitterCounts(transmitters),
    provenance: [
      'Wiring of release 783 of the FlyWire connectome, compiled from tables in the layout of Codex.',
      ...tables.remarks,
    ],
  };
}

/** Reads the tables of one directory, whose rows refer to neurons by root id. */
class TableReader {
  readonly sources: SourceFile[] = [];
  /** What was left out on the way, in sentences. */
  readonly remarks: string[] = [];
  readonly #texts = new Map<string, string>();
  #index: RootIdIndex;

  constructor(
    readonly dir: string,
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

  /** @returns neurons in ascending order of their ids */
  async readNeurons(): Promise<{ index: RootIdIndex; transmitters: Transmitter[] }> {
    const file = 'neurons.csv.gz';
    const highs: number[] = [];
    const lows: number[] = [];
    const lines: number[] = [];
    const transmitters: Transmitter[] = [];
    const columns = ['root_id', 'nt_type', ...AVERAGES.map(([column]) => column)];
    await this.#read(file, columns, (row) => {
      const { high, low } = row.rootId(0);
      highs.push(high);
      lows.push(low);
      lines.push(row.line);
      transmitters.push(transmitterOf(row));
    });
    const count = highs.length;
    if (count > MAXIMUM_NEURONS) {
      throw tableFault(file, null, `expected at most ${MAXIMUM_NEURONS} neurons, found ${count}`);
    }
    const order = Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => highs[a]! - highs[b]! || lows[a]! - lows[b]! || a - b,
    );
    this.#index = new RootIdIndex(
      Int32Array.from(order, (i) => highs[i]!),
      Int32Array.from(order, (i) => lows[i]!),
    );
    for (let place = 1; place < count; place++) {
      const [earlier, later] = [order[place - 1]!, order[place]!];
      if (highs[earlier] === highs[later] && lows[earlier] === lows[later]) {
        throw duplicate(file, lines[later]!, 'one row a neuron', this.#index.text(place), lines[earlier]!);
      }
    }
    return { index: this.#index, transmitters: order.map((i) => transmitters[i]!) };
  }

  /** Reads a table with at most one row for each neuron; rows of neurons that neurons.csv lacks are counted. */
  async readNeuronRows(
    file: string,
    columns: readonly string[],
    expected: string,
    onRow: (neuron: number, row: CsvRow) => void,
  ): Promise<void> {
    const seenOn = new Int32Array(this.#index.highs.length);
    const unknown = new UnknownIds(file);
    await this.#read(file, columns, (row) => {
      const neuron = this.#find(row, 0, unknown);
      if (neuron < 0) {
        return;
      }
      if (seenOn[neuron] !== 0) {
        throw duplicate(file, row.line, expected, this.#index.text(neuron), seenOn[neuron]!);
      }
      seenOn[neuron] = row.line;
      onRow(neuron, row);
    });
    this.#remark(unknown);
    const without = seenOn.reduce((sum, line) => sum + (line === 0 ? 1 : 0), 0);
    if (without > 0) {
      this.remarks.push(`${file} has no row for ${without} of ${seenOn.length} neurons.`);
    }
  }

  /** Of several points that the release marks on a neuron, the first counts. */
  async readPositions(file: string): Promise<MarkedPositions> {
    const marked = { isMarked: new Uint8Array(this.#index.highs.length), nm: new Int32Array(0) };
    marked.nm = new Int32Array(3 * marked.isMarked.length);
    const unknown = new UnknownIds(file);
    await this.#read(file, ['root_id', 'position'], (row) => {
      const neuron = this.#find(row, 0, unknown);
      const parts = /^\[ *(\d{1,9}) +(\d{1,9}) +(\d{1,9}) *\]$/.exec(row.text(1));
      if (parts === null) {
        throw row.fault(1, 'three whole numbers of nm as in [227220 216884 139400]');
      }
      if (neuron >= 0 && marked.isMarked[neuron] === 0) {
        marked.isMarked[neuron] = 1;
        marked.nm.set([Number(parts[1]), Number(parts[2]), Number(parts[3])], 3 * neuron);
      }
    });
    this.#remark(unknown);
    return marked;
  }

  async readConnections(minimumSynapses: number) {
    const file = 'connections.csv.gz';
    const table = new ConnectionTable(file, this.#index);
    const unknown = new UnknownIds(file);
    let lastHigh = -1;
    let lastLow = -1;
    let pre = -1;
    await this.#read(file, ['pre_root_id', 'post_root_id', 'neuropil', 'syn_count'], (row) => {
      // Rows of one presynaptic neuron stand together, so most questions need not be asked.
      const preId = row.rootId(0);
      if (preId.low !== lastLow || preId.high !== lastHigh) {
        lastHigh = preId.high;
        lastLow = preId.low;
        pre = this.#index.find(preId);
      }
      const post = this.#index.find(row.rootId(1));
      const synapseCount = row.count(3);
      if (pre < 0 || post < 0) {
        unknown.add(row.line);
        return;
      }
      table.add(pre, post, row.name(2), synapseCount, row.line);
    });
    this.#remark(unknown);
    this.progress.begin('Summing the synapses of each pair', 0, 'items');
    const { connections, remarks } = table.summed(minimumSynapses);
    this.remarks.push(...remarks);
    return connections;
  }

  async #read(file: string, columns: readonly string[], onRow: (row: CsvRow) => void): Promise<void> {
    this.sources.push(await readCsv(join(this.dir, file), columns, this.progress, onRow));
  }

  #find(row: CsvRow, column: number, unknown: UnknownIds): number {
    const id: RootId = row.rootId(column);
    const neuron = this.#index.find(id);
    if (neuron < 0) {
      unknown.add(row.line);
    }
    return neuron;
  }

  #remark(unknown: UnknownIds): void {
    if (unknown.count > 0) {
      this.remarks.push(unknown.sentence());
    }
  }
}

class UnknownIds {
  count = 0;
  #firstLine = 0;

  constructor(readonly file: string) {}

  add(line: number): void {
    this.count += 1;
    if (this.count === 1) {
      this.#firstLine = line;
    }
  }

  sentence(): string {
    const [rows, they] = this.count === 1 ? ['row names', 'it was'] : ['rows name', 'they were'];
    return `${this.file}: ${this.count} ${rows} a root id that neurons.csv.gz lacks (first on line ${this.#firstLine}); ${they} left out.`;
  }
}

function transmitterOf(row: CsvRow): Transmitter {
  const named = row.text(1);
  if (named !== '') {
    if (!TRANSMITTERS.includes(named)) {
      throw row.fault(1, `one of ${TRANSMITTERS.join(', ')} or nothing`);
    }
    return named as Transmitter;
  }
  let best: Transmitter = '';
  let bestAverage = 0;
  AVERAGES.forEach(([, transmitter], i) => {
    const average = row.fraction(2 + i);
    if (average > bestAverage) {
      best = transmitter;
      bestAverage = average;
    }
  });
  return best;
}

function transmitterCounts(transmitters: readonly Transmitter[]): Record<string, number> {
  const counts = Object.fromEntries([...TRANSMITTERS, 'unknown'].map((name) => [name, 0]));
  for (const transmitter of transmitters) {
    counts[transmitter || 'unknown']! += 1;
  }
  return counts;
}

function duplicate(file: string, line: number, expected: string, found: string, earlierLine: number) {
  return tableFault(
    file,
    line,
    `expected ${expected}, found ${found} a second time (first on line ${earlierLine})`,
  );
}
