/**
 * Reads the public tables of release 783, in the layout of Codex, into a Brain. What is a property of the
 * release is reported in its provenance; what is a fault of a table is an error with file and line.
 */
import { join } from 'node:path';
import {
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  type NetworkIdentity,
  type SourceFile,
} from '../connectome/connectome.js';
import { type Brain, type ConnectionColumns, FLYWIRE_783, MINIMUM_SYNAPSES } from './brain.js';
import { type CsvRow, readCsv, tableFault } from './csv.js';
import { readLabels } from './labels.js';
import { sumPairs } from './pairs.js';
import { type Progress, silent } from './progress.js';
import { assignSigns, readSignRules, type Transmitter, type TransmitterSource } from './signs.js';
import { indexNeurons, type ListedNeuron, type NeuronIndex, TableReader } from './table-reader.js';

export const TABLE_FILES = [
  'neurons.csv.gz',
  'classification.csv.gz',
  'consolidated_cell_types.csv.gz',
  'coordinates.csv.gz',
  'connections.csv.gz',
] as const;

const NEURON_FILE = TABLE_FILES[0];

/** Columns of neurons.csv with the mean probability of each transmitter; of equal ones the first counts. */
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
 * @param minimumSynapses pairs of neurons with fewer are omitted
 * @throws CodedError TABLE_INVALID
 */
export async function readTables(
  dir: string,
  progress: Progress = silent,
  minimumSynapses = MINIMUM_SYNAPSES,
  identity: NetworkIdentity = FLYWIRE_783,
): Promise<Brain> {
  const { index, neurons, source } = await readNeurons(dir, progress);
  const tables = new TableReader(dir, index, progress);
  const labels = await readLabels(tables);
  const connections = await readConnections(tables, minimumSynapses);

  const rules = readSignRules();
  const signed = neurons.map(({ transmitter }, i) => ({
    type: labels.types[i]!,
    class: labels.classes[i]!,
    sub_class: labels.subClasses[i]!,
    super_class: labels.superClasses[i]!,
    transmitter,
  }));
  const transmitterSources = neurons.map(({ transmitterSource }) => transmitterSource);
  const predicted = assignSigns(rules, 'predicted', signed, transmitterSources);
  const corrected = assignSigns(rules, 'corrected', signed, transmitterSources);
  return {
    identity,
    neurons: {
      count: index.ids.length,
      ids: index.ids,
      ...labels,
      signs: { predicted: predicted.signs, corrected: corrected.signs },
    },
    connections,
    minimumSynapses,
    sources: [source, ...tables.sources],
    transmitterCounts: transmitterCounts(neurons),
    provenance: [
      identity === FLYWIRE_783
        ? 'Wiring of release 783 of the FlyWire connectome, compiled from tables in the layout of Codex.'
        : 'Compiled from tables in the layout of Codex.',
      ...tables.remarks,
    ],
    signRemarks: { predicted: [predicted.remark], corrected: [corrected.remark] },
  };
}

interface NeuronRow extends ListedNeuron {
  readonly transmitter: Transmitter;
  readonly transmitterSource: TransmitterSource;
}

async function readNeurons(
  dir: string,
  progress: Progress,
): Promise<{ index: NeuronIndex; neurons: NeuronRow[]; source: SourceFile }> {
  const listed: NeuronRow[] = [];
  const columns = ['root_id', 'nt_type', ...AVERAGES.map(([column]) => column)];
  const source = await readCsv(join(dir, NEURON_FILE), columns, progress, (row) => {
    listed.push({ id: row.rootId(0), line: row.line, ...transmitterOf(row) });
  });
  const { index, inOrder } = indexNeurons(NEURON_FILE, listed);
  return { index, neurons: inOrder, source };
}

/** Reads the rows of all pairs of neurons in a neuropil, and sums each pair over its neuropils. */
async function readConnections(tables: TableReader, minimumSynapses: number): Promise<ConnectionColumns> {
  const file = 'connections.csv.gz';
  const { ids } = tables.neurons;
  const columns = {
    pre: new GrowingColumn(),
    post: new GrowingColumn(),
    synapses: new GrowingColumn(),
    neuropil: new GrowingColumn(),
    line: new GrowingColumn(),
  };
  const neuropils = new Map<string, number>();
  let preId = '';
  let pre: number | undefined;
  await tables.read(file, ['pre_root_id', 'post_root_id', 'neuropil', 'syn_count'], (row) => {
    // Rows of one presynaptic neuron stand together, so most questions need not be asked.
    if (row.text(0) !== preId) {
      pre = tables.neuronIn(row, 0);
      preId = row.text(0);
    }
    const post = tables.neuronIn(row, 1);
    const synapseCount = row.count(3);
    if (pre === undefined || post === undefined) return false;
    const name = row.text(2);
    let neuropil = neuropils.get(name);
    if (neuropil === undefined) neuropils.set(name, (neuropil = neuropils.size));
    columns.pre.push(pre);
    columns.post.push(post);
    columns.synapses.push(synapseCount);
    columns.neuropil.push(neuropil);
    columns.line.push(row.line);
    return true;
  });
  tables.progress.begin('Summing the synapses of each pair', 0, 'items');
  const neuropilOf = columns.neuropil.filled;
  const lineOf = columns.line.filled;
  const pairs = {
    pre: columns.pre.filled,
    post: columns.post.filled,
    synapses: columns.synapses.filled,
  };
  const pairText = (row: number) => `${ids[pairs.pre[row]!]} to ${ids[pairs.post[row]!]}`;
  const { connections, counted, pruned } = sumPairs(
    pairs,
    ids.length,
    minimumSynapses,
    (earlier, later) => {
      if (neuropilOf[earlier] !== neuropilOf[later]) return;
      const name = [...neuropils.keys()][neuropilOf[later]!]!;
      throw tableFault(
        file,
        lineOf[later]!,
        `expected one row for a pair of neurons and a neuropil, found ${pairText(later)} ` +
          `in "${name}" a second time (first on line ${lineOf[earlier]!})`,
      );
    },
    (row, sum) => {
      if (sum <= MAXIMUM_SYNAPSES_PER_CONNECTION) return;
      const expected = `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}`;
      throw tableFault(file, lineOf[row]!, `${expected}, found ${sum}`);
    },
  );
  tables.remarks.push(`${lineOf.length} rows summed over neuropils to ${counted}`, ...pruned);
  return connections;
}

/** A column of numbers that grows: in an array of JavaScript, millions of numbers would fill its heap. */
class GrowingColumn {
  #count = 0;
  #values = new Uint32Array(1 << 20);

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = value;
  }

  get filled(): Uint32Array {
    return this.#values.subarray(0, this.#count);
  }
}

/** The transmitter that the table names; where it names none, that with the largest mean probability. */
function transmitterOf(row: CsvRow): Pick<NeuronRow, 'transmitter' | 'transmitterSource'> {
  const named = row.text(1);
  if (named !== '') {
    if (!TRANSMITTERS.includes(named)) {
      throw row.fault(1, `one of ${TRANSMITTERS.join(', ')} or empty`);
    }
    return { transmitter: named as Transmitter, transmitterSource: 'nt_type' };
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
  return { transmitter: best, transmitterSource: best === '' ? 'none' : 'mean' };
}

function transmitterCounts(neurons: readonly NeuronRow[]): Record<string, number> {
  const counts = Object.fromEntries([...TRANSMITTERS, 'unknown'].map((name) => [name, 0]));
  for (const { transmitter } of neurons) counts[transmitter || 'unknown']! += 1;
  return counts;
}
