/**
 * Reads the tables of a data set into a Brain, by its file in data/datasets. What is a property of the data set is
 * reported in its provenance; what is a fault of a table is an error with file and line.
 */
import { basename, join } from 'node:path';
import {
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  type NetworkIdentity,
  type SourceFile,
} from '../connectome/connectome.js';
import { type Brain, type ConnectionColumns, MINIMUM_SYNAPSES } from './brain.js';
import { type ConnectionTable, type Dataset, readDataset } from './dataset.js';
import { NeuronLabels, readLabels, type Taken, taken } from './labels.js';
import { GrowingColumn, OutputSigns, sumPairs } from './pairs.js';
import { type Progress, silent } from './progress.js';
import { readTable } from './read-table.js';
import { RowLabels } from './row-labels.js';
import { assignSigns, readSignRules, type Transmitter } from './signs.js';
import { indexNeurons, type ListedNeuron, TableReader } from './table-reader.js';
import { type IdValue, tableFault, type TableRow } from './table-row.js';

/**
 * @param dir holds the tables of the data set
 * @param minimumSynapses pairs of neurons with fewer are omitted
 * @param identity of another network in the same layout; undefined for the data set itself
 * @throws CodedError TABLE_INVALID
 */
export async function readTables(
  dir: string,
  progress: Progress = silent,
  minimumSynapses = MINIMUM_SYNAPSES,
  identity?: NetworkIdentity,
  dataset: Dataset = readDataset(),
  connection: ConnectionTable = dataset.connections[0]!,
): Promise<Brain> {
  const { index, listed, source, remarks, rowLabels } = await readNeurons(dir, dataset, progress);
  const labels = new NeuronLabels(index.ids.length);
  listed.forEach(({ said }, neuron) => labels.put(neuron, said, rowLabels));
  const tables = new TableReader(dir, index, progress);
  tables.remarks.push(...remarks);
  await readLabels(tables, dataset, labels);
  const { connections, pairs, outputSigns } = await readConnections(tables, connection, minimumSynapses);
  const { signs, signRemarks } = signsOf(dataset, labels, outputSigns);
  const { name, dataset: of, release } = dataset;
  return {
    identity: identity ?? { name, dataset: of, release, wiring: 'measured' },
    neurons: { count: index.ids.length, ids: index.ids, ...labels.neurons(), signs },
    connections,
    pairs,
    minimumSynapses,
    sources: [source, ...tables.sources],
    ...(labels.given.has('transmitter') && { transmitterCounts: transmitterCounts(dataset, labels) }),
    provenance: [
      identity === undefined ? dataset.provenance : `Compiled from ${dataset.layout}.`,
      ...tables.remarks,
    ],
    signRemarks,
    ...(dataset.without && { without: dataset.without }),
  };
}

interface NeuronRow extends ListedNeuron {
  readonly said: Taken;
}

async function readNeurons(dir: string, { tables: [table], values }: Dataset, progress: Progress) {
  const listed: NeuronRow[] = [];
  let rowLabels!: RowLabels;
  let noun: TableRow['noun'] = 'line';
  let rows = 0;
  const columns = (found: readonly string[]) => (rowLabels = new RowLabels(table!, values, found)).names;
  const source: SourceFile = await readTable(join(dir, table!.file), columns, progress, (row) => {
    rows++;
    if (!rowLabels.isNeuron(row)) return;
    noun = row.noun;
    listed.push({ id: row.rootId(0), line: row.at, said: taken(row, rowLabels) });
  });
  if (listed.length === 0) throw tableFault(source.file, null, 'expected rows of neurons, found none');
  const { index, inOrder } = indexNeurons(source.file, listed, noun);
  const others = rows - listed.length;
  const remarks =
    others === 0 ? [] : [`${source.file}: ${listed.length} of ${rows} rows are neurons; ${others} are not.`];
  return { index, listed: inOrder, source, remarks, rowLabels };
}

