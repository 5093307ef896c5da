/** Finds the neurons that a set of neurons reaches along connections, or that reach it. */
import type { InParts } from '../parts.js';
import type { Wiring } from './connectome.js';

/** The directions along connections. A selector has a member with each of these names. */
export const DIRECTIONS = ['downstream_of', 'upstream_of'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** The part of a wiring that neighbours depend on: all except signs. */
export type Connections = Pick<Wiring, 'neuronCount' | 'rowStart' | 'targets' | 'synapseCounts'>;

export interface Walk {
  readonly direction: Direction;
  /** The highest number of consecutive connections. */
  readonly hops: number;
  /** The lowest number of synapses of each connection. */
  readonly minimumSynapses: number;
}

/** They take about a millisecond. */
const CONNECTIONS_PER_PAUSE = 2 ** 18;

/**
 * @returns the neurons at the other end of 1 to `hops` consecutive connections, ascending. A neuron of the origin is
 *   included only if it is reached too: from another neuron, in a circle, or by a connection with itself
 *
 * Each hop reads every connection at most once. An index of incoming connections would be faster, but would take four
 * bytes for each connection.
 */
export function* neighboursOf(
  { neuronCount, rowStart, targets, synapseCounts }: Connections,
  origin: Uint32Array,
  { direction, hops, minimumSynapses }: Walk,
): InParts<Uint32Array> {
  const isUpstream = direction === 'upstream_of';
  const isReached = new Uint8Array(neuronCount);
  /** The hop, counted from 1, in which the neuron's connections are followed; 0 for none. */
  const hopFrom = new Uint8Array(neuronCount);
  for (let k = 0; k < origin.length; k++) hopFrom[origin[k]!] = 1;
  let count = 0;
  let sincePause = 0;
  for (let hop = 1; hop <= hops; hop++) {
    for (let pre = 0; pre < neuronCount; pre++) {
      if (isUpstream ? isReached[pre] !== 0 : hopFrom[pre] !== hop) continue;
      const [start, end] = [rowStart[pre]!, rowStart[pre + 1]!];
      for (let at = start; at < end; at++) {
        const post = targets[at]!;
        if (synapseCounts[at]! < minimumSynapses || (isUpstream && hopFrom[post] !== hop)) continue;
        const neighbour = isUpstream ? pre : post;
        if (isReached[neighbour] === 0) {
          isReached[neighbour] = 1;
          count++;
          if (hopFrom[neighbour] === 0) hopFrom[neighbour] = hop + 1;
        }
        if (isUpstream) break;
      }
      sincePause += end - start;
      if (sincePause < CONNECTIONS_PER_PAUSE) continue;
      sincePause = 0;
      yield;
    }
  }
  const reached = new Uint32Array(count);
  for (let neuron = 0, at = 0; at < count; neuron++) if (isReached[neuron] !== 0) reached[at++] = neuron;
  return reached;
}
