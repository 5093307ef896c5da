/**
 * Reads the two files from which Shiu et al. 2024 built their model: a list of neurons, and a table of all pairs of
 * neurons with their synapses and signs, which refers to the neurons by their places in that list.
 */
import {
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  type NetworkIdentity,
  type SourceFile,
} from '../connectome/connectome.js';
import { type Brain, type ConnectionColumns, FLYWIRE_783, MINIMUM_SYNAPSES } from './brain.js';
import { readCsv } from './csv.js';
import { readDataset } from './dataset.js';
import { NeuronLabels, readLabels } from './labels.js';
import { sumPairs } from './pairs.js';
import { ParquetTable } from './parquet.js';
import { type Progress, silent } from './progress.js';
import { indexNeurons, type ListedNeuron, type NeuronIndex, TableReader } from './table-reader.js';

/** Digest of the file that was published for release 783. */
const PUBLISHED_CONNECTIVITY_SHA256 = 'efeb23fb99098e9c390f6869969b2a121a2ee92c833cfc45ecb2c1d8e1af0347';

const ENDS = [
  { index: 'Presynaptic_Index', id: 'Presynaptic_ID' },
  { index: 'Postsynaptic_Index', id: 'Postsynaptic_ID' },
] as const;
const SYNAPSES = 'Connectivity';
const SIGN = 'Excitatory';
/** Weight of a connection in their model. */
const SIGNED_SYNAPSES = 'Excitatory x Connectivity';
const COLUMNS = [...ENDS.flatMap(({ index, id }) => [index, id]), SYNAPSES, SIGN, SIGNED_SYNAPSES];

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
  identity: NetworkIdentity = FLYWIRE_783,
): Promise<Brain> {
  const neurons = await readNeurons(files.completeness, progress);
  const { index } = neurons;
  const table = await ParquetTable.open(files.connectivity, COLUMNS);
  const { connections, signs, remarks, signRemark } = await readPairs(
    table,
    neurons,
    progress,
    minimumSynapses,
  );
  const connectivity = await table.source();
  const tables = files.tables === undefined ? null : new TableReader(files.tables, index, progress);
  const count = index.ids.length;
  const labels = new NeuronLabels(count);
  if (tables !== null) await readLabels(tables, readDataset(), labels);
  return {
    identity,
    neurons: { count, ids: index.ids, ...labels.neurons(), signs: { 'as given': signs } },
    connections,
    minimumSynapses,
    sources: [neurons.source, connectivity, ...(tables?.sources ?? [])],
    provenance: [
      ...(identity === FLYWIRE_783
        ? [
            'Wiring of the FlyWire connectome, compiled from a connectivity file of Shiu et al. 2024, with its signs.',
            connectivity.sha256 === PUBLISHED_CONNECTIVITY_SHA256
              ? 'The connectivity file is the one that was published for release 783.'
              : 'The connectivity file is not the one that was published for release 783: its SHA-256 is another.',
          ]
        : ['Compiled from a connectivity file in the form of Shiu et al. 2024, with its signs.']),
      ...remarks,
      ...(tables?.remarks ?? [
        'No tables were given, so the neurons have no types, classes, sides or positions, by which stimuli and channels are selected.',
      ]),
    ],
    signRemarks: { 'as given': [signRemark] },
  };
}

interface Neurons {
  readonly index: NeuronIndex;
  /** Indices of the neurons in the order of the list. */
  readonly indexAt: Uint32Array;
  readonly source: SourceFile;
}

async function readNeurons(path: string, progress: Progress): Promise<Neurons> {
  const listed: (ListedNeuron & { readonly place: number })[] = [];
  const source = await readCsv(path, ['', 'Completed'], progress, (row) => {
    listed.push({ id: row.rootId(0), line: row.at, place: listed.length });
  });
  const { index, inOrder } = indexNeurons(source.file, listed);
  const indexAt = new Uint32Array(listed.length);
  inOrder.forEach(({ place }, i) => (indexAt[place] = i));
  return { index, indexAt, source };
}

