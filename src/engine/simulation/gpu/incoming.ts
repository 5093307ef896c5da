import type { Wiring } from '../../connectome/connectome.js';
import { CodedError } from '../../errors.js';

/** The number of connections in a group: a float has an exact bit for the source of each. */
export const GROUP_CONNECTIONS = 24;
/**
 * The number of groups that one thread adds up. A neuron with more is a hub: its sums are computed before, in chunks.
 */
export const CHUNK_GROUPS = 20;
/** The sums of each chunk: the synapses of each of the 18 steps, the exciting synapses, and all synapses. */
export const CHUNK_SUMS = 20;

/** Sums of synapses and everything added to them stay exact in float32 below this. */
const MAX_SYNAPSE_SUM = 2 ** 22;
/**
 * A kernel divides n by CHUNK_SUMS as floor((n + 1/2) * (1/20)), in float32. For n below this the result is right: the
 * product is at least 1/40 away from an integer, and two relative rounding errors of at most 2^-24 are less.
 */
const MAX_SUMS = 2 ** 21;
/** The GPU numbers groups in float32. */
const MAX_GROUPS = 2 ** 24;

/**
 * The wiring from the postsynaptic side, so that a thread can gather a neuron's input. The incoming connections of a
 * neuron are adjacent, in groups of at most 24. Every array is float32, the only type that gpu.js passes to a kernel;
 * all values are integers below 2^24.
 */
export interface IncomingConnections {
  readonly groupCount: number;
  /** Length neuronCount + 1: neuron i has the groups firstGroup[i] to firstGroup[i + 1] - 1. */
  readonly firstGroup: Float32Array;
  /** Neuron i has the chunks firstChunk[i] to firstChunk[i + 1] - 1: none unless it is a hub. */
  readonly chunkCount: number;
  readonly firstChunk: Float32Array;
  /** The first group of each chunk, and the number of its groups. */
  readonly groupOfChunk: Float32Array;
  readonly groupsOfChunk: Float32Array;
  /**
   * The presynaptic neuron of each connection, [24][groupCount]: connection k of group g is at k * groupCount + g.
   * Unused entries of a group have the source neuronCount, which never spikes.
   */
  readonly sources: Float32Array;
  /** The synapses of each connection, negative if the source inhibits. */
  readonly synapses: Float32Array;
}

/** @throws CodedError GPU_UNAVAILABLE if the wiring is too large to be exact in float32 */
export function incomingConnections(wiring: Wiring): IncomingConnections {
  const { neuronCount, rowStart, targets, synapseCounts, signs } = wiring;
  const groups = groupsOf(wiring, degreesOf(wiring));
  const { groupCount, firstGroup } = groups;
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
  return { ...groups, sources, synapses };
}

/**
 * @returns the number of connections onto each neuron
 * @throws CodedError GPU_UNAVAILABLE if a neuron has too many synapses
 */
function degreesOf({ neuronCount, connectionCount, targets, synapseCounts }: Wiring): Uint32Array {
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
  return degree;
}

/**
 * @param degree the number of connections onto each neuron
 * @throws CodedError GPU_UNAVAILABLE if there are too many groups
 */
function groupsOf(
  { neuronCount, connectionCount }: Wiring,
  degree: Uint32Array,
): Omit<IncomingConnections, 'sources' | 'synapses'> {
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

  // A network without connections or hubs needs arrays too, because a GPU cannot bind empty ones.
  if (groupOfChunk.length === 0) {
    groupOfChunk.push(0);
    groupsOfChunk.push(0);
  }
  return {
    groupCount: Math.max(1, groups),
    firstGroup,
    chunkCount: groupOfChunk.length,
    firstChunk,
    groupOfChunk: Float32Array.from(groupOfChunk),
    groupsOfChunk: Float32Array.from(groupsOfChunk),
  };
}