/** Reads the rows of all pairs of neurons, and sums each pair over its parts, such as neuropils. */
async function readConnections(
  tables: TableReader,
  { file: path, columns: named, optional = [] }: ConnectionTable,
  minimumSynapses: number,
): Promise<{ connections: ConnectionColumns; pairs: number; outputSigns: Int8Array | null }> {
  const { ids } = tables.neurons;
  const file = basename(path);
  const columns = { pre: new GrowingColumn(), post: new GrowingColumn(), synapses: new GrowingColumn() };
  // Only a table with parts may name a pair twice without being wrong, or wrong without naming it twice.
  const partOf = named.part === undefined ? null : new GrowingColumn();
  const placeOf = named.part === undefined ? null : new GrowingColumn();
  const parts = new Map<string, number>();
  const outputSigns = new OutputSigns(ids);
  let partColumn = -1;
  let signColumn = -1;
  const chosen = (found: readonly string[]) => {
    const names = [named.pre, named.post, named.weight];
    if (named.part !== undefined) partColumn = names.push(named.part) - 1;
    if (named.sign !== undefined && (found.includes(named.sign) || !optional.includes('sign'))) {
      signColumn = names.push(named.sign) - 1;
    }
    return names;
  };
  let noun: TableRow['noun'] = 'line';
  let preId: IdValue = '';
  let pre: number | undefined;
  await tables.read(path, chosen, (row) => {
    // Rows of one presynaptic neuron mostly stand together, so many questions need not be asked.
    const id = row.id(0);
    if (id !== preId) {
      pre = tables.neurons.find(id);
      preId = id;
    }
    const post = tables.neuronIn(row, 1);
    const synapseCount = row.count(2);
    if (pre === undefined || post === undefined) return false;
    columns.pre.push(pre);
    columns.post.push(post);
    columns.synapses.push(synapseCount);
    if (partOf !== null) {
      const name = row.text(partColumn);
      let part = parts.get(name);
      if (part === undefined) parts.set(name, (part = parts.size));
      partOf.push(part);
      placeOf!.push(row.at);
      noun = row.noun;
    }
    if (signColumn >= 0) outputSigns.take(pre, row, signColumn);
    return true;
  });
  tables.progress.begin('Summing the synapses of each pair', 0, 'items');
  const rows = {
    pre: columns.pre.filled,
    post: columns.post.filled,
    synapses: columns.synapses.filled,
  };
  const places = placeOf?.filled;
  const place = (row: number) => (places === undefined ? null : `${noun} ${places[row]!}`);
  const pairText = (row: number) => `${ids[rows.pre[row]!]} to ${ids[rows.post[row]!]}`;
  const partsOf = partOf?.filled;
  const { connections, pairCount, counted, pruned } = sumPairs(
    rows,
    ids.length,
    minimumSynapses,
    (earlier, later) => {
      if (partsOf === undefined || partsOf[earlier] !== partsOf[later]) return;
      const name = [...parts.keys()][partsOf[later]!]!;
      throw tableFault(
        file,
        place(later),
        `expected one row for a pair of neurons and a ${named.part}, found ${pairText(later)} ` +
          `in "${name}" a second time (first ${noun === 'line' ? 'on' : 'in'} ${place(earlier)})`,
      );
    },
    (row, sum) => {
      if (sum <= MAXIMUM_SYNAPSES_PER_CONNECTION) return;
      const expected = `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}`;
      throw tableFault(file, place(row), `${expected}, found ${sum}`);
    },
  );
  const over = named.part === undefined ? '' : ` over ${named.part}s`;
  tables.remarks.push(`${rows.pre.length} rows summed${over} to ${counted}`, ...pruned);
  return { connections, pairs: pairCount, outputSigns: signColumn < 0 ? null : outputSigns.signs };
}

/** Signs under each rule that the tables allow: as they give them, else by the transmitters. */
function signsOf(
  { signs: rules, tables }: Dataset,
  { columns, transmitterSources, given, count }: NeuronLabels,
  outputSigns: Int8Array | null,
): Pick<Brain, 'signRemarks'> & { signs: Brain['neurons']['signs'] } {
  if (given.has('sign') || outputSigns !== null || !given.has('transmitter')) {
    const signs = given.has('sign')
      ? Int8Array.from(columns.sign, Number)
      : (outputSigns ?? new Int8Array(count).fill(1));
    const by = given.has('sign') ? 'the table of neurons' : 'the table of connections';
    const remark =
      given.has('sign') || outputSigns !== null
        ? `Signs of ${count} neurons as given by ${by}: ${signCounts(signs)}.`
        : `No column gives a sign or a transmitter, so all ${count} neurons excite.`;
    return { signs: { 'as given': signs }, signRemarks: { 'as given': [remark] } };
  }
  const signed = Array.from({ length: count }, (_, i) => ({
    type: columns.type[i]!,
    class: columns.class[i]!,
    sub_class: columns.sub_class[i]!,
    super_class: columns.super_class[i]!,
    transmitter: columns.transmitter[i]! as Transmitter,
  }));
  const table = tables.find((each) => each.columns.transmitter !== undefined)!;
  const source = { column: String(table.columns.transmitter), hasMeans: table.largest !== undefined };
  const all = readSignRules();
  const assigned = rules.map(
    (rule) => [rule, assignSigns(all, rule, signed, transmitterSources, source)] as const,
  );
  return {
    signs: Object.fromEntries(assigned.map(([rule, { signs }]) => [rule, signs])),
    signRemarks: Object.fromEntries(assigned.map(([rule, { remark }]) => [rule, [remark]])),
  };
}

function signCounts(signs: Int8Array): string {
  const of = (sign: number) => signs.reduce((count, each) => count + (each === sign ? 1 : 0), 0);
  return `${of(1)} excite, ${of(-1)} inhibit, ${of(0)} have no fast effect`;
}

/** Neurons by transmitter: those that the data set names, in its order. */
function transmitterCounts({ values }: Dataset, { columns }: NeuronLabels): Record<string, number> {
  const names = [...new Set(Object.values(values.transmitter ?? {}))].filter((name) => name !== '');
  const counts = Object.fromEntries([...names, 'unknown'].map((name) => [name, 0]));
  for (const transmitter of columns.transmitter) counts[transmitter || 'unknown']! += 1;
  return counts;
}
