/** Plans the inputs of a document. */
import type { ExperimentDocument } from '../document/document.js';
import { inputKindOf, sweptMembersOf } from '../kinds/input-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import type { ResolvedDocument } from './resolve-document.js';
import type { Grid } from '../kinds/grid.js';

/**
 * The inputs of the document with their neurons, in shared memory.
 * @param resolved the neurons by `inputs.NAME`, and the rows by the name of the input, if it has rows
 */
export function plannedInputs(
  { inputs }: ExperimentDocument,
  resolved: Pick<ResolvedDocument, 'neurons' | 'rows'>,
  grid: Grid,
) {
  return Object.entries(inputs).map(([name, input]) => ({
    name,
    input,
    neurons: sharedArray(resolved.neurons.get(`inputs.${name}`)!),
    ...(resolved.rows.has(name) && { rows: sharedArray(resolved.rows.get(name)!, Uint16Array) }),
    /** Number of the axis whose groups replace these neurons, or -1. */
    groupAxis: grid.axisOf(`inputs.${name}`),
    swept: Object.keys(sweptMembersOf(inputKindOf(input))).filter(
      (member) => grid.axisOf(`inputs.${name}.${member}`) >= 0,
    ),
  }));
}

export type PlannedInput = ReturnType<typeof plannedInputs>[number];
