import { type Connectome, type ConnectomeMetadata, SIDES } from '../connectome/connectome.js';
import { modelId } from '../connectome/model-id.js';

/** How a number is spread over neurons or connections. */
export interface Distribution {
  readonly mean: number;
  /** The value that so many per cent of them do not exceed. */
  readonly percentiles: Readonly<Record<'0' | '10' | '50' | '90' | '99' | '100', number>>;
}

/** What a person or a program wants to know about a connectome file. */
export interface ConnectomeReport extends Omit<
  ConnectomeMetadata,
  'types' | 'classes' | 'stimuli' | 'channels'
> {
  readonly modelId: string;
  readonly digest: string;
  readonly typeCount: number;
  readonly neurons: {
    readonly excitatory: number;
    readonly inhibitory: number;
    readonly untyped: number;
    readonly withoutConnection: number;
    readonly withEstimatedPosition: number;
    readonly bySide: Readonly<Record<string, number>>;
    readonly bySuperClass: Readonly<Record<string, number>>;
  };
  /** Connections a neuron makes and receives, synapses of a connection. */
  readonly outDegree: Distribution;
  readonly inDegree: Distribution;
  readonly synapsesPerConnection: Distribution;
  /** Neurons of each population. */
  readonly stimuli: Readonly<Record<string, number>>;
  readonly channels: Readonly<Record<string, number>>;
  /** Shared by all workers of a process. */
  readonly memoryBytes: { readonly total: number; readonly connections: number };
}

/** @param fileBytes size of the whole file, which is its size in memory */
export function reportOf(connectome: Connectome, fileBytes: number): ConnectomeReport {
  const { types, classes, stimuli, channels, ...metadata } = connectome.metadata;
  const { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs } = connectome;
  const outDegrees = Uint32Array.from({ length: neuronCount }, (_, i) => rowStart[i + 1]! - rowStart[i]!);
  const inDegrees = new Uint32Array(neuronCount);
  for (let k = 0; k < connectionCount; k++) {
    inDegrees[targets[k]!]! += 1;
  }
  const typeOf = (i: number) => types[connectome.typeIndices[i]!]!;
  const neurons = Array.from({ length: neuronCount }, (_, i) => i);
  const countWhere = (test: (i: number) => boolean) => neurons.filter(test).length;
  const inhibitory = countWhere((i) => signs[i]! < 0);
  return {
    modelId: modelId(connectome),
    digest: connectome.digest,
    ...metadata,
    typeCount: types.filter(({ name }) => name !== '').length,
    neurons: {
      excitatory: neuronCount - inhibitory,
      inhibitory,
      untyped: countWhere((i) => typeOf(i).name === ''),
      withoutConnection: countWhere((i) => outDegrees[i] === 0 && inDegrees[i] === 0),
      withEstimatedPosition: countWhere((i) => connectome.positionEstimated[i] === 1),
      bySide: tally(neurons, (i) => SIDES[connectome.sides[i]!] || 'unknown'),
      bySuperClass: tally(neurons, (i) => classes[connectome.classIndices[i]!]!.superClass || 'unknown'),
    },
    outDegree: distributionOf(outDegrees),
    inDegree: distributionOf(inDegrees),
    synapsesPerConnection: distributionOf(synapseCounts),
    stimuli: sizes(stimuli),
    channels: sizes(channels),
    memoryBytes: {
      total: fileBytes,
      connections: rowStart.byteLength + targets.byteLength + synapseCounts.byteLength,
    },
  };
}

/** The report as text for one screen; the same bytes everywhere. */
export function reportText(report: ConnectomeReport): string {
  const { neurons } = report;
  const rows = (entries: readonly (readonly [string, string | number])[]) => {
    if (entries.length === 0) return '  none';
    const width = Math.max(...entries.map(([name]) => name.length));
    return entries.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
  };
  const counts = (record: Readonly<Record<string, number>>) =>
    Object.entries(record)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const spread = ({ mean, percentiles }: Distribution) => `mean ${mean}; percentiles ${counts(percentiles)}`;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const transmitters = report.transmitterCounts;
  return [
    `${report.name}\n`,
    rows([
      ['model id', report.modelId],
      ['digest', report.digest],
      ['wiring', report.wiring],
      ['signs', report.signRule],
      ['pruning', `pairs of neurons with at least ${report.minimumSynapses} synapses`],
      ['neurons', report.neuronCount],
      ['connections', report.connectionCount],
      ['synapses', report.synapseCount],
      [
        'memory',
        `${megabytes(report.memoryBytes.total)}, including ${megabytes(report.memoryBytes.connections)} of connections`,
      ],
    ]),
    '\nNeurons',
    rows([
      ['signs', `excitatory ${neurons.excitatory}, inhibitory ${neurons.inhibitory}`],
      ...(transmitters === undefined ? [] : [['transmitters', counts(transmitters)] as const]),
      ['types', `${report.typeCount}; ${neurons.untyped} neurons without one`],
      ['sides', counts(neurons.bySide)],
      ['super classes', counts(neurons.bySuperClass)],
      ['without connections', neurons.withoutConnection],
      ['estimated position', neurons.withEstimatedPosition],
    ]),
    '\nConnections',
    rows([
      ['made by a neuron', spread(report.outDegree)],
      ['received by a neuron', spread(report.inDegree)],
      ['synapses of each', spread(report.synapsesPerConnection)],
    ]),
    '\nStimuli (neurons)',
    rows(Object.entries(report.stimuli)),
    '\nChannels (neurons)',
    rows(Object.entries(report.channels)),
    '\nProvenance',
    ...report.provenance.map((sentence) => `  ${sentence}`),
    ...report.sources.map(({ file, sha256 }) => `  ${sha256}  ${file}`),
    '',
  ].join('\n');
}

function tally(neurons: readonly number[], nameOf: (i: number) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const i of neurons) {
    const name = nameOf(i);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

function sizes(populations: readonly { readonly id: string; readonly neuronCount: number }[]) {
  return Object.fromEntries(populations.map(({ id, neuronCount }) => [id, neuronCount]));
}

/** Percentiles by nearest rank; the mean is rounded to two decimals. All are 0 where there is nothing. */
function distributionOf(values: Uint16Array | Uint32Array): Distribution {
  const sorted = values.slice().sort();
  const percentile = (percent: number) =>
    sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
  let sum = 0;
  for (let k = 0; k < sorted.length; k++) {
    sum += sorted[k]!;
  }
  return {
    mean: sorted.length === 0 ? 0 : Number((sum / sorted.length).toFixed(2)),
    percentiles: {
      '0': percentile(0),
      '10': percentile(10),
      '50': percentile(50),
      '90': percentile(90),
      '99': percentile(99),
      '100': percentile(100),
    },
  };
}
