/**
 * Reads the public tables of release 783, in the layout of Codex, into a Brain. What is a property of the
 * release is reported in its provenance; what is a fault of a table is an error with file and line.
 */
import { join } from 'node:path';
import type { SourceFile } from '../connectome/connectome.js';
import { type Brain, type ConnectionColumns, MINIMUM_SYNAPSES, type NeuronColumns } from './brain.js';
import { ConnectionTable } from './connection-table.js';
import { type CsvRow, readCsv } from './csv.js';
import { readLabels } from './labels.js';
import { type Progress, silent } from './progress.js';
import type { RootIdIndex } from './root-id-index.js';
import { readSignRules, signsBy, type Transmitter } from './signs.js';
import { NeuronList, TableReader, UnknownIds } from './table-reader.js';

export const TABLE_FILES = [
  'neurons.csv.gz',
  'classification.csv.gz',
  'consolidated_cell_types.csv.gz',
  'coordinates.csv.gz',
  'connections.csv.gz',
] as const;

const NEURON_FILE = TABLE_FILES[0];

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
 * @param minimumSynapses pairs of neurons with fewer are omitted
 * @throws CodedError TABLE_INVALID
 */
export async function readTables(
  dir: string,
  progress: Progress = silent,
  minimumSynapses = MINIMUM_SYNAPSES,
): Promise<Brain> {
  const { index, transmitters, source } = await readNeurons(dir, progress);
  const count = transmitters.length;
  const tables = new TableReader(dir, index, NEURON_FILE, progress);
  const labels = await readLabels(tables);
  const connections = await readConnections(tables, minimumSynapses);

  const signs = { predicted: new Int8Array(count), corrected: new Int8Array(count) };
  const rules = readSignRules();
  const predicted = signsBy(rules, 'predicted');
  const corrected = signsBy(rules, 'corrected');
  for (let i = 0; i < count; i++) {
    const neuron = {
      type: labels.types[i]!,
      class: labels.classes[i]!,
      sub_class: labels.subClasses[i]!,
      super_class: labels.superClasses[i]!,
      transmitter: transmitters[i]!,
    };
    signs.predicted[i] = predicted(neuron);
    signs.corrected[i] = corrected(neuron);
  }

  const neurons: NeuronColumns = {
    count,
    ids: index.texts(),
    ...labels,
    signs,
  };
  return {
    wiring: 'measured',
    neurons,
    connections,
    minimumSynapses,
    sources: [source, ...tables.sources],
    transmitterCounts: transmitterCounts(transmitters),
    provenance: [
      'Wiring of release 783 of the FlyWire connectome, compiled from tables in the layout of Codex.',
      ...tables.remarks,
    ],
  };
}

/** @returns an index of the neurons in ascending order of their ids, with the transmitter of each */
async function readNeurons(
  dir: string,
  progress: Progress,
): Promise<{ index: RootIdIndex; transmitters: Transmitter[]; source: SourceFile }> {
  const list = new NeuronList(NEURON_FILE);
  const transmitters: Transmitter[] = [];
  const columns = ['root_id', 'nt_type', ...AVERAGES.map(([column]) => column)];
  const source = await readCsv(join(dir, NEURON_FILE), columns, progress, (row) => {
    list.add(row.rootId(0), row.line);
    transmitters.push(transmitterOf(row));
  });
  const { index, order } = list.ascending();
  return { index, transmitters: order.map((i) => transmitters[i]!), source };
}

async function readConnections(tables: TableReader, minimumSynapses: number): Promise<ConnectionColumns> {
  const { index } = tables;
  const file = 'connections.csv.gz';
  const table = new ConnectionTable(file, index);
  const unknown = new UnknownIds(file, tables.neuronFile);
  let lastHigh = -1;
  let lastLow = -1;
  let pre = -1;
  await tables.read(file, ['pre_root_id', 'post_root_id', 'neuropil', 'syn_count'], (row) => {
    // Rows of one presynaptic neuron stand together, so most questions need not be asked.
    const preId = row.rootId(0);
    if (preId.low !== lastLow || preId.high !== lastHigh) {
      lastHigh = preId.high;
      lastLow = preId.low;
      pre = index.find(preId);
    }
    const post = index.find(row.rootId(1));
    const synapseCount = row.count(3);
    if (pre < 0 || post < 0) {
      unknown.add(row.line);
      return;
    }
    table.add(pre, post, row.name(2), synapseCount, row.line);
  });
  tables.remark(unknown);
  tables.progress.begin('Summing the synapses of each pair', 0, 'items');
  const { connections, remarks } = table.summed(minimumSynapses);
  tables.remarks.push(...remarks);
  return connections;
}

function transmitterOf(row: CsvRow): Transmitter {
  const named = row.text(1);
  if (named !== '') {
    if (!TRANSMITTERS.includes(named)) {
      throw row.fault(1, `one of ${TRANSMITTERS.join(', ')} or empty`);
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
