import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SIDES } from '../connectome/connectome.js';
import type { NeuronColumns } from './brain.js';
import { positionsOf } from './positions.js';
import type { TableReader } from './table-reader.js';

/** Not part of the release; used where it lies beside the tables. */
const ESTIMATED_POSITIONS_FILE = 'estimated_positions.csv.gz';

type LabelName = 'types' | 'superClasses' | 'classes' | 'subClasses' | 'sides';
type Labels = Pick<NeuronColumns, LabelName | 'positionsNm' | 'positionEstimated'>;

/**
 * Types, classes, sides and positions of the neurons, from the tables that Codex has for each.
 * @throws CodedError TABLE_INVALID
 */
export async function readLabels(tables: TableReader): Promise<Labels> {
  const labels = noLabels(tables.neurons.ids.length);
  const classColumns = ['root_id', 'super_class', 'class', 'sub_class', 'side'];
  await tables.readNeuronRows('classification.csv.gz', classColumns, (neuron, row) => {
    labels.superClasses[neuron] = row.text(1);
    labels.classes[neuron] = row.text(2);
    labels.subClasses[neuron] = row.text(3);
    labels.sides[neuron] = row.text(4);
    if (!(SIDES as readonly string[]).includes(row.text(4))) {
      throw row.fault(4, 'left, right, center or empty');
    }
  });
  const typeColumns = ['root_id', 'primary_type'];
  await tables.readNeuronRows('consolidated_cell_types.csv.gz', typeColumns, (neuron, row) => {
    labels.types[neuron] = row.text(1);
  });
  const measured = await tables.readPositions('coordinates.csv.gz');
  const estimated = existsSync(join(tables.dir, ESTIMATED_POSITIONS_FILE))
    ? await tables.readPositions(ESTIMATED_POSITIONS_FILE)
    : null;
  return { ...labels, ...positionsOf(labels, measured, estimated) };
}

/** Labels of neurons of which nothing but the id is known, all in the origin; to be filled in. */
export function noLabels(
  count: number,
): Record<LabelName, string[]> & Pick<Labels, 'positionsNm' | 'positionEstimated'> {
  const empty = (): string[] => new Array<string>(count).fill('');
  return {
    types: empty(),
    superClasses: empty(),
    classes: empty(),
    subClasses: empty(),
    sides: empty(),
    positionsNm: new Int32Array(3 * count),
    positionEstimated: new Uint8Array(count).fill(1),
  };
}
