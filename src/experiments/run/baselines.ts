/** Decisions that the baselines of a sweep make: which groups responded, and which lesions change nothing. */
import { getOrInsert } from '../../get-or-insert.js';
import type { SpikeCounts } from '../kinds/report-kind.js';
import { allGroups, allNeurons, groupsOf, type Groups } from '../plan/groups.js';
import type { ExperimentPlan } from '../plan/plan.js';
import {
  groupOf,
  sparesSilent,
  valueAt,
  type AxisValue,
  type ResponderAxis,
  type SweptGroup,
} from '../plan/sweep.js';

/** Treatment of a condition. */
export type Decision =
  | { readonly kind: 'run'; readonly values: readonly AxisValue[] }
  /** A lesion of neurons that never spike in the baseline, or an edit of no connection: the result is the baseline's. */
  | { readonly kind: 'unchanged'; readonly values: readonly AxisValue[] }
  /** Fewer groups responded than the axis has places. */
  | { readonly kind: 'absent' }
  /** A baseline that decides has not been run. */
  | { readonly kind: 'undecided' };

/**
 * Why a lesion of a group without spikes changes nothing: trains depend on the seed, the trial, the input and the
 * neuron, so baseline and lesion have the same input events; and they differ only in whether the group's spikes are
 * delivered. There is none before the first one, so every step is the same, and so there is never a first one. That
 * includes delivered events, so a trial that the event budget ends does so at the same step, and neurons that are
 * stimulated, which count like all others. It holds for each trial on its own, so the counts of all trials must be 0; and
 * whatever else is edited, as baseline and lesion share it: constants, connections, windows of other silenced neurons.
 */
export class Baselines {
  /** Groups of an axis of responders, by the index of its baseline and the axis. */
  readonly #responders = new Map<string, readonly SweptGroup[]>();
  /** Groups of an axis that have spiked, by the same. */
  readonly #spiked = new Map<string, readonly boolean[]>();
  /** All neurons, as an axis of responders divides them. */
  readonly #divisions = new Map<ResponderAxis, Groups>();

  constructor(private readonly plan: ExperimentPlan) {}

  /** To be asked once what decides is known (Grid.decidersOf), or in ascending order of the index. */
  decide(index: number): Decision {
    const { grid } = this.plan;
    const control = grid.controlOf(index);
    if (control > 0) {
      const decision = this.decide(index - control);
      // A condition that is not run has no controls.
      return decision.kind === 'unchanged' ? { kind: 'absent' } : decision;
    }
    const places = grid.placesOf(index);
    const values: AxisValue[] = [];
    for (const [at, axis] of grid.axes.entries()) {
      const place = places[at]!;
      if (axis.kind !== 'responders' || place === 0) {
        values.push(valueAt(axis, place));
        continue;
      }
      const responders = this.#responders.get(keyOf(grid.originOf(index), at));
      if (responders === undefined) return { kind: 'undecided' };
      const group = responders[place - 1];
      if (group === undefined) return { kind: 'absent' };
      values.push(group);
    }
    // Spikes of such a condition decide on no other: those with the same group on this axis change nothing as well.
    if (this.plan.isIdleAt(index, values)) return { kind: 'unchanged', values };
    for (const [at, axis] of grid.axes.entries()) {
      const place = places[at]!;
      if (!grid.isOfGroups(at) || !sparesSilent(axis) || place === 0) continue;
      const baseline = grid.baselineOf(index, at);
      const spiked = this.#spiked.get(keyOf(baseline, at));
      if (spiked === undefined) return { kind: 'undecided' };
      if (!spiked[place - 1]!) {
        this.#copy(baseline, index);
        return { kind: 'unchanged', values };
      }
    }
    return { kind: 'run', values };
  }

  /** Takes the spikes of all trials of a condition that decides on others. */
  conclude(index: number, { neurons, spikes }: SpikeCounts): void {
    const { grid, connectome } = this.plan;
    const counts = new Uint32Array(connectome.neuronCount);
    neurons.forEach((neuron, at) => (counts[neuron] = spikes[at]!));
    const places = grid.placesOf(index);
    const origin = grid.originOf(index);
    grid.axes.forEach((axis, at) => {
      if (axis.kind === 'values' || places[at] !== 0 || !grid.isDecidedByBaseline(at)) return;
      const key = keyOf(index, at);
      if (axis.kind === 'responders' && index === origin) {
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

  /** Copies what was found of a condition to another with the same spikes. */
  #copy(from: number, to: number): void {
    this.plan.grid.axes.forEach((_, axis) => {
      const spiked = this.#spiked.get(keyOf(from, axis));
      if (spiked !== undefined) this.#spiked.set(keyOf(to, axis), spiked);
    });
  }
}

/** The groups with any spike, by spikes a neuron, the most active first; equal ones in the order of their labels. */
function respondersOf(groups: Groups, top: number, counts: Uint32Array): SweptGroup[] {
  const spikes = new Float64Array(groups.count);
  groups.ofPlaces.forEach((group, neuron) => (spikes[group]! += counts[neuron]!));
  const activity = (group: number) => spikes[group]! / groups.sizes[group]!;
  return Array.from(spikes.keys())
    .filter((group) => spikes[group]! > 0)
    .sort((a, b) => activity(b) - activity(a) || a - b)
    .slice(0, top)
    .map((group) => groupOf(groups, group));
}

function keyOf(index: number, axis: number): string {
  return `${index} ${axis}`;
}
