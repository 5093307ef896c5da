/**
 * Reads the tables of a data set into a Brain, as its file in data/datasets describes them. The provenance reports
 * properties of the data set. A fault in a table is an error with file and line.
 */
import { basename } from 'node:path';
import type { NetworkIdentity, SignRule } from '../../engine/connectome/connectome.js';
import { type Brain, MIN_SYNAPSES } from './brain.js';
import { type OutputSigns, readConnections } from './connection-table.js';
import { type ConnectionTable, type Dataset, readDataset } from './dataset.js';
import type { NeuronIds } from './neuron-ids.js';
import { type NeuronLabels, readNeurons } from './neuron-tables.js';
import { type Progress, silent } from './progress.js';
import { assignSigns, signProbabilities } from './signs.js';
import { tableFault } from './table-row.js';

/**
 * @param dir directory with the tables
 * @param asked pairs of neurons with fewer synapses are omitted; by default the number of the data set
 * @param identity of another network in tables of the same form; undefined for the data set itself
 * @throws CodedError TABLE_INVALID
 */
export async function readTables(
  dir: string,
  progress: Progress = silent,
  asked?: number,
  identity?: NetworkIdentity,
  dataset: Dataset = readDataset(),
  connection: ConnectionTable = dataset.connections[0]!,
): Promise<Brain> {
  const { minimum_synapses: usualMinimum = MIN_SYNAPSES } = dataset;
  const minimumSynapses = asked ?? usualMinimum;
  const { tables, labels } = await readNeurons(dir, dataset, progress);
  const { connections, pairs, outputSigns } = await readConnections(
    tables,
    connection,
    minimumSynapses,
    usualMinimum,
  );
  checkSigns(tables.neurons, labels, connection, outputSigns);
  const signs = signsOf(dataset, labels, outputSigns);
  const { name, dataset: of, release, layout, without } = dataset;
  const { columns, given } = labels;
  const { ids } = tables.neurons;
  return {
    identity: identity ?? { name, dataset: of, release, wiring: 'measured' },
    neurons: {
      count: ids.length,
      ids,
      labels: columns,
      ...labels.positions(),
      ...(given.has('preset_type') && { presetTypes: columns.preset_type }),
      signs: Object.fromEntries(signs.map(({ rule, signs }) => [rule, signs])),
      ...(labels.probabilities.transmitters.length > 0 && {
        signProbabilities: (rule) =>
          signProbabilities(
            rule,
            columns,
            labels.probabilities,
            signs.find((each) => each.rule === rule)!.signs,
          ),
      }),
    },
    connections,
    pairs,
    minimumSynapses,
    sources: tables.sources,
    ...(given.has('transmitter') && { transmitterCounts: transmitterCounts(dataset, labels) }),
    provenance: [identity === undefined ? dataset.provenance : `Compiled from ${layout}.`, ...tables.remarks],
    isFromTables: true,
    warnings: tables.warnings,
    unread: tables.unread,
    signRemarks: Object.fromEntries(signs.map(({ rule, remark }) => [rule, remark])),
    ...(without && { without }),
  };
}

/** @throws CodedError TABLE_INVALID if both tables give a neuron a sign, and these differ */
function checkSigns(
  { ids, file }: NeuronIds,
  { columns, given }: NeuronLabels,
  connection: ConnectionTable,
  outputSigns: OutputSigns | undefined,
): void {
  if (outputSigns === undefined || !given.has('sign')) return;
  ids.forEach((id, neuron) => {
    const expected = columns.sign[neuron]!;
    const found = outputSigns.of(neuron);
    if (found === undefined || found === Number(expected)) return;
    const what = `expected neuron ${id} to have the sign ${expected}, as in ${file}, found ${found}`;
    throw tableFault(basename(connection.file), null, what);
  });
}

interface AssignedSigns {
  readonly rule: SignRule;
  readonly signs: Int8Array;
  readonly remark: string;
}

/**
 * Signs under each rule that the tables support: given signs if they have any, else derived from transmitters.
 * @throws CodedError TABLE_INVALID if a column must give the signs, and no table has it
 */
function signsOf(
  { signs: rules, tables, connections }: Dataset,
  { columns, transmitterSources, given, count }: NeuronLabels,
  outputSigns: OutputSigns | undefined,
): readonly AssignedSigns[] {
  const asGiven = (signs: Int8Array, by: string): readonly AssignedSigns[] => [
    { rule: 'as given', signs, remark: `Signs of ${count} neurons as given by ${by}: ${signCounts(signs)}.` },
  ];
  if (given.has('sign')) return asGiven(Int8Array.from(columns.sign, Number), 'the table of neurons');
  if (outputSigns !== undefined) return asGiven(outputSigns.signs, 'the table of connections');
  if (rules.length === 0) {
    const [list, pairs] = [tables[0]!, connections[0]!];
    const what = `expected a column ${String(list.columns.sign)} here or in ${basename(pairs.file)}, found none`;
    throw tableFault(basename(list.file), null, what);
  }
  if (!given.has('transmitter')) {
    const remark = `No column gives a sign or a transmitter, so all ${count} neurons excite.`;
    return [{ rule: 'as given', signs: new Int8Array(count).fill(1), remark }];
  }
  const table = tables.find((each) => each.columns.transmitter !== undefined)!;
  const source = { column: String(table.columns.transmitter), hasMeans: table.largest !== undefined };
  return rules.map((rule) => ({ rule, ...assignSigns(rule, columns, transmitterSources, source) }));
}

function signCounts(signs: Int8Array): string {
  const of = (sign: number) => signs.reduce((count, each) => count + (each === sign ? 1 : 0), 0);
  return `${of(1)} excite, ${of(-1)} inhibit, ${of(0)} have no fast effect`;
}

/** Number of neurons by transmitter, in the order of the data set. */
function transmitterCounts({ values }: Dataset, { columns }: NeuronLabels): Record<string, number> {
  const names = [...new Set(Object.values(values.transmitter ?? {}))].filter((name) => name !== '');
  const counts = Object.fromEntries([...names, 'unknown'].map((name) => [name, 0]));
  for (const transmitter of columns.transmitter) counts[transmitter || 'unknown']! += 1;
  return counts;
}
