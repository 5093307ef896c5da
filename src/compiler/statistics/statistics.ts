import type { SourceFile } from '../../connectome/connectome.js';
import { MINIMUM_SYNAPSES } from '../brain.js';

/**
 * Cell-type statistics of a brain: cells are merged into groups of like ones, and connections are counted between
 * groups. data/cell-types/ holds those of the release; measureStatistics() measures them on a brain, and
 * sampleBrain() samples a brain of the same size from them.
 */
export interface CellTypeStatistics {
  readonly groups: readonly CellGroup[];
  readonly pairs: GroupPairs;
  /** Plain sentences on the brain that was measured, for people. */
  readonly provenance: readonly string[];
  /** What the statistics, or the files they were read from, come from. */
  readonly sources: readonly SourceFile[];
}

/** Cells that agree in type, side, classes and sign, and have like partners. */
export interface CellGroup {
  /** Empty for cells without a type; so are the next four where the tables say nothing. */
  readonly type: string;
  readonly side: string;
  readonly superClass: string;
  readonly class: string;
  readonly subClass: string;
  readonly cells: number;
  /** Sign of their outputs under each rule: 1 or -1. Cells of different sign are never in one group. */
  readonly predictedSign: number;
  readonly correctedSign: number;
  /** Cells that connect to themselves, and the synapses of these connections. Not part of any pair. */
  readonly selfConnections: number;
  readonly selfSynapses: number;
  /**
   * How unequal the cells are. They stand in descending order of their connections and are cut into at most
   * MAXIMUM_STRATA strata of nearly equal size; for each the mean number of output and of input connections
   * of its cells, in % of the mean of the group. Empty for a group of one cell.
   */
  readonly outputPercent: readonly number[];
  readonly inputPercent: readonly number[];
  /** x, y, z of the mean position of the cells that were measured, or of all where few were. */
  readonly meanPositionUm: readonly number[];
  /**
   * xx, yx, yy, zx, zy, zz of the Cholesky factor of the covariance of these positions. Empty for a group of
   * one cell.
   */
  readonly positionSpreadUm: readonly number[];
}

export const MAXIMUM_STRATA = 6;

/** Which stratum of a group its cell number `cell` (0 is the one with most connections) stands in. */
export function stratumOf(cell: number, cells: number): number {
  return Math.floor((cell * strataOf(cells)) / cells);
}

export function strataOf(cells: number): number {
  return cells === 1 ? 0 : Math.min(cells, MAXIMUM_STRATA);
}

/**
 * The connections from the cells of one group to those of another, one row for each pair of groups that has
 * any; ascending by pre, then post. Columns of equal length.
 */
export interface GroupPairs {
  readonly count: number;
  /** Index of the presynaptic group. */
  readonly pre: Uint32Array;
  /** Index of the postsynaptic group. */
  readonly post: Uint32Array;
  readonly connections: Uint32Array;
  /** Synapses beyond the MINIMUM_SYNAPSES (src/compiler/brain.ts) that every connection has, of all connections together. */
  readonly excessSynapses: Uint32Array;
  /** Presynaptic cells that take part, counted as those that are missing: min(cells, connections) less them. */
  readonly missingPre: Uint32Array;
  readonly missingPost: Uint32Array;
  /** How the excess is spread over the connections: index into SYNAPSE_SPREADS. */
  readonly spread: Uint8Array;
}

/**
 * Spreads of synapses over connections, as an urn: of the connections of a row each begins with `own` lots,
 * each synapse goes to a connection in proportion to its lots and adds `added` lots to it. The first is that
 * of a geometric distribution (every division of the excess is equally likely); rows with less than
 * MINIMUM_CONNECTIONS_FOR_SPREAD connections say nothing and have it too.
 */
export const SYNAPSE_SPREADS = [
  { own: 1, added: 1 },
  { own: 1, added: 4 },
  { own: 1, added: 2 },
  { own: 2, added: 1 },
  { own: 4, added: 1 },
  { own: 1, added: 0 },
] as const;
export const MINIMUM_CONNECTIONS_FOR_SPREAD = 4;

export function newGroupPairs(count: number): GroupPairs {
  return {
    count,
    pre: new Uint32Array(count),
    post: new Uint32Array(count),
    connections: new Uint32Array(count),
    excessSynapses: new Uint32Array(count),
    missingPre: new Uint32Array(count),
    missingPost: new Uint32Array(count),
    spread: new Uint8Array(count),
  };
}

/** Sums of the statistics: the size of the brain they were measured on, and of each brain sampled from them. */
export interface StatisticsTotals {
  readonly groups: number;
  readonly pairs: number;
  readonly neurons: number;
  readonly connections: number;
  readonly synapses: number;
}

export function totalsOf({ groups, pairs }: Pick<CellTypeStatistics, 'groups' | 'pairs'>): StatisticsTotals {
  let neurons = 0;
  let connections = 0;
  let synapses = 0;
  for (const group of groups) {
    neurons += group.cells;
    connections += group.selfConnections;
    synapses += group.selfSynapses;
  }
  for (let row = 0; row < pairs.count; row++) {
    connections += pairs.connections[row]!;
    synapses += MINIMUM_SYNAPSES * pairs.connections[row]! + pairs.excessSynapses[row]!;
  }
  return { groups: groups.length, pairs: pairs.count, neurons, connections, synapses };
}
