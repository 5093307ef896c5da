/** What the baselines of a sweep decide: which groups responded, and which lesions change nothing. */
import type { Connectome } from '../../connectome/connectome.js';
import { groupsOf, type Groups } from './groups.js';
import { groupOf, type AxisValue, type Grid, type ResponderAxis, type SweptGroup } from './sweep.js';

/** What to do with a condition. */
export type Decision =
  | { readonly kind: 'run'; readonly values: readonly AxisValue[] }
  /** A lesion of neurons that never spike in the baseline: the result is the baseline's. */
  | { readonly kind: 'unchanged'; readonly values: readonly AxisValue[] }
  /** Fewer groups responded than the axis has places. */
  | { readonly kind: 'absent' }
  /** A baseline that decides has not been run. */
  | { readonly kind: 'undecided' };

/** Spikes of every neuron in all trials of a condition. */
export type SpikeCounts = Uint32Array;

/**
 * Why a lesion of a group without spikes changes nothing: trains depend on the seed, the trial, the input and the
 * neuron, so baseline and lesion have the same input events; and the two differ in what is delivered of the group's
 * spikes alone. There is none before the first one, so every step is the same, and so there is never a first one. That
 * includes delivered events, so a trial that the event budget ends does so at the same step, and neurons that are
 * stimulated, which count like all others. It holds for each trial on its own, so the counts of all trials must be 0.
 */
export class Baselines {
  /** Of an axis and its baseline: the groups, and whether each has spiked. */
  readonly #responders = new Map<string, readonly SweptGroup[]>();
  readonly #spiked = new Map<string, readonly boolean[]>();
  /** All neurons, as an axis of responders divides them. */
  readonly #divisions = new Map<ResponderAxis, Groups>();

  constructor(
    private readonly connectome: Connectome,
    private readonly grid: Grid,
  ) {}

  /** To be asked once what decides is known (Grid.decidersOf), or in ascending order of the index. */
  decide(index: number): Decision {
    const { grid } = this;
    const places = grid.placesOf(index);
    const values: AxisValue[] = [];
    for (const [at, axis] of grid.axes.entries()) {
      const place = places[at]!;
      if (axis.kind === 'values') values.push(axis.values[place]!);
      else if (place === 0) values.push(null);
      else if (axis.kind === 'groups') values.push(groupOf(axis.groups, place - 1));
      else {
        const responders = this.#responders.get(keyOf(grid.originOf(index), at));
        if (responders === undefined) return { kind: 'undecided' };
        const group = responders[place - 1];
        if (group === undefined) return { kind: 'absent' };
        values.push(group);
      }
    }
    for (const [at, axis] of grid.axes.entries()) {
      if (axis.kind === 'values' || axis.name !== 'silence' || places[at] === 0) continue;
      const baseline = grid.baselineOf(index, at);
      const spiked = this.#spiked.get(keyOf(baseline, at));
      if (spiked === undefined) return { kind: 'undecided' };
      if (!spiked[places[at]! - 1]!) {
        this.#copy(baseline, index);
        return { kind: 'unchanged', values };
      }
    }
    return { kind: 'run', values };
  }

  /** Takes the counts of a condition that decides on others. */
  conclude(index: number, counts: SpikeCounts): void {
    const { grid } = this;
    const places = grid.placesOf(index);
    const origin = grid.originOf(index);
    grid.axes.forEach((axis, at) => {
      if (axis.kind === 'values' || places[at] !== 0 || !grid.isDecidedByBaseline(at)) return;
      const key = keyOf(index, at);
      if (axis.kind === 'responders' && index === origin) {
        this.#responders.set(key, respondersOf(this.#divisionOf(axis), axis.top, counts));
      }
      if (axis.name !== 'silence') return;
      const groups =
        axis.kind === 'groups'
          ? Array.from({ length: axis.groups.count }, (_, group) => axis.groups.neuronsOf(group))
          : this.#responders.get(keyOf(origin, at))!.map(({ neurons }) => neurons);
      this.#spiked.set(
        key,
        groups.map((neurons) => neurons.some((neuron) => counts[neuron]! > 0)),
      );
    });
  }

  #divisionOf(axis: ResponderAxis): Groups {
    let division = this.#divisions.get(axis);
    if (division === undefined) {
      division = groupsOf(this.connectome, allNeurons(this.connectome), axis.groupBy);
      this.#divisions.set(axis, division);
    }
    return division;
  }

  /** What was found of a condition holds for another with the same spikes. */
  #copy(from: number, to: number): void {
    this.grid.axes.forEach((_, axis) => {
      const spiked = this.#spiked.get(keyOf(from, axis));
      if (spiked !== undefined) this.#spiked.set(keyOf(to, axis), spiked);
    });
  }
}

/** The groups with any spike, by spikes a neuron, the most active first; equal ones in the order of their labels. */
function respondersOf(groups: Groups, top: number, counts: SpikeCounts): SweptGroup[] {
  const spikes = new Float64Array(groups.count);
  groups.ofPlaces.forEach((group, neuron) => (spikes[group]! += counts[neuron]!));
  const activity = (group: number) => spikes[group]! / groups.sizes[group]!;
  return Array.from(spikes.keys())
    .filter((group) => spikes[group]! > 0)
    .sort((a, b) => activity(b) - activity(a) || a - b)
    .slice(0, top)
    .map((group) => groupOf(groups, group));
}

export function allNeurons({ neuronCount }: Connectome): Uint32Array {
  return Uint32Array.from({ length: neuronCount }, (_, neuron) => neuron);
}

function keyOf(index: number, axis: number): string {
  return `${index} ${axis}`;
}
