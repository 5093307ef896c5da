/**
 * Turns a brain into the content of a connectome file. The file orders neurons by type, side and id. Untyped neurons come
 * last, ordered by super class, class, side and id. Each presynaptic neuron has a row of its targets, ascending.
 */
import { NO_NEURONS } from '../../engine/connectome/neuron-set.js';
import {
  type CellClass,
  type CellType,
  type ConnectomeMetadata,
  SIDES,
  type SignRule,
  type TableSignRule,
} from '../../engine/connectome/connectome.js';
import { type ConnectomeContent, MAX_SUPER_CLASSES } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { rowsByKey, sortRows } from '../../engine/connectome/rows.js';
import { type Brain, type NeuronColumns, signsUnder } from './brain.js';
import { type PopulationDefinitions, selectPopulations } from './populations.js';

/** Types and classes are numbered in 16 bits. */
const MAX_LABELS = 2 ** 16;

export interface BuildOptions {
  readonly signRule: SignRule;
  readonly populations: PopulationDefinitions;
  /** If true, the file has the probabilities of signs, which its source must have. */
  readonly hasSignProbabilities?: boolean;
}

/**
 * The result depends only on the arguments. metadata.provenance has sentences on the choices that were made.
 * @throws CodedError POPULATIONS_INVALID, TABLE_INVALID
 */
export function buildConnectome(
  brain: Brain,
  { signRule, populations, hasSignProbabilities = false }: BuildOptions,
): ConnectomeContent {
  const { neurons } = brain;
  const { dataset, wiring } = brain.identity;
  const signs = signsUnder(signRule, neurons);
  const order = storageOrder(neurons);
  const fileIndexOf = new Uint32Array(neurons.count);
  order.forEach((i, fileIndex) => (fileIndexOf[i] = fileIndex));

  const { types, typeIndices } = typesOf(neurons, order);
  const { classes, classIndices } = classesOf(neurons, order);
  const sides = Uint8Array.from(order, (i) => sideIndex(neurons.labels.side[i]!));
  const rows = rowsOf(brain, fileIndexOf);
  const { minimumSynapses } = brain;
  // Selectors of populations need a connectome, so they get this one, which has no populations yet.
  const named = {
    metadata: { dataset, types, classes, wiring, minimumSynapses, stimuli: [], channels: [] },
    neuronCount: neurons.count,
    ...rows,
    typeIndices,
    classIndices,
    sides,
    neuronId: (fileIndex: number) => neurons.ids[order[fileIndex]!]!,
    stimulusNeurons: () => NO_NEURONS,
    channelNeurons: () => NO_NEURONS,
  };
  const selected = selectPopulations(brain, named, order, populations);
  return {
    metadata: metadataOf(brain, signRule, types, classes, selected),
    hasContentDigest: brain.isFromTables === true,
    ...rows,
    signs: Int8Array.from(order, (i) => signs[i]!),
    typeIndices,
    classIndices,
    sides,
    positionsNm: inOrder(neurons.positionsNm, 3, order),
    positionEstimated: Uint8Array.from(order, (i) => neurons.positionEstimated[i]!),
    neuronIds: Array.from(order, (i) => neurons.ids[i]!),
    ...(hasSignProbabilities && {
      signProbabilities: inOrder(neurons.signProbabilities!(signRule as TableSignRule), 2, order),
    }),
    populations: selected.neurons,
  };
}

function metadataOf(
  brain: Brain,
  signRule: SignRule,
  types: CellType[],
  classes: CellClass[],
  { stimuli, channels, remarks }: ReturnType<typeof selectPopulations>,
): ConnectomeMetadata {
  const { neurons, connections } = brain;
  const { name, dataset, release, wiring } = brain.identity;
  const signRemark = brain.signRemarks?.[signRule];
  return {
    name,
    dataset,
    release,
    wiring,
    signRule,
    minimumSynapses: brain.minimumSynapses,
    neuronCount: neurons.count,
    connectionCount: connections.count,
    synapseCount: connections.synapseCounts.reduce((sum, count) => sum + count, 0),
    transmitterCounts: brain.transmitterCounts,
    provenance: [
      ...brain.provenance,
      ...(signRemark === undefined ? [] : [signRemark]),
      ...(stimuli.length + channels.length === 0 ? ['It has no stimuli and no channels.'] : []),
      ...remarks,
    ],
    sources: brain.sources,
    types,
    classes,
    stimuli,
    channels,
    ...brain.origin,
  };
}

