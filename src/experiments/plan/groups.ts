/** Divides neurons into groups by their labels: what a report counts together, what a screen silences together. */
import { SIDES, type Connectome } from '../../connectome/connectome.js';
import { labelOf } from '../../connectome/neuron-index.js';
import { getOrInsert } from '../../get-or-insert.js';
import type { GroupLabel } from '../document/document.js';

/** The labels of a group, in the order of `group_by`; empty where the neurons have none. */
export type GroupLabels = Readonly<Partial<Record<'root_id' | NamingLabel, string>>>;

/** The member of a group that says its label. */
export function labelMember(label: GroupLabel): keyof GroupLabels {
  return label === 'neuron' ? 'root_id' : label;
}

export interface Groups {
  readonly count: number;
  /** The group of each neuron, by its place in the list that was divided. */
  readonly ofPlaces: Uint32Array;
  /** Neurons in each group. */
  readonly sizes: Uint32Array;
  labelsOf(group: number): GroupLabels;
  /** Ascending. */
  neuronsOf(group: number): Uint32Array;
}

/**
 * Groups stand in the order of their labels, the first of `groupBy` first: names by code unit, sides as left, right,
 * center, neurons by index; what has no label is last. Without labels all neurons are one group.
 * @param neurons ascending, at least one
 */
export function groupsOf(
  connectome: Connectome,
  neurons: Uint32Array,
  groupBy: readonly GroupLabel[],
): Groups {
  const isByNeuron = groupBy.includes('neuron');
  const ranks: Ranks[] = [];
  for (const label of groupBy) {
    // They stand in their own order, and labels after that one divide nothing.
    if (label === 'neuron') break;
    ranks.push(ranksOf(connectome, label));
  }
  const places = placesInOrder(neurons, ranks);
  const ofPlaces = new Uint32Array(neurons.length);
  const byGroup = new Uint32Array(neurons.length);
  /** Where each group begins in `byGroup`. */
  const starts: number[] = [];
  for (let at = 0; at < places.length; at++) {
    const place = places[at]!;
    byGroup[at] = neurons[place]!;
    if (at === 0 || isByNeuron || differ(ranks, byGroup[at - 1]!, byGroup[at]!)) starts.push(at);
    ofPlaces[place] = starts.length - 1;
  }
  const texts = groupBy.map((label) => ({
    member: labelMember(label),
    textOf: label === 'neuron' ? (neuron: number) => connectome.neuronId(neuron) : labelOf(connectome, label),
  }));
  const endOf = (group: number) => starts[group + 1] ?? byGroup.length;
  return {
    count: starts.length,
    ofPlaces,
    sizes: Uint32Array.from(starts, (start, group) => endOf(group) - start),
    labelsOf: (group) => {
      const first = byGroup[starts[group]!]!;
      const labels: Partial<Record<keyof GroupLabels, string>> = {};
      for (const { member, textOf } of texts) labels[member] = textOf(first);
      return labels;
    },
    neuronsOf: (group) => byGroup.subarray(starts[group], endOf(group)),
  };
}

/** The neurons of each group. */
export function allGroups(groups: Groups): Uint32Array[] {
  return Array.from(groups.sizes, (_, group) => groups.neuronsOf(group));
}

export function allNeurons({ neuronCount }: Connectome): Uint32Array {
  return Uint32Array.from({ length: neuronCount }, (_, neuron) => neuron);
}

function differ(ranks: readonly Ranks[], a: number, b: number): boolean {
  for (const { ofNeurons } of ranks) if (ofNeurons[a] !== ofNeurons[b]) return true;
  return false;
}

/**
 * Places in the list of neurons, in the order of the labels, then of the list: counted label by label, the last one
 * first, because a report may read the whole brain.
 */
function placesInOrder(neurons: Uint32Array, ranks: readonly Ranks[]): Uint32Array {
  // A loop is ten times as fast as an iterator.
  let places = new Uint32Array(neurons.length);
  for (let place = 0; place < places.length; place++) places[place] = place;
  for (const { count, ofNeurons } of [...ranks].reverse()) {
    const next = new Uint32Array(count + 1);
    for (let place = 0; place < neurons.length; place++) next[ofNeurons[neurons[place]!]! + 1]!++;
    for (let rank = 0; rank < count; rank++) next[rank + 1]! += next[rank]!;
    const sorted = new Uint32Array(neurons.length);
    for (let at = 0; at < places.length; at++) {
      const rank = ofNeurons[neurons[places[at]!]!]!;
      sorted[next[rank]!++] = places[at]!;
    }
    places = sorted;
  }
  return places;
}

/** Number of every neuron in the order of a label; equal labels have equal numbers. */
interface Ranks {
  /** More than any rank. */
  readonly count: number;
  readonly ofNeurons: Uint32Array;
}

type NamingLabel = Exclude<GroupLabel, 'neuron'>;

const CLASS_MEMBERS = { super_class: 'superClass', class: 'class', sub_class: 'subClass' } as const;

/** Many reports are divided by the same labels. */
const RANKS = new WeakMap<Connectome, Map<NamingLabel, Ranks>>();

function ranksOf(connectome: Connectome, label: NamingLabel): Ranks {
  const known = getOrInsert(RANKS, connectome, () => new Map<NamingLabel, Ranks>());
  return getOrInsert(known, label, () => newRanks(connectome, label));
}

/** By name; the empty one is last. */
function newRanks({ metadata, typeIndices, classIndices, sides }: Connectome, label: NamingLabel): Ranks {
  if (label === 'side') return { count: SIDES.length, ofNeurons: Uint32Array.from(sides) };
  const isType = label === 'type';
  const names = isType
    ? metadata.types.map(({ name }) => name)
    : metadata.classes.map((each) => each[CLASS_MEMBERS[label]]);
  const ordered = [...new Set(names)].sort((a, b) => (a === '' ? 1 : b === '' || a < b ? -1 : 1));
  const rankOf = new Map(ordered.map((name, rank) => [name, rank]));
  const ranks = names.map((name) => rankOf.get(name)!);
  const ofNeurons = Uint32Array.from(isType ? typeIndices : classIndices, (index) => ranks[index]!);
  return { count: ordered.length, ofNeurons };
}
