/** Estimates made before any trial runs: stimulated neurons, input events, and rows of tables. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { positionOf } from '../../engine/connectome/sorted-array.js';
import { REFRACTORY_STEPS } from '../../engine/simulation/network.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import type { EventKind, PlannedReport, ReportKind } from '../kinds/report-kind.js';
import { kindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import type { PlannedInput } from './planned-inputs.js';
import { allGroups, allNeurons, groupsOf } from '../kinds/groups.js';
import type { ExperimentPlan } from './plan.js';
import { windowOf } from './planned-reports.js';
import type { ResponderAxis } from '../kinds/grid.js';

/** @param among count only these neurons, such as those of a report; by default all */
export function expectedInputs({ connectome, grid, inputs }: ExperimentPlan, among?: Uint32Array) {
  const isCounted = among && markedNeurons(connectome, [among]);
  const count = (neurons: Uint32Array) => (isCounted ? countMarked(neurons, isCounted) : neurons.length);
  return inputs.map((planned) => {
    const { input, neurons, groupAxis } = planned;
    const axis = grid.axes[groupAxis];
    const countOfAll = count(neurons);
    const ofGroups = axis?.kind === 'groups' ? allGroups(axis.groups).map(count) : [];
    const maxCount =
      axis?.kind === 'responders' ? Math.min(among?.length ?? Infinity, largestGroup(connectome, axis)) : 0;
    const counts = (neuron: number) => isCounted?.[neuron] !== 0 && positionOf(neurons, neuron) >= 0;
    const expected = inputKindOf(input).expected(connectome, input, counts, planned);
    return {
      /** Number of neurons that the input stimulates in a cell with these coordinates; an upper bound for responders. */
      neuronsAt(coordinates: readonly number[]): number {
        if (axis === undefined) return countOfAll;
        const coordinate = coordinates[groupAxis]!;
        return coordinate === 0 ? 0 : (ofGroups[coordinate - 1] ?? maxCount);
      },
      workOf: expected.of,
    };
  });
}

/** Size of the largest group that the axis may have. */
export function largestGroup(connectome: Connectome, { groupBy }: ResponderAxis): number {
  const { sizes } = groupsOf(connectome, allNeurons(connectome), groupBy);
  return sizes.reduce((a, b) => Math.max(a, b), 0);
}

/** Estimated rows of tables in an answer that starts at a condition, by the members of a dry run's cost. */
export function expectedRows(plan: ExperimentPlan, from: number): Readonly<Record<string, number>> {
  const ofKinds = Object.values<ReportKind>(REPORT_KINDS).flatMap((kind) => {
    const reports = plan.reports.filter(({ document }) => kindOf(document) === kind);
    if (kind.shape !== 'events' || reports.length === 0) return [];
    const rows = reports.reduce((sum, report) => sum + rowsOfReport(plan, report, kind, from), 0);
    return [[kind.cost.member, Math.round(rows)] as const];
  });
  return Object.fromEntries(ofKinds);
}

function rowsOfReport(plan: ExperimentPlan, report: PlannedReport, kind: EventKind, from: number): number {
  const { connectome, grid, trials, inputs } = plan;
  const { document, neurons } = report;
  const expected = expectedInputs(plan, neurons);
  const alwaysStimulated = countMarked(neurons, markedNeurons(connectome, alwaysStimulatedBy(inputs)));
  let rows = 0;
  for (let condition = from; condition < grid.conditions; condition++) {
    const cell = grid.cellOf(condition);
    if (plan.isIdleAt(cell)) continue;
    const { coordinates, durationMs, inputs: settings } = plan.settingsAt(cell);
    const window = windowOf(document, durationMs);
    let [stimulated, inputEvents] = [alwaysStimulated, 0];
    settings.forEach((own, at) => {
      const count = expected[at]!.neuronsAt(coordinates);
      if (inputs[at]!.groupAxis >= 0 && isStimulus(own.input)) stimulated += count;
      const startStep = Math.max(own.startStep, window.startStep);
      const endStep = Math.max(startStep, Math.min(own.endStep, window.endStep));
      inputEvents += expected[at]!.workOf(count, { ...own, startStep, endStep }).inputEvents;
    });
    const { refractorySteps = REFRACTORY_STEPS } = plan.networkAt(cell).constants ?? {};
    rows += kind.expectedRows({
      document,
      window,
      neurons: neurons.length,
      stimulated: Math.min(neurons.length, stimulated),
      inputEvents,
      refractorySteps,
    });
  }
  return trials * rows;
}

/** The neurons of each input that stimulates the same neurons in all conditions. */
export function alwaysStimulatedBy(inputs: readonly PlannedInput[]): Uint32Array[] {
  const always = inputs.filter(({ input, groupAxis }) => groupAxis < 0 && isStimulus(input));
  return always.map(({ neurons }) => neurons);
}

/** Tells whether the input removes the refractory period of its neurons. */
function isStimulus(input: PlannedInput['input']): boolean {
  return inputKindOf(input).keepsRefractoryPeriod !== true;
}

/** @returns for each neuron of the connectome 1 if it is in one of the sets, otherwise 0 */
export function markedNeurons({ neuronCount }: Connectome, sets: readonly Uint32Array[]): Uint8Array {
  const marks = new Uint8Array(neuronCount);
  for (const set of sets) for (const neuron of set) marks[neuron] = 1;
  return marks;
}

export function countMarked(neurons: Uint32Array, marks: Uint8Array): number {
  return neurons.reduce((count, neuron) => count + marks[neuron]!, 0);
}