/** Sorts several elements of each neuron into the order of the file. */
function inOrder<V extends Int32Array | Uint8Array>(values: V, perNeuron: number, order: Uint32Array): V {
  const ordered = values.slice() as V;
  order.forEach((i, fileIndex) =>
    ordered.set(values.subarray(perNeuron * i, perNeuron * (i + 1)), perNeuron * fileIndex),
  );
  return ordered;
}

/** @returns for each position in the file, the neuron's index in the brain; indices in the brain ascend by id */
function storageOrder({
  count,
  labels: { type, class: classes, super_class: superClass, side },
}: NeuronColumns) {
  // A line break sorts before every character of a label, so the joined keys sort like their parts. "1" puts untyped
  // neurons last.
  const keys = Array.from({ length: count }, (_, i) => {
    const sideNumber = sideIndex(side[i]!);
    return type[i] === ''
      ? `1${superClass[i]!}\n${classes[i]!}\n${sideNumber}`
      : `0${type[i]!}\n${sideNumber}`;
  });
  return Uint32Array.from(keys.keys()).sort((a, b) =>
    keys[a]! < keys[b]! ? -1 : Number(keys[a]! > keys[b]!),
  );
}

/**
 * One entry for each type, with the super class of most of its neurons. The untyped neurons of each super class share one
 * entry.
 */
function typesOf(
  { labels: { type: names, super_class: superClasses } }: NeuronColumns,
  order: Uint32Array,
): { types: CellType[]; typeIndices: Uint16Array } {
  const remedy = 'leave the column type empty, or group the types';
  const { first, indices } = numbered(order, 'types', remedy, (i) => names[i] || `\n${superClasses[i]!}`);
  const counts = first.map(() => new Map<string, number>());
  order.forEach((i, fileIndex) => {
    const ofType = counts[indices[fileIndex]!]!;
    ofType.set(superClasses[i]!, (ofType.get(superClasses[i]!) ?? 0) + 1);
  });
  const types = first.map((i, type) => {
    const [[superClass]] = [...counts[type]!].sort(
      ([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1),
    ) as [[string, number]];
    return { name: names[i]!, superClass };
  });
  return { types, typeIndices: indices };
}

/** Every combination of super class, class and sub class, in order of first occurrence. */
function classesOf(
  { labels }: NeuronColumns,
  order: Uint32Array,
): { classes: CellClass[]; classIndices: Uint16Array } {
  const classOf = (i: number) => ({
    superClass: labels.super_class[i]!,
    class: labels.class[i]!,
    subClass: labels.sub_class[i]!,
  });
  const superClasses = new Set(labels.super_class).size;
  checkCount(
    superClasses,
    MAX_SUPER_CLASSES,
    'super-classes',
    'leave the column super_class empty, or group them',
  );
  const remedy = 'leave the columns class and sub_class empty, or group the classes';
  const { first, indices } = numbered(order, 'classes', remedy, (i) => JSON.stringify(classOf(i)));
  return { classes: first.map(classOf), classIndices: indices };
}

/**
 * Numbers distinct keys in order of first occurrence.
 * @returns the first neuron of each key, and the number of each neuron's key
 * @throws CodedError TABLE_INVALID if 16 bits cannot number them
 */
function numbered(order: Uint32Array, what: string, remedy: string, keyOf: (i: number) => string) {
  const numbers = new Map<string, number>();
  const first: number[] = [];
  const indices = Uint16Array.from(order, (i) => getOrInsert(numbers, keyOf(i), () => first.push(i) - 1));
  checkCount(first.length, MAX_LABELS, what, remedy);
  return { first, indices };
}

function checkCount(found: number, most: number, what: string, remedy: string): void {
  if (found <= most) return;
  throw new CodedError(
    'TABLE_INVALID',
    `A connectome file has at most ${most} ${what}, found ${found}: ${remedy}.`,
  );
}

function rowsOf(
  { neurons, connections }: Brain,
  fileIndexOf: Uint32Array,
): Pick<ConnectomeContent, 'rowStart' | 'targets' | 'synapseCounts'> {
  const { pre, post, synapseCounts } = connections;
  const { start: rowStart, items } = rowsByKey(
    pre.map((i) => fileIndexOf[i]!),
    neurons.count,
  );
  const targets = items.map((k) => fileIndexOf[post[k]!]!);
  const counts = Uint16Array.from(items, (k) => synapseCounts[k]!);
  sortRows(rowStart, targets, counts);
  return { rowStart, targets, synapseCounts: counts };
}

function sideIndex(side: string): number {
  const index = (SIDES as readonly string[]).indexOf(side);
  if (index < 0) {
    throw new Error(`expected the side of a neuron to be one of ${SIDES.join(', ')}, found ${side}`);
  }
  return index;
}