async function readPairs(
  table: ParquetTable,
  neurons: Neurons,
  progress: Progress,
  minimumSynapses: number,
): Promise<{ connections: ConnectionColumns; signs: Int8Array; remarks: string[]; signRemark: string }> {
  const { ids } = neurons.index;
  const pre = await readEnd(table, neurons, ENDS[0], progress);
  const post = await readEnd(table, neurons, ENDS[1], progress);
  const pairText = (row: number) => `${ids[pre[row]!]} to ${ids[post[row]!]}`;

  const synapses = new Uint16Array(table.rowCount);
  await table.readColumn(SYNAPSES, progress, (value, row) => {
    if (value < 1) return 'a whole number of at least 1';
    if (value > MAXIMUM_SYNAPSES_PER_CONNECTION) {
      const expected = `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}`;
      throw table.fault(row, `${expected}, found ${value}`);
    }
    synapses[row] = Number(value);
  });
  const { signs, remark: signRemark } = await readSigns(table, ids, pre, progress);
  await table.readColumn(SIGNED_SYNAPSES, progress, (value, row) => {
    const expected = signs[pre[row]!]! * synapses[row]!;
    return Number(value) === expected ? undefined : `${expected}, the product of its columns`;
  });

  progress.begin('Sorting the pairs', 0, 'items');
  const { connections, counted, pruned } = sumPairs(
    { pre, post, synapses },
    ids.length,
    minimumSynapses,
    (earlier, later) => {
      throw table.fault(
        later,
        `expected one row for a pair of neurons, found ${pairText(later)} a second time (first in row ${earlier})`,
      );
    },
    () => {},
  );
  return { connections, signs, remarks: [`${table.file} has ${counted}`, ...pruned], signRemark };
}

/** @returns the neuron at one end of each pair, whose place in the list and whose id have to agree */
async function readEnd(
  table: ParquetTable,
  { index, indexAt }: Neurons,
  { index: indexColumn, id: idColumn }: (typeof ENDS)[number],
  progress: Progress,
): Promise<Uint32Array> {
  const { ids, file } = index;
  const neuron = new Uint32Array(table.rowCount);
  await table.readColumn(indexColumn, progress, (value, row) => {
    const found = indexAt[Number(value)];
    if (found === undefined) return `the index of a neuron in ${file}, 0 to ${indexAt.length - 1}`;
    neuron[row] = found;
    return undefined;
  });
  const numbers = BigInt64Array.from(ids, BigInt);
  await table.readColumn(idColumn, progress, (value, row) => {
    const id = BigInt(value);
    if (id === numbers[neuron[row]!]) return undefined;
    return numbers.includes(id)
      ? `${ids[neuron[row]!]}, the neuron at ${indexColumn} in ${file}`
      : `a neuron of ${file}`;
  });
  return neuron;
}

/** @returns the sign of each neuron; a neuron without outputs counts as excitatory, which changes nothing */
async function readSigns(
  table: ParquetTable,
  ids: readonly string[],
  pre: Uint32Array,
  progress: Progress,
): Promise<{ signs: Int8Array; remark: string }> {
  const signs = new Int8Array(ids.length).fill(1);
  const firstRow = new Map<number, number>();
  await table.readColumn(SIGN, progress, (value, row) => {
    const sign = Number(value);
    const neuron = pre[row]!;
    if (sign !== 1 && sign !== -1) return '1 or -1';
    if (!firstRow.has(neuron)) {
      firstRow.set(neuron, row);
      signs[neuron] = sign;
    } else if (signs[neuron] !== sign) {
      throw table.fault(
        row,
        `expected all outputs of neuron ${ids[neuron]} to have one sign, ` +
          `found ${SIGN} ${sign} here and ${-sign} in row ${firstRow.get(neuron)}`,
      );
    }
    return undefined;
  });
  const remark =
    `Signs of ${signs.length} neurons: ${firstRow.size} by the column ${SIGN} of ${table.file}; ` +
    `${signs.length - firstRow.size} have no outputs there, so their sign, excitatory, changes nothing.`;
  return { signs, remark };
}
