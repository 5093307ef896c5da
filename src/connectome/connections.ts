/** Connections between two sets of neurons, one by one or added up by cell type. */
import type { InParts } from '../parts.js';
import type { Connectome } from './connectome.js';

export const CONNECTION_GROUPS = ['type', 'neuron'] as const;

export interface ConnectionQuestion {
  /** Presynaptic neurons, ascending. */
  readonly sources: Uint32Array;
  readonly targets: Uint32Array;
  readonly groupBy: (typeof CONNECTION_GROUPS)[number];
  /** Rows from this one on, at most so many. */
  readonly from: number;
  readonly limit: number;
}

/** Connections from one neuron to another, or from the neurons of one type to those of another. */
export interface ConnectionRow {
  /** Any neuron of the presynaptic type stands for all of it. */
  readonly source: number;
  readonly target: number;
  /** Ordered pairs of neurons. */
  readonly pairs: number;
  readonly synapses: number;
  /** Pairs whose source excites, and whose source inhibits; the source of all others has no fast effect. */
  readonly excitatoryPairs: number;
  readonly inhibitoryPairs: number;
}

export interface FoundConnections {
  /** Rows, pairs and synapses in all. */
  readonly count: number;
  readonly pairs: number;
  readonly synapses: number;
  /** In the order of the connectome, by source, then by target. */
  readonly rows: readonly ConnectionRow[];
}

/** Connections between two pauses: a few milliseconds. */
const PART = 2 ** 16;

/** Rows before and behind the page are counted, not made. */
export function* connectionsBetween(
  connectome: Connectome,
  { sources, targets, groupBy, from, limit }: ConnectionQuestion,
): InParts<FoundConnections> {
  const { neuronCount, rowStart, targets: posts, synapseCounts, signs } = connectome;
  const groupOf = groupBy === 'type' ? firstOfTypes(connectome) : undefined;
  const isTarget = new Uint8Array(neuronCount);
  for (let k = 0; k < targets.length; k++) isTarget[targets[k]!] = 1;

  const rows: ConnectionRow[] = [];
  const total = { count: 0, pairs: 0, synapses: 0 };
  // Sums over the connections of one group of sources, by the group of the target.
  const pairs = new Uint32Array(neuronCount);
  const synapses = new Uint32Array(neuronCount);
  const excitatory = new Uint32Array(neuronCount);
  const inhibitory = new Uint32Array(neuronCount);
  let reached: number[] = [];
  const finish = (source: number): void => {
    const isOnPage = total.count < from + limit && total.count + reached.length > from;
    if (isOnPage) reached.sort((a, b) => a - b);
    for (const target of reached) {
      if (isOnPage && total.count >= from && rows.length < limit) {
        rows.push({
          source,
          target,
          pairs: pairs[target]!,
          synapses: synapses[target]!,
          excitatoryPairs: excitatory[target]!,
          inhibitoryPairs: inhibitory[target]!,
        });
      }
      total.count++;
      total.pairs += pairs[target]!;
      total.synapses += synapses[target]!;
      pairs[target] = synapses[target] = excitatory[target] = inhibitory[target] = 0;
    }
    reached = [];
  };

  let source = 0;
  let sincePause = 0;
  for (let k = 0; k < sources.length; k++) {
    const pre = sources[k]!;
    // Neurons of a type follow one another.
    const group = groupOf?.[pre] ?? pre;
    if (group !== source) finish(source);
    source = group;
    const sums = signs[pre]! > 0 ? excitatory : signs[pre]! < 0 ? inhibitory : undefined;
    const end = rowStart[pre + 1]!;
    for (let at = rowStart[pre]!; at < end; at++) {
      const post = posts[at]!;
      if (isTarget[post] === 0) continue;
      const target = groupOf?.[post] ?? post;
      if (pairs[target] === 0) reached.push(target);
      pairs[target]!++;
      synapses[target]! += synapseCounts[at]!;
      if (sums !== undefined) sums[target]!++;
    }
    sincePause += end - rowStart[pre]!;
    if (sincePause < PART) continue;
    sincePause = 0;
    yield;
  }
  finish(source);
  return { ...total, rows };
}

/** The first neuron of the type of each neuron; those without a type are one, whatever their super class. */
function firstOfTypes({ metadata, typeIndices }: Connectome): Uint32Array {
  const typeOf = new Map<string, number>();
  for (const [type, { name }] of metadata.types.entries()) if (!typeOf.has(name)) typeOf.set(name, type);
  const types = metadata.types.map(({ name }) => typeOf.get(name)!);
  const first: number[] = [];
  return Uint32Array.from(typeIndices, (type, neuron) => (first[types[type]!] ??= neuron));
}
