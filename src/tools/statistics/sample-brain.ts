import { MAX_NEURONS, type NetworkIdentity } from '../../engine/connectome/connectome.js';
import { LABELS } from '../../engine/connectome/neuron-index.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import {
  type Brain,
  type ConnectionColumns,
  FLYWIRE_783,
  MIN_SYNAPSES,
  type NeuronColumns,
  newConnections,
} from '../compiler/brain.js';
import { type Progress, silent } from '../compiler/progress.js';
import { samplePositions } from './cell-positions.js';
import { type CellGroup, type CellTypeStatistics, strataOf, stratumOf, totalsOf } from './statistics.js';
import { samplePair } from './pair-sampler.js';
import { sampleExcess } from './synapse-spread.js';
import { WeightedCells } from './weighted-cells.js';

/**
 * Seed of the default brain: the first seed from 783 on with which every response is within its tolerance (docs/wiring.md).
 * Other seeds give brains for comparison.
 */
export const DEFAULT_SEED = 784;
const SYNTHETIC_783: NetworkIdentity = {
  ...FLYWIRE_783,
  name: 'FlyWire FAFB 783, synthetic wiring',
  wiring: 'synthetic',
};
const SIDE_LETTERS: Readonly<Record<string, string>> = { left: 'L', right: 'R', center: 'C' };
/** Each group has its own sequence of random numbers for each purpose, so that these are independent. */
const PURPOSES = ['connections', 'positions'] as const;
/** Packs pre, post and synapse count (18, 18 and 16 bits) into one double, which sorts in this order. */
const COUNT_RANGE = 2 ** 16;
const NEURON_RANGE = MAX_NEURONS + 1;

/**
 * Samples a brain of the same size as the measured one. It has the same number of cells by type and side. Each pair of
 * groups has the same number of connections, synapses and participating cells. All random numbers are integers from Philox,
 * so the same statistics give the same brain on every machine.
 */
export function sampleBrain(
  statistics: CellTypeStatistics,
  progress: Progress = silent,
  seed = DEFAULT_SEED,
  identity: NetworkIdentity = SYNTHETIC_783,
): Brain {
  const { ids, neuronOf } = nameCells(statistics.groups);
  return {
    identity,
    neurons: sampleNeurons(statistics.groups, ids, neuronOf, seed),
    connections: sampleConnections(statistics, neuronOf, seed, progress),
    minimumSynapses: MIN_SYNAPSES,
    sources: statistics.sources,
    provenance: [
      'Synthetic wiring: types, classes, sides and signs of the neurons are measured, and so are the numbers of ' +
        'connections and synapses between any two groups of like neurons; which neurons connect was sampled. ' +
        'Ids and positions are made up.',
      'The statistics were measured on the following wiring.',
      ...statistics.provenance,
    ],
  };
}

/**
 * Generates ids for sampled cells, such as LB3_L_0007: type, side, and a number.
 * @returns ids in ascending order by code unit, and for each group the indices of its cells in that order
 */
export function nameCells(groups: readonly CellGroup[]): { ids: string[]; neuronOf: Uint32Array[] } {
  const used = new Map<string, number>();
  const names = groups.map((group) => {
    const label = group.type || group.sub_class || group.class || group.super_class || 'neuron';
    // A few types have primes or blanks; ids have only ASCII letters, digits and _.+-
    const prefix = `${label.replace(/[^\w.+-]+/g, '-')}_${SIDE_LETTERS[group.side] ?? 'N'}`;
    const before = used.get(prefix) ?? 0;
    used.set(prefix, before + group.cells);
    return Array.from(
      { length: group.cells },
      (_, cell) => `${prefix}_${String(before + cell + 1).padStart(4, '0')}`,
    );
  });
  const ids = names.flat().sort();
  const neuronOfId = new Map(ids.map((id, neuron) => [id, neuron]));
  return { ids, neuronOf: names.map((own) => Uint32Array.from(own, (id) => neuronOfId.get(id)!)) };
}

