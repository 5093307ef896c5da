import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SIDES } from '../connectome/connectome.js';
import type { NeuronColumns } from './brain.js';
import { positionsOf } from './positions.js';
import type { TableReader } from './table-reader.js';

/** Not part of the release; used where it lies beside the tables. */
const ESTIMATED_POSITIONS_FILE = 'estimated_positions.csv.gz';

type Labels = Pick<
  NeuronColumns,
  'types' | 'superClasses' | 'classes' | 'subClasses' | 'sides' | 'positionsNm' | 'positionEstimated'
>;

/**
 * Types, classes, sides and positions of the neurons, from the tables that Codex has for each.
 * @throws CodedError TABLE_INVALID
 */
export async function readLabels(tables: TableReader): Promise<Labels> {
  const labels = noLabels(tables.index.highs.length);
  await tables.readNeuronRows(
    'classification.csv.gz',
    ['root_id', 'super_class', 'class', 'sub_class', 'side'],
    'one row per neuron',
    (neuron, row) => {
      labels.superClasses[neuron] = tables.shared(row.text(1));
      labels.classes[neuron] = tables.shared(row.text(2));
      labels.subClasses[neuron] = tables.shared(row.text(3));
      labels.sides[neuron] = tables.shared(row.text(4));
      if (!(SIDES as readonly string[]).includes(labels.sides[neuron])) {
        throw row.fault(4, 'left, right, center or empty');
      }
    },
  );

  await tables.readNeuronRows(
    'consolidated_cell_types.csv.gz',
    ['root_id', 'primary_type'],
    'one row per neuron',
    (neuron, row) => (labels.types[neuron] = tables.shared(row.text(1))),
  );

  const measured = await tables.readPositions('coordinates.csv.gz');
  const estimated = existsSync(join(tables.dir, ESTIMATED_POSITIONS_FILE))
    ? await tables.readPositions(ESTIMATED_POSITIONS_FILE)
    : null;
  return { ...labels, ...positionsOf(labels, measured, estimated) };
}

/** Labels of neurons of which nothing but the id is known, to be filled in. */
export function noLabels(
  count: number,
): Record<'types' | 'superClasses' | 'classes' | 'subClasses' | 'sides', string[]> {
  const empty = (): string[] => new Array<string>(count).fill('');
  return { types: empty(), superClasses: empty(), classes: empty(), subClasses: empty(), sides: empty() };
}
