/**
 * Turns a brain into the content of a connectome file: neurons in the order of type, side, id (the untyped
 * ones last, by super class, class, side, id), rows by presynaptic neuron, targets ascending.
 */
import {
  type CellClass,
  type CellType,
  type ConnectomeMetadata,
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  SIDES,
  type SignRule,
} from '../connectome/connectome.js';
import type { ConnectomeContent } from '../connectome/format.js';
import { type Brain, type NeuronColumns, signsUnder } from './brain.js';
import { type PopulationDefinitions, selectPopulations } from './populations.js';

const DATASET = 'FlyWire FAFB';
const RELEASE = 783;
const SYNAPSES_RANGE = MAXIMUM_SYNAPSES_PER_CONNECTION + 1;

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
  const selected = selectPopulations(brain, populations);
  const signs = signsUnder(signRule, neurons);
  const order = storageOrder(neurons);
  const placeOf = new Uint32Array(neurons.count);
  order.forEach((i, place) => (placeOf[i] = place));

  const { types, typeIndices } = typesOf(neurons, order);
  const { classes, classIndices } = classesOf(neurons, order);
  const rows = rowsOf(brain, placeOf);
  const positionsNm = new Int32Array(3 * neurons.count);
  order.forEach((i, place) => positionsNm.set(neurons.positionsNm.subarray(3 * i, 3 * i + 3), 3 * place));

  const metadata: ConnectomeMetadata = {
    name: `${DATASET} ${RELEASE}, ${brain.wiring} wiring`,
    dataset: DATASET,
    release: RELEASE,
    wiring: brain.wiring,
    signRule,
    minimumSynapses: brain.minimumSynapses,
    neuronCount: neurons.count,
    connectionCount: connections.count,
    synapseCount: connections.synapseCounts.reduce((sum, count) => sum + count, 0),
    transmitterCounts: brain.transmitterCounts,
    provenance: [
      ...brain.provenance,
      ...(populations.stimuli.length + populations.channels.length === 0
        ? ['It has no stimuli and no channels.']
        : []),
      ...selected.remarks,
    ],
    sources: brain.sources,
    types,
    classes,
    stimuli: selected.stimuli,
    channels: selected.channels,
  };
  return {
    metadata,
    ...rows,
    signs: Int8Array.from(order, (i) => signs[i]!),
    typeIndices,
    classIndices,
    sides: Uint8Array.from(order, (i) => sideIndex(neurons.sides[i]!)),
    positionsNm,
    positionEstimated: Uint8Array.from(order, (i) => neurons.positionEstimated[i]!),
    neuronIds: Array.from(order, (i) => neurons.ids[i]!),
    // A stimulus keeps the ascending order of ids, which keys its random numbers; a channel is a set.
    populations: selected.neurons.map((list, k) => {
      const places = list.map((i) => placeOf[i]!);
      return k < selected.stimuli.length ? places : places.sort();
    }),
  };
}

/** Neurons (places in the brain, which ascend by id) in the order of the file. */
function storageOrder(neurons: NeuronColumns): Uint32Array {
  const { types, superClasses, classes, sides } = neurons;
  const typed = new Map<string, number[][]>();
  const untyped = new Map<string, number[][]>();
  for (let i = 0; i < neurons.count; i++) {
    const groups = types[i] === '' ? untyped : typed;
    // A line break sorts before every character of a label, so this text sorts as the pair does.
    const label = types[i] === '' ? `${superClasses[i]!}\n${classes[i]!}` : types[i]!;
    let bySide = groups.get(label);
    if (bySide === undefined) {
      bySide = SIDES.map(() => []);
      groups.set(label, bySide);
    }
    bySide[sideIndex(sides[i]!)]!.push(i);
  }
  const inOrder = (groups: Map<string, number[][]>) =>
    [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, bySide]) => bySide.flat());
  return Uint32Array.from([...inOrder(typed), ...inOrder(untyped)]);
}

