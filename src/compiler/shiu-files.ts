/**
 * Reads the two files from which Shiu et al. 2024 built their model: a list of neurons, and a table of all pairs of
 * neurons with their synapses and signs, which refers to the neurons by their places in that list.
 */
import { MAXIMUM_SYNAPSES_PER_CONNECTION, type SourceFile } from '../connectome/connectome.js';
import { type Brain, type ConnectionColumns, MINIMUM_SYNAPSES } from './brain.js';
import { prunedBefore } from './connection-table.js';
import { readCsv } from './csv.js';
import { noLabels, readLabels } from './labels.js';
import { rowsByPair } from './pair-order.js';
import { ParquetTable, rowFault } from './parquet.js';
import { positionsOf } from './positions.js';
import { type Progress, silent } from './progress.js';
import type { RootIdIndex } from './root-id-index.js';
import { NeuronList, TableReader } from './table-reader.js';

/** Of the file that was published for release 783. */
const PUBLISHED_CONNECTIVITY_SHA256 = 'efeb23fb99098e9c390f6869969b2a121a2ee92c833cfc45ecb2c1d8e1af0347';

const ENDS = [
  { index: 'Presynaptic_Index', id: 'Presynaptic_ID' },
  { index: 'Postsynaptic_Index', id: 'Postsynaptic_ID' },
] as const;
const SYNAPSES = 'Connectivity';
const SIGN = 'Excitatory';
/** What their model takes for the weight of a connection. */
const SIGNED_SYNAPSES = 'Excitatory x Connectivity';
const COLUMNS = [...ENDS.flatMap(({ index, id }) => [index, id]), SYNAPSES, SIGN, SIGNED_SYNAPSES];

const NO_ROW = 0xffffffff;

export interface ShiuFiles {
  /** Connectivity_783.parquet, or a file of its form. */
  readonly connectivity: string;
  /** Completeness_783.csv: its first column, which has no name, lists the root ids. */
  readonly completeness: string;
  /** A directory with the tables of Codex that have types, classes, sides and positions. */
  readonly tables?: string | undefined;
}

/**
 * @param minimumSynapses pairs of neurons with fewer are omitted
 * @returns a brain whose signs are those that the file gives
 * @throws CodedError TABLE_INVALID
 */
export async function readShiuFiles(
  files: ShiuFiles,
  progress: Progress = silent,
  minimumSynapses = MINIMUM_SYNAPSES,
): Promise<Brain> {
  const neurons = await readNeurons(files.completeness, progress);
  const { index } = neurons;
  const table = await ParquetTable.open(files.connectivity, COLUMNS);
  const { connections, signs, remark, fewest } = await readPairs(table, neurons, progress, minimumSynapses);
  const connectivity = await table.source();
  const tables =
    files.tables === undefined ? null : new TableReader(files.tables, index, neurons.source.file, progress);
  const labels = tables === null ? unlabelled(index) : await readLabels(tables);
  return {
    wiring: 'measured',
    neurons: { count: index.highs.length, ids: index.texts(), ...labels, signs: { 'as given': signs } },
    connections,
    minimumSynapses,
    sources: [neurons.source, connectivity, ...(tables?.sources ?? [])],
    provenance: [
      'Wiring of the FlyWire connectome, compiled from a connectivity file of Shiu et al. 2024, with its signs.',
      connectivity.sha256 === PUBLISHED_CONNECTIVITY_SHA256
        ? 'The connectivity file is the one that was published for release 783.'
        : 'The connectivity file is not the one that was published for release 783: its SHA-256 is another.',
      remark,
      ...prunedBefore(minimumSynapses, fewest),
      ...(tables?.remarks ?? [
        'No tables were given, so the neurons have no types, classes, sides or positions, by which stimuli and channels are selected.',
      ]),
    ],
  };
}

interface Neurons {
  readonly index: RootIdIndex;
  /** Indices of the neurons in the order of the list. */
  readonly indexAt: Uint32Array;
  readonly source: SourceFile;
}

async function readNeurons(path: string, progress: Progress): Promise<Neurons> {
  let list: NeuronList | undefined;
  const source = await readCsv(path, ['', 'Completed'], progress, (row) => {
    list ??= new NeuronList(row.file);
    list.add(row.rootId(0), row.line);
  });
  const { index, order } = list!.ascending();
  const indexAt = new Uint32Array(order.length);
  order.forEach((place, i) => (indexAt[place] = i));
  return { index, indexAt, source };
}

function unlabelled(index: RootIdIndex) {
  const count = index.highs.length;
  const labels = noLabels(count);
  const unmarked = { isMarked: new Uint8Array(count), nm: new Int32Array(3 * count) };
  return { ...labels, ...positionsOf(labels, unmarked, null) };
}

