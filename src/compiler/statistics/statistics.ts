import type { SourceFile } from '../../connectome/connectome.js';
import { MINIMUM_SYNAPSES } from '../brain.js';

/**
 * Cell-type statistics of a brain: cells are merged into groups of similar cells, and connections are counted between
 * groups. data/cell-types/ holds those of the release; measureStatistics() measures them on a brain, and sampleBrain()
 * samples a brain of the same size from them.
 */
export interface CellTypeStatistics {
  readonly groups: readonly CellGroup[];
  readonly pairs: GroupPairs;
  /** Sentences on the measured brain. */
  readonly provenance: readonly string[];
  /** The files from which the brain was compiled, or from which the statistics were read. */
  readonly sources: readonly SourceFile[];
}

/** Cells with the same type, side, classes and sign, and similar partners. */
export interface CellGroup {
  /** Empty for cells without a type; the next four are empty if the tables have no value. */
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
   * Heterogeneity of the cells. Sorted by their connections in descending order, they are divided into at most
   * MAXIMUM_STRATA strata of nearly equal size. For each stratum: the mean numbers of output and input connections of
   * its cells, in % of the mean of the group. Empty for a group of one cell.
   */
  readonly outputPercent: readonly number[];
  readonly inputPercent: readonly number[];
  /** x, y, z of the mean position of the cells with a measured position, or of all cells if there are too few of these. */
  readonly meanPositionUm: readonly number[];
  /**
   * xx, yx, yy, zx, zy, zz of the Cholesky factor of the covariance of these positions. Empty for a group of
   * one cell.
   */
  readonly positionSpreadUm: readonly number[];
}

export const MAXIMUM_STRATA = 6;

/** The stratum of cell number `cell` of a group; cell 0 has the most connections. */
export function stratumOf(cell: number, cells: number): number {
  return Math.floor((cell * strataOf(cells)) / cells);
}

export function strataOf(cells: number): number {
  return cells === 1 ? 0 : Math.min(cells, MAXIMUM_STRATA);
}

/**
 * The connections from the cells of one group to those of another, one row for each pair of groups with a connection,
 * ascending by pre, then post. Columns of equal length.
 */
export interface GroupPairs {
  readonly count: number;
  /** Index of the presynaptic group. */
  readonly pre: Uint32Array;
  /** Index of the postsynaptic group. */
  readonly post: Uint32Array;
  readonly connections: Uint32Array;
  /** Sum over all connections of their synapses in excess of MINIMUM_SYNAPSES (src/compiler/brain.ts). */
  readonly excessSynapses: Uint32Array;
  /** Presynaptic cells without a connection although there are enough: min(cells, connections) - participating cells. */
  readonly missingPre: Uint32Array;
  readonly missingPost: Uint32Array;
  /** Distribution of the excess over the connections: index into SYNAPSE_SPREADS. */
  readonly spread: Uint8Array;
}

/**
 * Distributions of synapses over connections, as urn models: each connection of a row starts with `own` lots; each
 * synapse goes to a connection in proportion to its lots and adds `added` lots to it. The first one is the geometric
 * distribution (every division of the excess is equally likely); it is also used for rows with fewer than
 * MINIMUM_CONNECTIONS_FOR_SPREAD connections, which do not determine a distribution.
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

/** Totals: the size of the measured brain and of each brain sampled from the statistics. */
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
