/** Decides from the spikes of baselines which groups a sweep has and which cells need not be run. */
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { InParts } from '../../engine/parts.js';
import { allGroups, allNeurons, groupsOf, type Groups } from '../kinds/groups.js';
import { markedNeurons } from '../plan/expected-inputs.js';
import type { ExperimentPlan } from '../plan/plan.js';
import { controlledReports } from '../plan/planned-reports.js';
import type { RunConditionResult } from './condition-result.js';
import { divisionsOf, MatchedSets, type NamedSet } from './matched-sets.js';
import {
  groupOf,
  sparesSilent,
  valueAt,
  type AxisValue,
  type ResponderAxis,
  type SweptGroup,
} from '../kinds/grid.js';

/** The decision about a cell. */
export type Decision =
  | {
      readonly kind: 'run';
      readonly values: readonly AxisValue[];
      /** Present if the values have matched neurons. */
      readonly matched?: RunConditionResult['matched'];
    }
  /** The result is the baseline's: the silenced neurons never spike there, or no connection changes. */
  | { readonly kind: 'unchanged'; readonly values: readonly AxisValue[] }
  /** Fewer groups responded than the axis has coordinates. */
  | { readonly kind: 'absent' }
  /** A baseline that decides has not been run. */
  | { readonly kind: 'undecided' }
  /** Its controls are not drawn. Decide again after that. */
  | { readonly kind: 'undrawn'; readonly drawing: InParts<void> };

/** Limits the conditions whose controls stay drawn. */
const MAX_DRAWN = 4;

/** A baseline of the matched axis. */
interface Matching {
  readonly result: RunConditionResult;
  readonly spikes: Uint32Array;
  /** Made for the first control. */
  sets?: MatchedSets | undefined;
}

/**
 * Takes the spikes of baselines and decides about other cells.
 *
 * Silencing a group that never spikes in the baseline changes nothing. Proof: both trials have the same input events, because
 * these depend only on seed, trial, input and neuron. The trials differ only in the delivery of the group's spikes. Until the
 * first such spike they are equal; in the baseline there is none, so the silenced trial has none either.
 *
 * - Delivered events are equal too, so an event budget ends both trials at the same step.
 * - The proof is for one trial. So a group must have no spike in any trial.
 * - Other edits do not matter, because both trials share them.
 */
export class Baselines {
  /** The groups of an axis of responders, by its baseline and the axis. */
  readonly #responders = new Map<string, readonly SweptGroup[]>();
  /** For each group of an axis, whether it has spiked in the baseline; by the same key. */
  readonly #spiked = new Map<string, readonly boolean[]>();
  /** All neurons, divided into the groups of an axis of responders. */
  readonly #divisions = new Map<ResponderAxis, Groups>();

  /** Baselines of the axis whose groups controls replace, by cell. */
  readonly #matching = new Map<number, Matching>();

  /** The sets of the controls of a few conditions, by cell. */
  readonly #drawn = new Map<number, readonly NamedSet[]>();

  /** All neurons, divided by the labels that controls match. Made for the first control. */
  #matched: readonly Groups[] | undefined;

  constructor(private readonly plan: ExperimentPlan) {}

  /** Call it after the cell's deciders (Grid.decidersOf) have been concluded. */
  decide(cell: number): Decision {
    const { grid } = this.plan;
    const control = grid.controlOf(cell);
    if (control > 0) {
      if (!grid.isUsed(cell)) return { kind: 'absent' };
      const decision = this.decide(cell - control);
      // If a condition is not run, its controls are not either.
      if (decision.kind === 'unchanged') return { kind: 'absent' };
      return decision.kind === 'run' ? this.#matchedTo(cell - control, control, decision.values) : decision;
    }
    const coordinates = grid.coordinatesOf(cell);
    const values: AxisValue[] = [];
    for (const [at, axis] of grid.axes.entries()) {
      const coordinate = coordinates[at]!;
      if (axis.kind !== 'responders' || coordinate === 0) {
        values.push(valueAt(axis, coordinate));
        continue;
      }
      const responders = this.#responders.get(keyOf(grid.originOf(cell), at));
      if (responders === undefined) return { kind: 'undecided' };
      const group = responders[coordinate - 1];
      if (group === undefined) return { kind: 'absent' };
      values.push(group);
    }
    // Its spikes are not needed to decide others: cells with the same group on this axis change nothing either.
    if (this.plan.isIdleAt(cell, values)) return { kind: 'unchanged', values };
    for (const [at, axis] of grid.axes.entries()) {
      const coordinate = coordinates[at]!;
      if (!grid.isOfGroups(at) || !sparesSilent(axis) || coordinate === 0) continue;
      const baseline = grid.baselineOf(cell, at);
      const spiked = this.#spiked.get(keyOf(baseline, at));
      if (spiked === undefined) return { kind: 'undecided' };
      if (!spiked[coordinate - 1]!) {
        this.#copy(baseline, cell);
        return { kind: 'unchanged', values };
      }
    }
    return this.#matchedTo(cell, this.plan.controls?.only ?? 0, values);
  }

  /** The result of the baseline of a control whose neurons never spike there. */
  resultBefore(cell: number): RunConditionResult {
    const { grid } = this.plan;
    return this.#matching.get(grid.baselineOf(cell - grid.controlOf(cell), grid.matchedAxis))!.result;
  }

