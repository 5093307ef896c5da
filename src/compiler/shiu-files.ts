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
import { GrowingColumn, OutputSigns, sumPairs } from './pairs.js';
import { readParquet } from './parquet.js';
import { type Progress, silent } from './progress.js';
import { indexNeurons, type ListedNeuron, type NeuronIndex, TableReader } from './table-reader.js';
import { tableFault, type TableRow } from './table-row.js';

/** Digest of the file that was published for release 783. */
const PUBLISHED_CONNECTIVITY_SHA256 = 'efeb23fb99098e9c390f6869969b2a121a2ee92c833cfc45ecb2c1d8e1af0347';

const ENDS = ['Presynaptic', 'Postsynaptic'];
const COLUMNS = [
  ...ENDS.flatMap((end) => [`${end}_Index`, `${end}_ID`]),
  'Connectivity',
  'Excitatory',
  // Weight of a connection in their model.
  'Excitatory x Connectivity',
];
const [SYNAPSES, SIGN, SIGNED_SYNAPSES] = [4, 5, 6] as const;

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
  const { connections, signs, source, remarks, signRemark } = await readPairs(
    files.connectivity,
    neurons,
    progress,
    minimumSynapses,
  );
  const tables = files.tables === undefined ? null : new TableReader(files.tables, index, progress);
  const count = index.ids.length;
  const labels = new NeuronLabels(count);
  if (tables !== null) await readLabels(tables, readDataset(), labels);
  return {
    identity,
    neurons: { count, ids: index.ids, ...labels.neurons(), signs: { 'as given': signs } },
    connections,
    minimumSynapses,
    sources: [neurons.source, source, ...(tables?.sources ?? [])],
    provenance: [
      ...(identity === FLYWIRE_783
        ? [
            'Wiring of the FlyWire connectome, compiled from a connectivity file of Shiu et al. 2024, with its signs.',
            source.sha256 === PUBLISHED_CONNECTIVITY_SHA256
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

interface Read {
  readonly connections: ConnectionColumns;
  readonly signs: Int8Array;
  readonly source: SourceFile;
  readonly remarks: string[];
  readonly signRemark: string;
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
  path: string,
  neurons: Neurons,
  progress: Progress,
  minimumSynapses: number,
): Promise<Read> {
  const { ids } = neurons.index;
  const numbers = BigInt64Array.from(ids, BigInt);
  const [pre, post, synapses] = [new GrowingColumn(), new GrowingColumn(), new GrowingColumn()];
  const outputs = new OutputSigns(ids);
  const pairText = (from: number, to: number) => `${ids[from]} to ${ids[to]}`;
  const source = await readParquet(path, COLUMNS, progress, (row) => {
    const [from, to] = ENDS.map((_, end) => neuronIn(row, 2 * end, neurons, numbers)) as [number, number];
    const count = row.count(SYNAPSES);
    if (count > MAXIMUM_SYNAPSES_PER_CONNECTION) {
      const expected = `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${pairText(from, to)}`;
      throw tableFault(row.file, `row ${row.at}`, `${expected}, found ${count}`);
    }
    const sign = outputs.take(from, row, SIGN);
    if (sign === 0) throw row.fault(SIGN, '1 or -1');
    if (row.text(SIGNED_SYNAPSES) !== String(sign * count)) {
      throw row.fault(SIGNED_SYNAPSES, `${sign * count}, the product of its columns`);
    }
    pre.push(from);
    post.push(to);
    synapses.push(count);
  });
  progress.begin('Sorting the pairs', 0, 'items');
  const rows = { pre: pre.filled, post: post.filled, synapses: synapses.filled };
  const { connections, counted, pruned } = sumPairs(
    rows,
    ids.length,
    minimumSynapses,
    (earlier, later) => {
      const pair = pairText(rows.pre[later]!, rows.post[later]!);
      const expected = `expected one row for a pair of neurons, found ${pair} a second time`;
      throw tableFault(source.file, `row ${later}`, `${expected} (first in row ${earlier})`);
    },
    () => {},
  );
  const { signs, knownCount } = outputs;
  const signRemark =
    `Signs of ${signs.length} neurons: ${knownCount} by the column ${COLUMNS[SIGN]} of ${source.file}; ` +
    `${signs.length - knownCount} have no outputs there, so their sign, excitatory, changes nothing.`;
  return { connections, signs, source, remarks: [`${source.file} has ${counted}`, ...pruned], signRemark };
}

/** @returns the neuron at one end of a pair, whose place in the list and whose id have to agree */
function neuronIn(
  row: TableRow,
  column: number,
  { index: { ids, file }, indexAt }: Neurons,
  numbers: BigInt64Array,
): number {
  const neuron = indexAt[Number(row.id(column))];
  if (neuron === undefined) {
    throw row.fault(column, `the index of a neuron in ${file}, 0 to ${indexAt.length - 1}`);
  }
  const id = BigInt(row.id(column + 1));
  if (id === numbers[neuron]) return neuron;
  throw row.fault(
    column + 1,
    numbers.includes(id)
      ? `${ids[neuron]!}, the neuron at ${COLUMNS[column]} in ${file}`
      : `a neuron of ${file}`,
  );
}
