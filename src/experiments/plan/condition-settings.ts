/** The numbers that a sweep may set: duration, seed and members of inputs, for each cell of the grid. */
import type { ExperimentDocument } from '../document/document.js';
import { stepsOf } from '../kinds/fields.js';
import type { InputDocument } from '../kinds/kind-schemas.js';
import { inputKindOf, sweptMembersOf } from '../kinds/input-kinds.js';
import type { InputSettings } from '../kinds/input-kind.js';
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

/** The settings of a cell. Called for every cell before a trial runs, so it must be cheap. */
export function settingsAt(
  cell: number,
  document: ExperimentDocument,
  inputs: readonly PlannedInput[],
  grid: Grid,
) {
  const coordinates = grid.coordinatesOf(cell);
  const valueOf = grid.valuesAt(cell);
  const durationMs = valueOf('duration_ms') ?? document.duration_ms;
  return {
    /** One for each axis of the grid. */
    coordinates,
    valueOf,
    durationMs,
    seed: valueOf('seed') ?? document.seed,
    /** In the order of the document. */
    inputs: inputs.map(({ name, input: given, swept }): InputSettings => {
      const values = swept.map((member) => [member, valueOf(`inputs.${name}.${member}`)]);
      const input = { ...given, ...(Object.fromEntries(values) as Partial<InputDocument>) };
      const { delay_ms: delayMs, duration_ms: windowMs } = input;
      const startStep = stepsOf(delayMs);
      const endStep = windowMs === null ? stepsOf(durationMs) : startStep + stepsOf(windowMs);
      return { input, startStep, endStep };
    }),
  };
}