function sampleNeurons(
  groups: readonly CellGroup[],
  ids: readonly string[],
  neuronOf: readonly Uint32Array[],
  seed: number,
): NeuronColumns {
  const count = ids.length;
  const groupOf = new Array<CellGroup>(count);
  const positionsNm = new Int32Array(3 * count);
  groups.forEach((group, g) => {
    for (const neuron of neuronOf[g]!) groupOf[neuron] = group;
    samplePositions(group, neuronOf[g]!, sequence(seed, g, 'positions'), positionsNm);
  });
  return {
    count,
    ids,
    labels: Object.fromEntries(
      LABELS.map((label) => [label, groupOf.map((group) => group[label])]),
    ) as unknown as NeuronColumns['labels'],
    signs: {
      predicted: Int8Array.from(groupOf, ({ predicted_sign: sign }) => sign),
      corrected: Int8Array.from(groupOf, ({ corrected_sign: sign }) => sign),
    },
    positionsNm,
    positionEstimated: new Uint8Array(count).fill(1),
  };
}

function sequence(seed: number, group: number, purpose: (typeof PURPOSES)[number]): PhiloxSequence {
  const key = group * PURPOSES.length + PURPOSES.indexOf(purpose);
  return new PhiloxSequence(seed, key, PHILOX_STREAM.synthesis);
}

function sampleConnections(
  { groups, pairs }: CellTypeStatistics,
  neuronOf: readonly Uint32Array[],
  seed: number,
  progress: Progress,
): ConnectionColumns {
  const weights = (group: CellGroup, percents: readonly number[]): WeightedCells =>
    new WeightedCells(
      Uint32Array.from({ length: group.cells }, (_, cell) =>
        strataOf(group.cells) === 0 ? 1 : Math.max(1, percents[stratumOf(cell, group.cells)]!),
      ),
    );
  const outputs = groups.map((group) => weights(group, group.output_percent));
  const inputs = groups.map((group) => weights(group, group.input_percent));

  const { connections: count } = totalsOf({ groups, pairs });
  progress.begin('Sampling the connections', count, 'items');
  const sampled = new Float64Array(count);
  let at = 0;
  const add = (pre: number, post: number, excess: number): void => {
    sampled[at++] = (pre * NEURON_RANGE + post) * COUNT_RANGE + MIN_SYNAPSES + excess;
  };

  for (let row = 0, g = 0; g < groups.length; g++) {
    const group = groups[g]!;
    const cells = neuronOf[g]!;
    const random = sequence(seed, g, 'connections');
    if (group.self_connections > 0) {
      const { self_connections: connections } = group;
      const excess = group.self_synapses - MIN_SYNAPSES * connections;
      const synapses = sampleExcess(connections, excess, 0, random);
      const own = outputs[g]!.sample(connections, random);
      own.forEach((cell, k) => add(cells[cell]!, cells[cell]!, synapses[k]!));
    }
    for (; row < pairs.count && pairs.pre[row] === g; row++) {
      const target = pairs.post[row]!;
      const connections = pairs.connections[row]!;
      const { pre, post } = samplePair(
        {
          pre: outputs[g]!,
          post: inputs[target]!,
          connections,
          preCells: Math.min(group.cells, connections) - pairs.missing_pre[row]!,
          postCells: Math.min(groups[target]!.cells, connections) - pairs.missing_post[row]!,
          withoutSelf: target === g,
        },
        random,
      );
      const synapses = sampleExcess(connections, pairs.excess_synapses[row]!, pairs.spread[row]!, random);
      const targets = neuronOf[target]!;
      for (let k = 0; k < connections; k++) add(cells[pre[k]!]!, targets[post[k]!]!, synapses[k]!);
    }
    progress.reached(at);
  }
  return unpack(sampled.sort());
}

function unpack(sorted: Float64Array): ConnectionColumns {
  const connections = newConnections(sorted.length);
  sorted.forEach((packed, c) => {
    const pair = Math.floor(packed / COUNT_RANGE);
    connections.synapseCounts[c] = packed - pair * COUNT_RANGE;
    connections.pre[c] = Math.floor(pair / NEURON_RANGE);
    connections.post[c] = pair % NEURON_RANGE;
  });
  return connections;
}
