import {
  connectionsBetween,
  type ConnectionQuestion,
  type ConnectionRow,
} from '../../engine/connectome/connections.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { modelId } from '../../engine/connectome/model-id.js';
import { NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import { labelOf } from '../../engine/connectome/neuron-index.js';
import { parseSelectors } from '../document/parse-selectors.js';
import { joinedBytes } from '../../engine/bytes.js';
import { encoderOf } from './answer-writer.js';
import { MAX_BATCH_ROWS, type TableBatch } from './tables.js';
import { inTurns, type Turn } from '../run/turn.js';
import type { TableFormat } from './formats.js';

export interface ConnectionSearch extends Omit<ConnectionQuestion, 'sources' | 'targets'> {
  /** Selectors in the form of a query; see parseSelectors. */
  readonly source: string;
  readonly target: string;
  /** Maximum number of types and root ids that they name. */
  readonly ids: number;
  readonly format: 'json' | TableFormat;
}

export type ConnectionPage = Awaited<ReturnType<typeof connectionTable>>;

interface Column {
  readonly name: string;
  readonly type: 'text' | 'int32';
  readonly valueOf: (row: ConnectionRow) => string | number;
}

/**
 * Answers a page of the connections between two selectors: JSON with totals, or only the rows as a table.
 * @returns its bytes, and the first row of the next page, if there is one
 * @throws CodedError INVALID_PARAMETER, UNKNOWN_NEURONS, EMPTY_NODE_SET with the parameter in the path
 */
export async function connectionTable(
  connectome: Connectome,
  { source, target, ids, format, ...page }: ConnectionSearch,
  turn: Turn,
) {
  const selectors = await turn(() => parseSelectors({ source, target }, ids));
  const resolver = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'error' });
  const [sources, targets] = await inTurns(turn, resolver.resolving(selectors));
  const question = { ...page, sources: sources!.neurons, targets: targets!.neurons };
  const { rows, ...totals } = await inTurns(turn, connectionsBetween(connectome, question));
  const end = page.from + rows.length;
  const next = rows.length > 0 && end < totals.count ? end : undefined;
  const columns = columnsOf(connectome, page.groupBy);
  const head = { model: modelId(connectome), wiring: connectome.metadata.wiring, group_by: page.groupBy };
  const values: TableBatch['values'][number][] = [];
  for (const { type, valueOf } of columns) {
    const ofRows = await turn(() => rows.map(valueOf));
    values.push(type === 'int32' ? Int32Array.from(ofRows as number[]) : (ofRows as string[]));
  }
  if (format === 'json') {
    const connections = await turn(() =>
      rows.map((_, row) => Object.fromEntries(columns.map(({ name }, at) => [name, values[at]![row]]))),
    );
    const answer = { ...head, ...totals, connections };
    return { bytes: await turn(() => new TextEncoder().encode(JSON.stringify(answer))), next };
  }
  const encoder = await encoderOf(format, columns);
  const pieces = [...encoder.begin(new Map(Object.entries({ ...head, source, target })))];
  for (let at = 0; at < rows.length; at += MAX_BATCH_ROWS) {
    const part = values.map((column) => column.slice(at, at + MAX_BATCH_ROWS));
    const batch = { condition: 0, rows: part[0]!.length, values: part, truncated: false };
    pieces.push(...(await turn(() => [...encoder.append(batch)])));
  }
  pieces.push(...(await turn(() => [...encoder.end()])));
  return { bytes: joinedBytes(pieces), next };
}

function columnsOf(connectome: Connectome, groupBy: ConnectionSearch['groupBy']): readonly Column[] {
  const type = labelOf(connectome, 'type');
  const ofNeuron = {
    root_id: (i: number) => connectome.neuronId(i),
    type,
    side: labelOf(connectome, 'side'),
  };
  const labels = Object.entries(groupBy === 'type' ? { type } : ofNeuron);
  return [
    ...(['source', 'target'] as const).flatMap((end) =>
      labels.map(([label, textOf]): Column => ({
        name: `${end}_${label}`,
        type: 'text',
        valueOf: (row) => textOf(row[end]),
      })),
    ),
    { name: 'pairs', type: 'int32', valueOf: ({ pairs }) => pairs },
    { name: 'synapses', type: 'int32', valueOf: ({ synapses }) => synapses },
    { name: 'sign', type: 'text', valueOf: signOf },
    { name: 'excitatory_pairs', type: 'int32', valueOf: ({ excitatoryPairs }) => excitatoryPairs },
    { name: 'inhibitory_pairs', type: 'int32', valueOf: ({ inhibitoryPairs }) => inhibitoryPairs },
  ];
}

function signOf({ pairs, excitatoryPairs, inhibitoryPairs }: ConnectionRow): string {
  if (excitatoryPairs === pairs) return 'excitatory';
  if (inhibitoryPairs === pairs) return 'inhibitory';
  return excitatoryPairs + inhibitoryPairs === 0 ? 'none' : 'mixed';
}
