/** Divides neurons into groups by their labels. Reports count a group together; a sweep silences or stimulates it together. */
import { SIDES, type Connectome } from '../../engine/connectome/connectome.js';
import { labelOf } from '../../engine/connectome/neuron-index.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { GroupLabel } from './fields.js';

/** The labels of a group, in the order of `group_by`. A label is an empty text if the neurons have none. */
export type GroupLabels = Readonly<Partial<Record<'root_id' | NamingLabel, string>>>;

/** The member of a group in an answer that holds a label. */
export function labelMember(label: GroupLabel): keyof GroupLabels {
  return label === 'neuron' ? 'root_id' : label;
}

export interface Groups {
  readonly count: number;
  /** The group of each neuron, by the neuron's position in the divided list. */
  readonly groupOfPosition: Uint32Array;
  /** Number of neurons in each group. */
  readonly sizes: Uint32Array;
  labelsOf(group: number): GroupLabels;
  /** Ascending. */
  neuronsOf(group: number): Uint32Array;
}

/**
 * Groups are sorted by their labels; the first label of `groupBy` weighs most. Names are sorted by code unit, sides as left,
 * right, center, and neurons by index. Groups without a label come last. If `groupBy` is empty, all neurons are one group.
 * @param neurons ascending, at least one
 */
export function groupsOf(
  connectome: Connectome,
  neurons: Uint32Array,
  groupBy: readonly GroupLabel[],
): Groups {
  const isByNeuron = groupBy.includes('neuron');
  // Neurons are sorted already, and further labels cannot divide single neurons.
  const dividing = isByNeuron ? groupBy.slice(0, groupBy.indexOf('neuron')) : groupBy;
  const ranks = dividing.map((label) => ranksOf(connectome, label as NamingLabel));
  const positions = positionsInOrder(neurons, ranks);
  const groupOfPosition = new Uint32Array(neurons.length);
  const byGroup = new Uint32Array(neurons.length);
  /** The start of each group in `byGroup`. */
  const starts: number[] = [];
  for (let at = 0; at < positions.length; at++) {
    const position = positions[at]!;
    byGroup[at] = neurons[position]!;
    if (at === 0 || isByNeuron || differ(ranks, byGroup[at - 1]!, byGroup[at]!)) starts.push(at);
    groupOfPosition[position] = starts.length - 1;
  }
  const texts = groupBy.map((label) => ({
    member: labelMember(label),
    textOf: label === 'neuron' ? (neuron: number) => connectome.neuronId(neuron) : labelOf(connectome, label),
  }));
  const endOf = (group: number) => starts[group + 1] ?? byGroup.length;
  return {
    count: starts.length,
    groupOfPosition,
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
 * Sorts positions in the list of neurons by the labels, then by position. A radix sort (one counting sort for each label,
 * the last label first) takes linear time: a report may read the whole brain.
 */
function positionsInOrder(neurons: Uint32Array, ranks: readonly Ranks[]): Uint32Array {
  // Loops by number: ten times as fast as an iterator.
  let positions = new Uint32Array(neurons.length);
  for (let position = 0; position < positions.length; position++) positions[position] = position;
  for (const { count, ofNeurons } of [...ranks].reverse()) {
    const next = new Uint32Array(count + 1);
    for (let position = 0; position < neurons.length; position++) next[ofNeurons[neurons[position]!]! + 1]!++;
    for (let rank = 0; rank < count; rank++) next[rank + 1]! += next[rank]!;
    const sorted = new Uint32Array(neurons.length);
    for (let at = 0; at < positions.length; at++) {
      const rank = ofNeurons[neurons[positions[at]!]!]!;
      sorted[next[rank]!++] = positions[at]!;
    }
    positions = sorted;
  }
  return positions;
}

/** The rank of every neuron in the order of a label. Equal labels have equal ranks. */
interface Ranks {
  /** More than any rank. */
  readonly count: number;
  readonly ofNeurons: Uint32Array;
}

type NamingLabel = Exclude<GroupLabel, 'neuron'>;

const CLASS_MEMBERS = { super_class: 'superClass', class: 'class', sub_class: 'subClass' } as const;

/** Remembered, because many reports are divided by the same labels. */
const RANKS = new WeakMap<Connectome, Map<NamingLabel, Ranks>>();

function ranksOf(connectome: Connectome, label: NamingLabel): Ranks {
  const known = getOrInsert(RANKS, connectome, () => new Map<NamingLabel, Ranks>());
  return getOrInsert(known, label, () => newRanks(connectome, label));
}

/** Ranks by name; the empty name is last. */
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
