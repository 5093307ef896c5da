/** Neurons that get input events, how many events, and how many rows tables may have: before a trial has run. */
import type { Connectome } from '../../connectome/connectome.js';
import { placeOf } from '../../connectome/sorted-array.js';
import { REFRACTORY_STEPS } from '../../simulation/network.js';
import { inputKindOf, type InputSettings } from '../kinds/input-kinds.js';
import type { EventKind, PlannedReport, ReportKind } from '../kinds/report-kind.js';
import { kindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import type { TrainWork } from '../kinds/train-work.js';
import type { PlannedInput } from './condition-settings.js';
import { allGroups, allNeurons, groupsOf } from './groups.js';
import type { ExperimentPlan } from './plan.js';
import { windowOf } from './planned-reports.js';
import type { ResponderAxis } from './sweep.js';

export interface ExpectedInput {
  /** Neurons that it stimulates in a condition with these places on the axes; the most there can be of responders. */
  neuronsAt(places: readonly number[]): number;
  /** Work of one trial. @param neurons number of those that get events */
  workOf(neurons: number, settings: InputSettings): TrainWork;
}

/** @param among neurons that count, such as those of a report; without it all do */
export function expectedInputs(
  { connectome, grid, inputs }: ExperimentPlan,
  among?: Uint32Array,
): ExpectedInput[] {
  const isCounted = among && markedNeurons(connectome, [among]);
  const count = (neurons: Uint32Array) => (isCounted ? countMarked(neurons, isCounted) : neurons.length);
  return inputs.map((planned) => {
    const { input, neurons, groupAxis } = planned;
    const axis = grid.axes[groupAxis];
    const own = count(neurons);
    const ofGroups = axis?.kind === 'groups' ? allGroups(axis.groups).map(count) : [];
    const most =
      axis?.kind === 'responders' ? Math.min(among?.length ?? Infinity, largestGroup(connectome, axis)) : 0;
    const counts = (neuron: number) => isCounted?.[neuron] !== 0 && placeOf(neurons, neuron) >= 0;
    const expected = inputKindOf(input).expected(connectome, input, counts, planned);
    return {
      neuronsAt(places) {
        if (axis === undefined) return own;
        const place = places[groupAxis]!;
        return place === 0 ? 0 : (ofGroups[place - 1] ?? most);
      },
      workOf: (stimulated, settings) => expected.of(stimulated, settings),
    };
  });
}

function largestGroup(connectome: Connectome, { groupBy }: ResponderAxis): number {
  const { sizes } = groupsOf(connectome, allNeurons(connectome), groupBy);
  return sizes.reduce((a, b) => Math.max(a, b), 0);
}

/** Rows that the tables of an answer may have from a condition on, by the members of its cost. */
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
    const index = grid.indexOf(condition);
    if (plan.isIdleAt(index)) continue;
    const { places, durationMs, inputs: settings } = plan.settingsAt(index);
    const window = windowOf(document, durationMs);
    let [stimulated, inputEvents] = [alwaysStimulated, 0];
    settings.forEach((own, at) => {
      const count = expected[at]!.neuronsAt(places);
      if (inputs[at]!.groupAxis >= 0 && isStimulus(own.input)) stimulated += count;
      const startStep = Math.max(own.startStep, window.startStep);
      const endStep = Math.max(startStep, Math.min(own.endStep, window.endStep));
      inputEvents += expected[at]!.workOf(count, { ...own, startStep, endStep }).inputEvents;
    });
    const { refractorySteps = REFRACTORY_STEPS } = plan.networkAt(index).constants ?? {};
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

/** Neurons of each input that stimulates the same ones in all conditions. */
export function alwaysStimulatedBy(inputs: readonly PlannedInput[]): Uint32Array[] {
  const always = inputs.filter(({ input, groupAxis }) => groupAxis < 0 && isStimulus(input));
  return always.map(({ neurons }) => neurons);
}

/** Tells whether an input takes the refractory period of its neurons away. */
function isStimulus(input: PlannedInput['input']): boolean {
  return inputKindOf(input).keepsRefractoryPeriod !== true;
}

/** @returns 1 for each neuron that is in one of the sets */
export function markedNeurons({ neuronCount }: Connectome, sets: readonly Uint32Array[]): Uint8Array {
  const marks = new Uint8Array(neuronCount);
  for (const set of sets) for (const neuron of set) marks[neuron] = 1;
  return marks;
}

export function countMarked(neurons: Uint32Array, marks: Uint8Array): number {
  return neurons.reduce((count, neuron) => count + marks[neuron]!, 0);
}
