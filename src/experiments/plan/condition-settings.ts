/** The numbers that a sweep may set, in each condition of its grid. */
import type { ExperimentDocument } from '../document/document.js';
import { stepsOf } from '../document/fields.js';
import type { InputDocument } from '../document/kind-schemas.js';
import { inputKindOf, sweptMembersOf, type InputNeurons, type InputSettings } from '../kinds/input-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import type { ResolvedDocument } from './resolve-document.js';
import type { Grid } from './sweep.js';

/** Its neurons lie in shared memory. */
export interface PlannedInput extends InputNeurons {
  readonly name: string;
  readonly input: InputDocument;
  /** Place of the axis whose groups take the place of these neurons, -1 for none. */
  readonly groupAxis: number;
  /** Members that are swept, with the places of their axes. */
  readonly swept: readonly (readonly [member: string, axis: number])[];
}

/** @param resolved neurons of each input, by `inputs.NAME`, and rows, where it has several */
export function plannedInputs(
  { inputs }: ExperimentDocument,
  resolved: Pick<ResolvedDocument, 'neurons' | 'rows'>,
  grid: Grid,
): PlannedInput[] {
  return Object.entries(inputs).map(([name, input]) => ({
    name,
    input,
    neurons: sharedArray(resolved.neurons.get(`inputs.${name}`)!),
    ...(resolved.rows.has(name) && { rows: sharedArray(resolved.rows.get(name)!, Uint16Array) }),
    groupAxis: grid.axisOf(`inputs.${name}`),
    swept: Object.keys(sweptMembersOf(inputKindOf(input)))
      .map((member) => [member, grid.axisOf(`inputs.${name}.${member}`)] as const)
      .filter(([, axis]) => axis >= 0),
  }));
}

export interface Settings {
  /** On the axes of the grid. */
  readonly places: readonly number[];
  readonly durationMs: number;
  readonly seed: number;
  /** In the order of the document. */
  readonly inputs: readonly InputSettings[];
  /** @returns undefined where no axis sets the parameter */
  valueOf(parameter: string): number | undefined;
}

/** Asked for every condition before anything is run. */
export function settingsAt(
  index: number,
  document: ExperimentDocument,
  inputs: readonly PlannedInput[],
  grid: Grid,
): Settings {
  const places = grid.placesOf(index);
  const valueOf = grid.valuesAt(index);
  const durationMs = valueOf('duration_ms') ?? document.duration_ms;
  return {
    places,
    valueOf,
    durationMs,
    seed: valueOf('seed') ?? document.seed,
    inputs: inputs.map(({ name, input: given, swept }) => {
      const values = swept.map(([member]) => [member, valueOf(`inputs.${name}.${member}`)]);
      const input = { ...given, ...(Object.fromEntries(values) as Partial<InputDocument>) };
      const { delay_ms: delayMs, duration_ms: windowMs } = input;
      const startStep = stepsOf(delayMs);
      const endStep = windowMs === null ? stepsOf(durationMs) : startStep + stepsOf(windowMs);
      return { input, startStep, endStep };
    }),
  };
}