async function readPairs(
  table: ParquetTable,
  neurons: Neurons,
  progress: Progress,
  minimumSynapses: number,
): Promise<{ connections: ConnectionColumns; signs: Int8Array; remark: string; fewest: number }> {
  const pre = await readEnd(table, neurons, ENDS[0], progress);
  const post = await readEnd(table, neurons, ENDS[1], progress);
  const pairText = (row: number) => `${neurons.index.text(pre[row]!)} to ${neurons.index.text(post[row]!)}`;

  const counts = new Uint16Array(table.rowCount);
  await table.readColumn(SYNAPSES, progress, (value, row) => {
    if (value < 1) {
      throw rowFault(
        table.file,
        row,
        `expected ${SYNAPSES} to be a whole number of at least 1, found ${value}`,
      );
    }
    if (value > MAXIMUM_SYNAPSES_PER_CONNECTION) {
      throw rowFault(
        table.file,
        row,
        `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}, found ${value}`,
      );
    }
    counts[row] = Number(value);
  });
  const signs = await readSigns(table, neurons.index, pre, progress);
  await table.readColumn(SIGNED_SYNAPSES, progress, (value, row) => {
    const expected = signs[pre[row]!]! * counts[row]!;
    if (Number(value) !== expected) {
      throw rowFault(
        table.file,
        row,
        `expected ${SIGNED_SYNAPSES} to be ${expected}, the product of its columns, found ${value}`,
      );
    }
  });

  progress.begin('Sorting the pairs', 0, 'items');
  const rows = rowsByPair(pre, post, neurons.index.highs.length);
  let kept = 0;
  let synapses = 0;
  let fewest = Infinity;
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k]!;
    if (k > 0 && pre[rows[k - 1]!] === pre[row] && post[rows[k - 1]!] === post[row]) {
      throw rowFault(
        table.file,
        row,
        `expected one row for a pair of neurons, found ${pairText(row)} a second time (first in row ${rows[k - 1]!})`,
      );
    }
    synapses += counts[row]!;
    fewest = Math.min(fewest, counts[row]!);
    if (counts[row]! >= minimumSynapses) kept += 1;
  }
  const connections = {
    count: kept,
    pre: new Uint32Array(kept),
    post: new Uint32Array(kept),
    synapseCounts: new Uint16Array(kept),
  };
  let synapsesKept = 0;
  for (let k = 0, to = 0; k < rows.length; k++) {
    const row = rows[k]!;
    if (counts[row]! < minimumSynapses) continue;
    connections.pre[to] = pre[row]!;
    connections.post[to] = post[row]!;
    connections.synapseCounts[to++] = counts[row]!;
    synapsesKept += counts[row]!;
  }
  const remark =
    `${table.file} has ${rows.length} pairs of neurons with ${synapses} synapses; ` +
    `${kept} pairs with ${minimumSynapses} or more were kept, with ${synapsesKept} synapses.`;
  return { connections, signs, remark, fewest };
}

/** @returns the neuron at one end of each pair, whose place in the list and whose id have to agree */
async function readEnd(
  table: ParquetTable,
  { index, indexAt, source }: Neurons,
  { index: indexColumn, id: idColumn }: (typeof ENDS)[number],
  progress: Progress,
): Promise<Uint32Array> {
  const neuron = new Uint32Array(table.rowCount);
  await table.readColumn(indexColumn, progress, (value, row) => {
    const found = indexAt[Number(value)];
    if (found === undefined) {
      throw rowFault(
        table.file,
        row,
        `expected ${indexColumn} to be the index of a neuron in ${source.file}, 0 to ${indexAt.length - 1}, found ${value}`,
      );
    }
    neuron[row] = found;
  });
  const ids = BigInt64Array.from(index.texts(), BigInt);
  await table.readColumn(idColumn, progress, (value, row) => {
    if (BigInt(value) === ids[neuron[row]!]) return;
    const what = ids.includes(BigInt(value))
      ? `expected ${idColumn} to be ${index.text(neuron[row]!)}, the neuron at ${indexColumn} in ${source.file}, found ${value}`
      : `expected ${idColumn} to be a neuron of ${source.file}, found ${value}`;
    throw rowFault(table.file, row, what);
  });
  return neuron;
}

/** @returns the sign of each neuron; a neuron without outputs counts as excitatory, which changes nothing */
async function readSigns(
  table: ParquetTable,
  index: RootIdIndex,
  pre: Uint32Array,
  progress: Progress,
): Promise<Int8Array> {
  const signs = new Int8Array(index.highs.length).fill(1);
  const firstRow = new Uint32Array(signs.length).fill(NO_ROW);
  await table.readColumn(SIGN, progress, (value, row) => {
    const sign = Number(value);
    const neuron = pre[row]!;
    if (sign !== 1 && sign !== -1) {
      throw rowFault(table.file, row, `expected ${SIGN} to be 1 or -1, found ${value}`);
    }
    if (firstRow[neuron] === NO_ROW) {
      firstRow[neuron] = row;
      signs[neuron] = sign;
    } else if (signs[neuron] !== sign) {
      throw rowFault(
        table.file,
        row,
        `expected all outputs of neuron ${index.text(neuron)} to have one sign, ` +
          `found ${SIGN} ${sign} here and ${-sign} in row ${firstRow[neuron]!}`,
      );
    }
  });
  return signs;
}
