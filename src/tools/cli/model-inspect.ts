/** npm run model:inspect checks the digest of a connectome file and prints a summary of its content as JSON. */
import { mean, rollups } from 'd3-array';
import { type Connectome, SIDES } from '../../engine/connectome/connectome.js';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { modelId, networkName } from '../../engine/connectome/model-id.js';
import { defineCommand } from './command.js';
import { servedFile } from './read-connectome.js';

type Counts = Readonly<Record<string, number>>;

const PERCENTILES = [0, 10, 50, 90, 99, 100];

export const command = defineCommand({
  name: 'model:inspect',
  summary: 'Checks a connectome file and prints a summary of its content as JSON.',
  options: {},
  positionals: { usage: '[FILE]', help: 'Connectome file, by default CONNECTOME_FILE.' },
  async run(_, [path], { environment, print }) {
    const file = await readConnectomeFile(path ?? (await servedFile(environment)));
    const report = reportOf(openConnectome(file), file.byteLength);
    print(`${JSON.stringify(report, null, 2)}\n`);
  },
});

/** @param fileBytes size of the file, which equals its size in memory */
function reportOf(connectome: Connectome, fileBytes: number) {
  const { types, classes, stimuli, channels, ...metadata } = connectome.metadata;
  const { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs } = connectome;
  const outDegrees = Uint32Array.from({ length: neuronCount }, (_, i) => rowStart[i + 1]! - rowStart[i]!);
  const inDegrees = new Uint32Array(neuronCount);
  for (let k = 0; k < connectionCount; k++) inDegrees[targets[k]!]! += 1;
  const neurons = Array.from({ length: neuronCount }, (_, i) => i);
  const countWhere = (test: (i: number) => boolean) => neurons.filter(test).length;
  return {
    modelId: modelId(connectome),
    network: networkName(connectome.metadata),
    digest: connectome.digest,
    ...metadata,
    typeCount: types.filter(({ name }) => name !== '').length,
    neurons: {
      excitatory: countWhere((i) => signs[i]! > 0),
      inhibitory: countWhere((i) => signs[i]! < 0),
      withoutFastEffect: countWhere((i) => signs[i] === 0),
      untyped: countWhere((i) => types[connectome.typeIndices[i]!]!.name === ''),
      withoutConnection: countWhere((i) => outDegrees[i] === 0 && inDegrees[i] === 0),
      withEstimatedPosition: countWhere((i) => connectome.positionEstimated[i] === 1),
      bySide: tally(neurons, (i) => SIDES[connectome.sides[i]!] || 'unknown'),
      bySuperClass: tally(neurons, (i) => classes[connectome.classIndices[i]!]!.superClass || 'unknown'),
    },
    /** Output and input connections of a neuron, and synapses of a connection. */
    outDegree: distributionOf(outDegrees),
    inDegree: distributionOf(inDegrees),
    synapsesPerConnection: distributionOf(synapseCounts),
    stimuli: sizes(stimuli),
    channels: sizes(channels),
    /** All workers of a process share this memory. */
    memoryBytes: {
      total: fileBytes,
      connections: rowStart.byteLength + targets.byteLength + synapseCounts.byteLength,
    },
  };
}

/** Number of neurons by name, the largest first. */
function tally(neurons: readonly number[], nameOf: (i: number) => string): Counts {
  const counts = rollups(neurons, ({ length }) => length, nameOf);
  return Object.fromEntries(counts.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

function sizes(populations: readonly { readonly id: string; readonly neuronCount: number }[]): Counts {
  return Object.fromEntries(populations.map(({ id, neuronCount }) => [id, neuronCount]));
}

/**
 * Percentiles of a distribution by nearest rank, and its mean, rounded to two decimals. All are 0 if there are no values.
 */
function distributionOf(values: Uint16Array | Uint32Array) {
  const { length } = values;
  const sorted = values.slice().sort();
  const rankOf = (percent: number) => Math.max(0, Math.ceil((percent / 100) * length) - 1);
  const percentiles = PERCENTILES.map((percent) => [percent, sorted[rankOf(percent)] ?? 0] as const);
  return {
    mean: Number((mean(values) ?? 0).toFixed(2)),
    percentiles: Object.fromEntries(percentiles) as Counts,
  };
}
