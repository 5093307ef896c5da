import type { Wiring } from '../../../connectome/connectome.js';
import { CodedError } from '../../../errors.js';

/** Connections a thread of the gather adds up. */
export const SEGMENT_CONNECTIONS = 64;

/** Sums of synapses and everything added to them stay exact in float32 below this. */
const LARGEST_SUM = 2 ** 22;
/** Indices of connections are float32 numbers on the GPU. */
const LARGEST_COUNT = 2 ** 24;

/**
 * The wiring seen from the postsynaptic side, for a gather: the incoming connections of neuron i stand
 * together, cut into segments of at most 64. Every array is float32, the only type gpu.js hands to a kernel;
 * all values are integers below 2^24.
 */
export interface IncomingConnections {
  readonly segmentCount: number;
  /** Length neuronCount + 1: segments of neuron i are firstSegment[i] up to, not including, firstSegment[i + 1]. */
  readonly firstSegment: Float32Array;
  readonly mostSegments: number;
  /** First connection of each segment, and how many it has. */
  readonly segmentStart: Float32Array;
  readonly segmentLength: Float32Array;
  /** Presynaptic neuron of each connection. */
  readonly sources: Float32Array;
  /** Its synapses, negative where the source inhibits. */
  readonly synapses: Float32Array;
}

/** @throws CodedError GPU_UNAVAILABLE when the wiring exceeds what is exact in float32 */
export function incomingConnections(wiring: Wiring): IncomingConnections {
  const { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs } = wiring;
  if (connectionCount >= LARGEST_COUNT) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU engine takes fewer than ${LARGEST_COUNT} connections; this connectome has ${connectionCount}.`,
    );
  }
  const degree = new Uint32Array(neuronCount);
  const sum = new Float64Array(neuronCount);
  for (let c = 0; c < connectionCount; c++) {
    degree[targets[c]!]!++;
    sum[targets[c]!]! += synapseCounts[c]!;
  }
  const heaviest = sum.reduce((most, each, i) => (each > sum[most]! ? i : most), 0);
  if (sum[heaviest]! >= LARGEST_SUM) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU engine takes fewer than ${LARGEST_SUM} synapses onto one neuron; neuron ${heaviest} has ${sum[heaviest]!}.`,
    );
  }

  const firstSegment = new Float32Array(neuronCount + 1);
  let mostSegments = 0;
  for (let i = 0; i < neuronCount; i++) {
    const segments = Math.ceil(degree[i]! / SEGMENT_CONNECTIONS);
    firstSegment[i + 1] = firstSegment[i]! + segments;
    mostSegments = Math.max(mostSegments, segments);
  }
  // A network without connections still needs arrays that a GPU can bind.
  const segmentCount = Math.max(1, firstSegment[neuronCount]!);
  const segmentStart = new Float32Array(segmentCount);
  const segmentLength = new Float32Array(segmentCount);
  const nextOfNeuron = new Uint32Array(neuronCount);
  for (let i = 0, start = 0; i < neuronCount; i++) {
    nextOfNeuron[i] = start;
    for (let s = firstSegment[i]!, left = degree[i]!; left > 0; s++) {
      segmentStart[s] = start;
      segmentLength[s] = Math.min(left, SEGMENT_CONNECTIONS);
      start += segmentLength[s]!;
      left -= segmentLength[s]!;
    }
  }
  const sources = new Float32Array(Math.max(1, connectionCount));
  const synapses = new Float32Array(Math.max(1, connectionCount));
  for (let pre = 0; pre < neuronCount; pre++) {
    for (let c = rowStart[pre]!; c < rowStart[pre + 1]!; c++) {
      const at = nextOfNeuron[targets[c]!]!++;
      sources[at] = pre;
      synapses[at] = signs[pre]! * synapseCounts[c]!;
    }
  }
  return { segmentCount, firstSegment, mostSegments, segmentStart, segmentLength, sources, synapses };
}
