/**
 * Turns a brain into the content of a connectome file: neurons in the order of type, side, id (the untyped
 * ones last, by super class, class, side, id), rows by presynaptic neuron, targets ascending.
 */
import {
  type CellClass,
  type CellType,
  type ConnectomeMetadata,
  SIDES,
  type SignRule,
} from '../connectome/connectome.js';
import type { ConnectomeContent } from '../connectome/format.js';
import { getOrInsert } from '../get-or-insert.js';
import { rowsByKey, sortRows } from '../connectome/rows.js';
import { type Brain, type NeuronColumns, signsUnder } from './brain.js';
import { type PopulationDefinitions, selectPopulations } from './populations.js';

const NO_NEURONS = new Uint32Array(0);

export interface LayOutOptions {
  readonly signRule: SignRule;
  readonly populations: PopulationDefinitions;
}

/**
 * The result depends on the arguments alone. What came up on the way is in metadata.provenance.
 * @throws CodedError POPULATIONS_INVALID
 */
export function layOut(brain: Brain, { signRule, populations }: LayOutOptions): ConnectomeContent {
  const { neurons, connections } = brain;
  const { name, dataset, release, wiring } = brain.identity;
  const signs = signsUnder(signRule, neurons);
  const order = storageOrder(neurons);
  const placeOf = new Uint32Array(neurons.count);
  order.forEach((i, place) => (placeOf[i] = place));

  const { types, typeIndices } = typesOf(neurons, order);
  const { classes, classIndices } = classesOf(neurons, order);
  const sides = Uint8Array.from(order, (i) => sideIndex(neurons.labels.side[i]!));
  const rows = rowsOf(brain, placeOf);
  const { minimumSynapses } = brain;
  // A connectome without populations yet, for the selectors of these.
  const named = {
    metadata: { dataset, types, classes, wiring, minimumSynapses, stimuli: [], channels: [] },
    neuronCount: neurons.count,
    ...rows,
    typeIndices,
    classIndices,
    sides,
    neuronId: (place: number) => neurons.ids[order[place]!]!,
    stimulusNeurons: () => NO_NEURONS,
    channelNeurons: () => NO_NEURONS,
  };
  const selected = selectPopulations(brain, named, order, populations);
  const positionsNm = new Int32Array(3 * neurons.count);
  order.forEach((i, place) => positionsNm.set(neurons.positionsNm.subarray(3 * i, 3 * i + 3), 3 * place));

  const metadata: ConnectomeMetadata = {
    name,
    dataset,
    release,
    wiring,
    signRule,
    minimumSynapses,
    neuronCount: neurons.count,
    connectionCount: connections.count,
    synapseCount: connections.synapseCounts.reduce((sum, count) => sum + count, 0),
    transmitterCounts: brain.transmitterCounts,
    provenance: [
      ...brain.provenance,
      ...(brain.signRemarks?.[signRule] === undefined ? [] : [brain.signRemarks[signRule]]),
      ...(selected.stimuli.length + selected.channels.length === 0
        ? ['It has no stimuli and no channels.']
        : []),
      ...selected.remarks,
    ],
    sources: brain.sources,
    types,
    classes,
    stimuli: selected.stimuli,
    channels: selected.channels,
    ...brain.origin,
  };
  return {
    metadata,
    ...rows,
    signs: Int8Array.from(order, (i) => signs[i]!),
    typeIndices,
    classIndices,
    sides,
    positionsNm,
    positionEstimated: Uint8Array.from(order, (i) => neurons.positionEstimated[i]!),
    neuronIds: Array.from(order, (i) => neurons.ids[i]!),
    populations: selected.neurons,
  };
}

/** Numbers of neurons in the brain, which ascend by id, in the order of the file. */
function storageOrder({
  count,
  labels: { type, class: classes, super_class: superClass, side },
}: NeuronColumns) {
  // A line break sorts before every character of a label, so these texts sort as their parts do; untyped ones come last.
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

/** One entry for each type, in the super class of most of its neurons, and one for the untyped of each super class. */
function typesOf(
  { labels: { type: names, super_class: superClasses } }: NeuronColumns,
  order: Uint32Array,
): { types: CellType[]; typeIndices: Uint16Array } {
  const { first, indices } = numbered(order, 'types', (i) => names[i] || `\n${superClasses[i]!}`);
  const counts = first.map(() => new Map<string, number>());
  order.forEach((i, place) => {
    const ofType = counts[indices[place]!]!;
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

/** Every combination of super class, class and sub class, in the order in which the neurons have them. */
function classesOf(
  { labels }: NeuronColumns,
  order: Uint32Array,
): { classes: CellClass[]; classIndices: Uint16Array } {
  const classOf = (i: number) => ({
    superClass: labels.super_class[i]!,
    class: labels.class[i]!,
    subClass: labels.sub_class[i]!,
  });
  const { first, indices } = numbered(order, 'classes', (i) => JSON.stringify(classOf(i)));
  return { classes: first.map(classOf), classIndices: indices };
}

/** Numbers different keys in the order of the neurons. @returns the first neuron of each key, and the number of each neuron */
function numbered(order: Uint32Array, what: string, keyOf: (i: number) => string) {
  const numbers = new Map<string, number>();
  const first: number[] = [];
  const indices = Uint16Array.from(order, (i) => getOrInsert(numbers, keyOf(i), () => first.push(i) - 1));
  if (first.length > 2 ** 16) {
    throw new Error(`a connectome file holds at most ${2 ** 16} ${what}, found ${first.length}`);
  }
  return { first, indices };
}

function rowsOf(
  { neurons, connections }: Brain,
  placeOf: Uint32Array,
): Pick<ConnectomeContent, 'rowStart' | 'targets' | 'synapseCounts'> {
  const { pre, post, synapseCounts } = connections;
  const { start: rowStart, items } = rowsByKey(
    pre.map((i) => placeOf[i]!),
    neurons.count,
  );
  const targets = items.map((k) => placeOf[post[k]!]!);
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
