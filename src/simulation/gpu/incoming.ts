import type { Wiring } from '../../connectome/connectome.js';
import { CodedError } from '../../errors.js';

/** Connections whose sources one float has a bit for. */
export const GROUP_CONNECTIONS = 24;
/** Groups that one thread adds up; a neuron with more is a hub and has its sums made in advance, chunk by chunk. */
export const CHUNK_GROUPS = 20;
/** Sums of each chunk of a hub: the synapses of each of the 18 steps, the exciting ones, all of them. */
export const CHUNK_SUMS = 20;

/** Sums of synapses and everything added to them stay exact in float32 below this. */
const MAX_SYNAPSE_SUM = 2 ** 22;
/**
 * A kernel divides n by CHUNK_SUMS as floor((n + 1/2) * (1/20)), in float32. For n below this the result is right: it
 * is at least 1/40 away from an integer, and two roundings of at most 2^-24 of it each are less.
 */
const MAX_SUMS = 2 ** 21;
/** Numbers of groups are float32 numbers on the GPU. */
const MAX_GROUPS = 2 ** 24;

/**
 * The wiring seen from the postsynaptic side, for a gather: the incoming connections of a neuron stand together, cut into
 * groups of at most 24. Every array is float32, the only type that gpu.js hands to a kernel; all values are integers below
 * 2^24.
 */
export interface IncomingConnections {
  readonly groupCount: number;
  /** Length neuronCount + 1: neuron i has the groups from firstGroup[i] up to, not including, firstGroup[i + 1]. */
  readonly firstGroup: Float32Array;
  /** Chunks of hubs; of neurons without chunks firstChunk[i] is firstChunk[i + 1]. */
  readonly chunkCount: number;
  readonly firstChunk: Float32Array;
  /** First group of each chunk, and number of its groups. */
  readonly groupOfChunk: Float32Array;
  readonly groupsOfChunk: Float32Array;
  /**
   * Presynaptic neuron of each connection, [24][groupCount]: connection k of group g is at k * groupCount + g. The slots
   * that a group does not fill have the source neuronCount, which never spikes.
   */
  readonly sources: Float32Array;
  /** Its synapses, negative where the source inhibits. */
  readonly synapses: Float32Array;
}

/** @throws CodedError GPU_UNAVAILABLE when the wiring exceeds what is exact in float32 */
export function incomingConnections(wiring: Wiring): IncomingConnections {
  const { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs } = wiring;
  const degree = new Uint32Array(neuronCount);
  const sum = new Float64Array(neuronCount);
  for (let c = 0; c < connectionCount; c++) {
    degree[targets[c]!]!++;
    sum[targets[c]!]! += synapseCounts[c]!;
  }
  const heaviest = sum.reduce((most, each, i) => (each > sum[most]! ? i : most), 0);
  if (sum[heaviest]! >= MAX_SYNAPSE_SUM) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU engine takes fewer than ${MAX_SYNAPSE_SUM} synapses onto one neuron; neuron ${heaviest} has ${sum[heaviest]!}.`,
    );
  }

  const firstGroup = new Float32Array(neuronCount + 1);
  const firstChunk = new Float32Array(neuronCount + 1);
  const groupOfChunk: number[] = [];
  const groupsOfChunk: number[] = [];
  let groups = 0;
  for (let i = 0; i < neuronCount; i++) {
    firstGroup[i] = groups;
    const end = groups + Math.ceil(degree[i]! / GROUP_CONNECTIONS);
    if (end - groups > CHUNK_GROUPS) {
      for (let group = groups; group < end; group += CHUNK_GROUPS) {
        groupOfChunk.push(group);
        groupsOfChunk.push(Math.min(CHUNK_GROUPS, end - group));
      }
    }
    firstChunk[i + 1] = groupOfChunk.length;
    groups = end;
  }
  firstGroup[neuronCount] = groups;
  if (groups >= MAX_GROUPS || groupOfChunk.length * CHUNK_SUMS >= MAX_SUMS) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU engine cannot number the ${connectionCount} connections of this connectome.`,
    );
  }

  // A network without connections, or without hubs, still needs arrays that a GPU can bind.
  if (groupOfChunk.length === 0) {
    groupOfChunk.push(0);
    groupsOfChunk.push(0);
  }
  const groupCount = Math.max(1, groups);
  const sources = new Float32Array(GROUP_CONNECTIONS * groupCount).fill(neuronCount);
  const synapses = new Float32Array(GROUP_CONNECTIONS * groupCount);
  const nextOfNeuron = new Uint32Array(neuronCount);
  for (let pre = 0; pre < neuronCount; pre++) {
    for (let c = rowStart[pre]!; c < rowStart[pre + 1]!; c++) {
      const post = targets[c]!;
      const index = nextOfNeuron[post]!++;
      const group = firstGroup[post]! + Math.floor(index / GROUP_CONNECTIONS);
      const at = (index % GROUP_CONNECTIONS) * groupCount + group;
      sources[at] = pre;
      synapses[at] = signs[pre]! * synapseCounts[c]!;
    }
  }
  return {
    groupCount,
    firstGroup,
    chunkCount: groupOfChunk.length,
    firstChunk,
    groupOfChunk: Float32Array.from(groupOfChunk),
    groupsOfChunk: Float32Array.from(groupsOfChunk),
    sources,
    synapses,
  };
}
