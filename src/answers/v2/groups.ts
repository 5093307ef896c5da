/** Divides neurons into groups by their labels: what a report counts together, what a screen silences together. */
import { SIDES, type Connectome } from '../../connectome/connectome.js';
import type { GroupLabel } from './document.js';

/** The labels of a group, in the order of `group_by`; empty where the neurons have none. */
export type GroupLabels = Readonly<Partial<Record<'root_id' | 'type' | 'side' | 'super_class', string>>>;

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
  const { ofPlaces, count } = divided(connectome, neurons, groupBy);
  const sizes = new Uint32Array(count);
  for (const group of ofPlaces) sizes[group]!++;

  const ends = new Uint32Array(sizes.length);
  for (let group = 0, end = 0; group < sizes.length; group++) ends[group] = end += sizes[group]!;
  const next = ends.map((end, group) => end - sizes[group]!);
  const byGroup = new Uint32Array(neurons.length);
  ofPlaces.forEach((group, place) => (byGroup[next[group]!++] = neurons[place]!));
  return {
    count,
    ofPlaces,
    sizes,
    labelsOf: (group) => {
      const first = byGroup[ends[group]! - sizes[group]!]!;
      const labels: Partial<Record<keyof GroupLabels, string>> = {};
      for (const label of groupBy) {
        labels[label === 'neuron' ? 'root_id' : label] = labelOf(connectome, label, first);
      }
      return labels;
    },
    neuronsOf: (group) => byGroup.slice(ends[group]! - sizes[group]!, ends[group]),
  };
}

/** A report may read the whole brain, so this has loops in place of callbacks, and short ways where there are any. */
function divided(
  connectome: Connectome,
  neurons: Uint32Array,
  groupBy: readonly GroupLabel[],
): Pick<Groups, 'ofPlaces' | 'count'> {
  const ofPlaces = new Uint32Array(neurons.length);
  if (groupBy.length === 0) return { ofPlaces, count: 1 };
  if (groupBy[0] === 'neuron') {
    for (let place = 0; place < neurons.length; place++) ofPlaces[place] = place;
    return { ofPlaces, count: neurons.length };
  }
  const ranks = groupBy.map((label) => ranksOf(connectome, label));
  // A double is exact up to 2^53: neurons and types have at most 18 and 16 bits, the others far less.
  const keys = new Float64Array(neurons.length);
  for (const { count, of } of ranks) {
    for (let place = 0; place < keys.length; place++)
      keys[place] = keys[place]! * count + of(neurons[place]!);
  }
  const distinct = Float64Array.from(new Set(keys)).sort();
  const groupOfKey = new Map(Array.from(distinct, (key, group) => [key, group]));
  for (let place = 0; place < keys.length; place++) ofPlaces[place] = groupOfKey.get(keys[place]!)!;
  return { ofPlaces, count: distinct.length };
}

function labelOf(connectome: Connectome, label: GroupLabel, neuron: number): string {
  const { types } = connectome.metadata;
  switch (label) {
    case 'neuron':
      return connectome.neuronId(neuron);
    case 'type':
      return types[connectome.typeIndices[neuron]!]!.name;
    case 'side':
      return SIDES[connectome.sides[neuron]!]!;
    case 'super_class':
      return superClassOf(connectome, neuron);
  }
}

interface Ranks {
  /** More than any rank. */
  readonly count: number;
  readonly of: (neuron: number) => number;
}

/** Numbers in the order of a label; equal labels have equal numbers. */
function ranksOf(connectome: Connectome, label: GroupLabel): Ranks {
  const { types, classes } = connectome.metadata;
  switch (label) {
    case 'neuron':
      return { count: connectome.neuronCount, of: (neuron) => neuron };
    case 'type': {
      const ranks = namesRanked(types.map(({ name }) => name));
      return { count: types.length, of: (neuron) => ranks[connectome.typeIndices[neuron]!]! };
    }
    case 'side':
      return { count: SIDES.length, of: (neuron) => connectome.sides[neuron]! };
    case 'super_class': {
      const ranks = namesRanked(classes.map(({ superClass }) => superClass));
      return { count: classes.length, of: (neuron) => ranks[connectome.classIndices[neuron]!]! };
    }
  }
}

function superClassOf({ metadata, classIndices }: Connectome, neuron: number): string {
  return metadata.classes[classIndices[neuron]!]!.superClass;
}

/** @returns the rank of each name; the empty one is last */
function namesRanked(names: readonly string[]): number[] {
  const ranked = [...new Set(names)].sort((a, b) => (a === '' ? 1 : b === '' || a < b ? -1 : 1));
  const rankOf = new Map(ranked.map((name, rank) => [name, rank]));
  return names.map((name) => rankOf.get(name)!);
}