/** One entry for each type, in the super class of most of its neurons, and one for the untyped of each super class. */
function typesOf(
  neurons: NeuronColumns,
  order: Uint32Array,
): { types: CellType[]; typeIndices: Uint16Array } {
  const entries = new Map<string, { name: string; index: number; superClassCounts: Map<string, number> }>();
  const typeIndices = new Uint16Array(neurons.count);
  order.forEach((i, place) => {
    const name = neurons.types[i]!;
    const superClass = neurons.superClasses[i]!;
    const key = name === '' ? `\n${superClass}` : name;
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { name, index: entries.size, superClassCounts: new Map() };
      entries.set(key, entry);
    }
    entry.superClassCounts.set(superClass, (entry.superClassCounts.get(superClass) ?? 0) + 1);
    typeIndices[place] = entry.index;
  });
  if (entries.size > 2 ** 16) {
    throw new Error(`a connectome file holds at most ${2 ** 16} types, found ${entries.size}`);
  }
  const types = [...entries.values()].map(({ name, superClassCounts }) => {
    const [[superClass]] = [...superClassCounts].sort(
      ([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1),
    ) as [[string, number]];
    return { name, superClass };
  });
  return { types, typeIndices };
}

/** Every combination of super class, class and sub class, in the order in which the neurons have them. */
function classesOf(
  neurons: NeuronColumns,
  order: Uint32Array,
): { classes: CellClass[]; classIndices: Uint16Array } {
  const { superClasses, classes: classNames, subClasses } = neurons;
  const indexOf = new Map<string, number>();
  const classes: CellClass[] = [];
  const classIndices = Uint16Array.from(order, (i) => {
    const entry = { superClass: superClasses[i]!, class: classNames[i]!, subClass: subClasses[i]! };
    const key = JSON.stringify(entry);
    let index = indexOf.get(key);
    if (index === undefined) {
      index = classes.push(entry) - 1;
      indexOf.set(key, index);
    }
    return index;
  });
  if (classes.length > 2 ** 16) {
    throw new Error(`a connectome file holds at most ${2 ** 16} classes, found ${classes.length}`);
  }
  return { classes, classIndices };
}

function rowsOf(
  { neurons, connections }: Brain,
  placeOf: Uint32Array,
): Pick<ConnectomeContent, 'rowStart' | 'targets' | 'synapseCounts'> {
  const { count, pre, post, synapseCounts } = connections;
  const rowStart = new Uint32Array(neurons.count + 1);
  for (let k = 0; k < count; k++) {
    rowStart[placeOf[pre[k]!]! + 1]! += 1;
  }
  for (let place = 0; place < neurons.count; place++) {
    rowStart[place + 1]! += rowStart[place]!;
  }
  // Target and synapse count in one number of 32 bits, so that sorting numbers sorts connections.
  const packed = new Uint32Array(count);
  const next = rowStart.slice();
  for (let k = 0; k < count; k++) {
    const place = placeOf[pre[k]!]!;
    packed[next[place]!] = placeOf[post[k]!]! * SYNAPSES_RANGE + synapseCounts[k]!;
    next[place]! += 1;
  }
  for (let place = 0; place < neurons.count; place++) {
    packed.subarray(rowStart[place]!, rowStart[place + 1]!).sort();
  }
  const targets = new Uint32Array(count);
  const counts = new Uint16Array(count);
  for (let k = 0; k < count; k++) {
    targets[k] = Math.floor(packed[k]! / SYNAPSES_RANGE);
    counts[k] = packed[k]! % SYNAPSES_RANGE;
  }
  return { rowStart, targets, synapseCounts: counts };
}

function sideIndex(side: string): number {
  const index = (SIDES as readonly string[]).indexOf(side);
  if (index < 0) {
    throw new Error(`expected the side of a neuron to be one of ${SIDES.join(', ')}, found ${side}`);
  }
  return index;
}
