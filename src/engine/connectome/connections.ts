/** Finds connections between two sets of neurons, one by one or summed by cell type. */
import { mapped } from '../mapped.js';
import type { InParts } from '../parts.js';
import type { Connectome } from './connectome.js';

export const CONNECTION_GROUPS = ['type', 'neuron'] as const;

export interface ConnectionQuestion {
  /** Presynaptic neurons, ascending. */
  readonly sources: Uint32Array;
  readonly targets: Uint32Array;
  readonly groupBy: (typeof CONNECTION_GROUPS)[number];
  /** The page: the first row, and the highest number of rows. */
  readonly from: number;
  readonly limit: number;
}

/** The connections from one neuron to another, or from the neurons of one type to the neurons of another. */
export interface ConnectionRow {
  /** The presynaptic neuron, or the first neuron of the presynaptic type. */
  readonly source: number;
  readonly target: number;
  /** The number of ordered pairs of neurons. */
  readonly pairs: number;
  readonly synapses: number;
  /**
   * Pairs whose source excites, and pairs whose source inhibits. The sources of all other pairs have no fast effect.
   */
  readonly excitatoryPairs: number;
  readonly inhibitoryPairs: number;
}

export interface FoundConnections {
  /** The totals of rows, pairs and synapses, including those outside the page. */
  readonly count: number;
  readonly pairs: number;
  readonly synapses: number;
  /** In the order of the connectome, by source, then by target. */
  readonly rows: readonly ConnectionRow[];
}

/** Connections read between two pauses: a few milliseconds of work. */
const CONNECTIONS_PER_PART = 2 ** 16;

/** Rows outside the page are only counted. */
export function* connectionsBetween(
  connectome: Connectome,
  { sources, targets, groupBy, from, limit }: ConnectionQuestion,
): InParts<FoundConnections> {
  const { neuronCount, rowStart, targets: posts, synapseCounts, signs } = connectome;
  const groupOf = groupBy === 'type' ? firstOfTypes(connectome) : undefined;
  const isTarget = new Uint8Array(neuronCount);
  for (let k = 0; k < targets.length; k++) isTarget[targets[k]!] = 1;

  const page = new ConnectionPage(neuronCount, from, limit);
  const { pairs, synapses, excitatoryPairs, inhibitoryPairs } = page.sums;
  let sourceGroup = 0;
  let sincePause = 0;
  for (let k = 0; k < sources.length; k++) {
    const pre = sources[k]!;
    // Neurons of a type follow one another.
    const group = groupOf?.[pre] ?? pre;
    if (group !== sourceGroup) page.finish(sourceGroup);
    sourceGroup = group;
    // Pairs are counted by the sign of their source.
    const sums = signs[pre]! > 0 ? excitatoryPairs : signs[pre]! < 0 ? inhibitoryPairs : undefined;
    const end = rowStart[pre + 1]!;
    for (let at = rowStart[pre]!; at < end; at++) {
      const post = posts[at]!;
      if (isTarget[post] === 0) continue;
      const targetGroup = groupOf?.[post] ?? post;
      if (pairs[targetGroup] === 0) page.reached.push(targetGroup);
      pairs[targetGroup]!++;
      synapses[targetGroup]! += synapseCounts[at]!;
      if (sums !== undefined) sums[targetGroup]!++;
    }
    sincePause += end - rowStart[pre]!;
    if (sincePause < CONNECTIONS_PER_PART) continue;
    sincePause = 0;
    yield;
  }
  page.finish(sourceGroup);
  return { ...page.total, rows: page.rows };
}

/** The rows of a page, and the sums over the connections of the current group of sources. */
class ConnectionPage {
  readonly rows: ConnectionRow[] = [];
  readonly total = { count: 0, pairs: 0, synapses: 0 };
  /** Sums by the group of the target. */
  readonly sums: Readonly<Record<'pairs' | 'synapses' | 'excitatoryPairs' | 'inhibitoryPairs', Uint32Array>>;
  /** Groups of targets whose sums are not 0. */
  reached: number[] = [];

  constructor(
    neuronCount: number,
    private readonly from: number,
    private readonly limit: number,
  ) {
    const empty = () => new Uint32Array(neuronCount);
    this.sums = { pairs: empty(), synapses: empty(), excitatoryPairs: empty(), inhibitoryPairs: empty() };
  }

  /** Adds the rows of a group of sources, and sets its sums back to 0. */
  finish(source: number): void {
    const { rows, total, sums, reached, from, limit } = this;
    const { pairs, synapses, excitatoryPairs, inhibitoryPairs } = sums;
    const isOnPage = total.count < from + limit && total.count + reached.length > from;
    if (isOnPage) reached.sort((a, b) => a - b);
    for (const target of reached) {
      if (isOnPage && total.count >= from && rows.length < limit) {
        rows.push({ source, target, ...mapped(sums, (sum) => sum[target]!) });
      }
      total.count++;
      total.pairs += pairs[target]!;
      total.synapses += synapses[target]!;
      pairs[target] = synapses[target] = excitatoryPairs[target] = inhibitoryPairs[target] = 0;
    }
    this.reached = [];
  }
}

/** @returns for each neuron the first neuron of its type. All neurons without a type count as one type. */
function firstOfTypes({ metadata, typeIndices }: Connectome): Uint32Array {
  const typeOf = new Map<string, number>();
  for (const [type, { name }] of metadata.types.entries()) if (!typeOf.has(name)) typeOf.set(name, type);
  const types = metadata.types.map(({ name }) => typeOf.get(name)!);
  const first: number[] = [];
  return Uint32Array.from(typeIndices, (type, neuron) => (first[types[type]!] ??= neuron));
}