  /** Replaces the group on the matched axis by the neurons of a control; 0 for the condition itself. */
  #matchedTo(cell: number, control: number, sweptValues: readonly AxisValue[]): Decision {
    const { grid, controls, connectome } = this.plan;
    const at = grid.matchedAxis;
    const group = sweptValues[at];
    if (control === 0 || typeof group !== 'object' || group === null) {
      return { kind: 'run', values: sweptValues };
    }
    const matching = this.#matching.get(grid.baselineOf(cell, at));
    if (matching === undefined) return { kind: 'undecided' };
    const drawn = this.#drawn.get(cell);
    if (drawn === undefined) {
      return { kind: 'undrawn', drawing: this.#draw(cell, sweptValues, group, matching) };
    }
    if (controls?.only !== undefined) {
      const [{ neurons, ...set }] = drawn as [NamedSet];
      const ids = Array.from(neurons, (neuron) => connectome.neuronId(neuron)).join(' ');
      const labels = { ...group.labels, drawn: ids };
      const values = sweptValues.with(at, { labels, neurons });
      return { kind: 'run', values, matched: shortOf(set) };
    }
    const { neurons, name, isRepeated, isSilent, ...set } = drawn[control - 1]!;
    if (isRepeated) return { kind: 'absent' };
    return {
      kind: 'run',
      values: sweptValues.with(at, { labels: group.labels, neurons }),
      matched: { ...shortOf(set), set: isSilent && sparesSilent(grid.axes[at]!) ? '' : name },
    };
  }

  /** Draws the sets of the controls of a condition. */
  *#draw(
    cell: number,
    values: readonly AxisValue[],
    { neurons }: SweptGroup,
    matching: Matching,
  ): InParts<void> {
    const { grid, controls, connectome } = this.plan;
    this.#matched ??= yield* divisionsOf(connectome, controls!);
    const sets = (matching.sets ??= this.#setsOf(cell, values, this.#matched));
    yield;
    const { only } = controls!;
    const numbers = only === undefined ? Array.from({ length: grid.controls }, (_, at) => at + 1) : [only];
    const { seed } = this.plan.settingsAt(cell);
    this.#drawn.set(cell, yield* sets.drawing(neurons, seed, numbers, grid.conditionOf(cell)));
    if (this.#drawn.size > MAX_DRAWN) this.#drawn.delete(this.#drawn.keys().next().value!);
  }

  #setsOf(cell: number, values: readonly AxisValue[], divisions: readonly Groups[]): MatchedSets {
    const { connectome, grid, reports, controls } = this.plan;
    const baseline = this.plan.condition(cell, values.with(grid.matchedAxis, null)).protocol;
    const stimuli = baseline.inputs.filter(({ train }) => train.kind !== 'background');
    const isLeftOut = markedNeurons(connectome, [
      baseline.silenced,
      ...[...stimuli, ...(baseline.silencedWindows ?? []), ...controlledReports(reports)].map(
        ({ neurons }) => neurons,
      ),
    ]);
    const { spikes } = this.#matching.get(grid.baselineOf(cell, grid.matchedAxis))!;
    return new MatchedSets(connectome, controls!, divisions, isLeftOut, spikes);
  }

  /** Takes the result of a cell that decides others. */
  conclude(cell: number, result: RunConditionResult): void {
    const { grid, connectome } = this.plan;
    const { neurons, spikes } = result.spikesOfAll!;
    const counts = new Uint32Array(connectome.neuronCount);
    neurons.forEach((neuron, at) => (counts[neuron] = spikes[at]!));
    const coordinates = grid.coordinatesOf(cell);
    if (coordinates[grid.matchedAxis] === 0) this.#matching.set(cell, { result, spikes: counts });
    const origin = grid.originOf(cell);
    grid.axes.forEach((axis, at) => {
      if (axis.kind === 'values' || coordinates[at] !== 0 || !grid.isDecidedByBaseline(at)) return;
      const key = keyOf(cell, at);
      if (axis.kind === 'responders' && cell === origin) {
        this.#responders.set(key, respondersOf(this.#divisionOf(axis), axis.top, counts));
      }
      if (!sparesSilent(axis)) return;
      const groups =
        axis.kind === 'groups'
          ? allGroups(axis.groups)
          : this.#responders.get(keyOf(origin, at))!.map((group) => group.neurons);
      const hasSpiked = (group: Uint32Array) => group.some((neuron) => counts[neuron]! > 0);
      this.#spiked.set(key, groups.map(hasSpiked));
    });
  }

  #divisionOf(axis: ResponderAxis): Groups {
    const { connectome } = this.plan;
    return getOrInsert(this.#divisions, axis, ({ groupBy }) =>
      groupsOf(connectome, allNeurons(connectome), groupBy),
    );
  }

  /** Copies conclusions from a cell to another with the same spikes. */
  #copy(from: number, to: number): void {
    const matching = this.#matching.get(from);
    if (matching !== undefined) this.#matching.set(to, { ...matching, sets: undefined });
    this.plan.grid.axes.forEach((_, axis) => {
      const spiked = this.#spiked.get(keyOf(from, axis));
      if (spiked !== undefined) this.#spiked.set(keyOf(to, axis), spiked);
    });
  }
}

/** The groups with a spike, sorted by spikes per neuron, the most active first; ties in the order of labels. */
function respondersOf(groups: Groups, top: number, counts: Uint32Array): SweptGroup[] {
  const spikes = new Float64Array(groups.count);
  groups.groupOfPosition.forEach((group, neuron) => (spikes[group]! += counts[neuron]!));
  const activity = (group: number) => spikes[group]! / groups.sizes[group]!;
  return Array.from(spikes.keys())
    .filter((group) => spikes[group]! > 0)
    .sort((a, b) => activity(b) - activity(a) || a - b)
    .slice(0, top)
    .map((group) => groupOf(groups, group));
}

function keyOf(cell: number, axis: number): string {
  return `${cell} ${axis}`;
}

/** The facts about a draw that a result keeps. */
function shortOf({ short, fewer }: Pick<NamedSet, 'short' | 'fewer'>) {
  return { short, ...(fewer !== undefined && { fewer }) };
}
