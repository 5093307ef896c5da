/** npm run model:inspect: checks the digest of a connectome file and reports its content. */
import { type Connectome, SIDES } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { modelId, networkName } from '../connectome/model-id.js';
import { defineCommand, flag } from './command.js';
import { servedFile } from './read-connectome.js';
import { aligned } from './text.js';

type ConnectomeReport = ReturnType<typeof reportOf>;

type Counts = Readonly<Record<string, number>>;

const PERCENTILES = [0, 10, 50, 90, 99, 100];

export const command = defineCommand({
  name: 'model:inspect',
  summary: 'Checks a connectome file and prints a summary of its content.',
  options: { json: flag('Print JSON.') },
  positionals: { usage: '[FILE]', help: 'Connectome file, by default CONNECTOME_FILE.' },
  async run({ json }, [path], { environment, print }) {
    const file = await readConnectomeFile(path ?? (await servedFile(environment)));
    const report = reportOf(openConnectome(file), file.byteLength);
    print(json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  },
});

/** @param fileBytes size of the whole file, which is its size in memory */
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
    /** Connections that a neuron makes and receives, synapses of a connection. */
    outDegree: distributionOf(outDegrees),
    inDegree: distributionOf(inDegrees),
    synapsesPerConnection: distributionOf(synapseCounts),
    stimuli: sizes(stimuli),
    channels: sizes(channels),
    /** Shared by all workers of a process. */
    memoryBytes: {
      total: fileBytes,
      connections: rowStart.byteLength + targets.byteLength + synapseCounts.byteLength,
    },
  };
}

/** The report as text for one screen; the same bytes everywhere. */
function reportText(report: ConnectomeReport): string {
  const { neurons, memoryBytes, transmitterCounts: transmitters } = report;
  const listed = (counts: Counts) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const spread = ({ mean, percentiles }: typeof report.outDegree) =>
    `mean ${mean}; percentiles ${listed(percentiles)}`;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const section = (heading: string, entries: Readonly<Record<string, string | number>>) => {
    const rows = aligned(Object.entries(entries), '  ');
    return [heading, ...(rows.length > 0 ? rows : ['  none']), ''];
  };
  return [
    report.name,
    ...section('', {
      'model id': report.modelId,
      digest: report.digest,
      'data set': report.release === null ? report.dataset : `${report.dataset}, release ${report.release}`,
      wiring: report.wiring,
      ...(report.synapses && { 'synapse table': report.synapses.title }),
      signs: report.signRule,
      ...(report.signSource !== undefined && { 'signs from': report.signSource }),
      ...(report.synapseMv !== undefined && { gain: `${report.synapseMv} mV a synapse` }),
      ...(report.licence && { licence: `${report.licence.spdx}, ${report.licence.url}` }),
      pruning: `pairs of neurons with at least ${report.minimumSynapses} synapses`,
      neurons: report.neuronCount,
      connections: report.connectionCount,
      synapses: report.synapseCount,
      memory: `${megabytes(memoryBytes.total)}, including ${megabytes(memoryBytes.connections)} of connections`,
    }),
    ...section('Neurons', {
      signs:
        `excitatory ${neurons.excitatory}, inhibitory ${neurons.inhibitory}` +
        (neurons.withoutFastEffect === 0 ? '' : `, without fast effect ${neurons.withoutFastEffect}`),
      ...(transmitters && { transmitters: listed(transmitters) }),
      types: `${report.typeCount}; ${neurons.untyped} neurons without one`,
      sides: listed(neurons.bySide),
      'super classes': listed(neurons.bySuperClass),
      'without connections': neurons.withoutConnection,
      'estimated position': neurons.withEstimatedPosition,
    }),
    ...section('Connections', {
      'made by a neuron': spread(report.outDegree),
      'received by a neuron': spread(report.inDegree),
      'synapses of each': spread(report.synapsesPerConnection),
    }),
    ...section('Stimuli (neurons)', report.stimuli),
    ...section('Channels (neurons)', report.channels),
    'Provenance',
    ...report.provenance.map((sentence) => `  ${sentence}`),
    ...report.sources.map(({ file, sha256 }) => `  ${sha256}  ${file}`),
    '',
  ].join('\n');
}

/** Neurons by name, the largest number first. */
function tally(neurons: readonly number[], nameOf: (i: number) => string): Counts {
  const counts: Record<string, number> = {};
  for (const name of neurons.map(nameOf)) counts[name] = (counts[name] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

function sizes(populations: readonly { readonly id: string; readonly neuronCount: number }[]): Counts {
  return Object.fromEntries(populations.map(({ id, neuronCount }) => [id, neuronCount]));
}

/**
 * How a number is spread over neurons or connections: percentiles by nearest rank, and the mean, rounded to two
 * decimals. All are 0 where there is nothing.
 */
function distributionOf(values: Uint16Array | Uint32Array) {
  const { length } = values;
  const sorted = values.slice().sort();
  let sum = 0;
  for (const value of sorted) sum += value;
  const percentiles: Counts = Object.fromEntries(
    PERCENTILES.map((percent) => [
      percent,
      sorted[Math.max(0, Math.ceil((percent / 100) * length) - 1)] ?? 0,
    ]),
  );
  return { mean: length === 0 ? 0 : Number((sum / length).toFixed(2)), percentiles };
}
