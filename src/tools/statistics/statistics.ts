import { sum } from 'd3-array';
import type { SourceFile } from '../../engine/connectome/connectome.js';
import { MIN_SYNAPSES } from '../compiler/brain.js';

/**
 * Cell-type statistics of a brain: groups of similar cells, and numbers of connections between groups. measureStatistics()
 * measures them on a brain; sampleBrain() samples a brain of the same size from them. data/cell-types/ has those of the
 * release.
 */
export interface CellTypeStatistics {
  readonly groups: readonly CellGroup[];
  readonly pairs: GroupPairs;
  /** Sentences on the measured brain. */
  readonly provenance: readonly string[];
  /** The files from which the brain was compiled, or from which the statistics were read. */
  readonly sources: readonly SourceFile[];
}

const text = (field: string) => field;
/** Numbers separated by blanks. */
const numbers = (field: string): readonly number[] => (field === '' ? [] : field.split(' ').map(Number));

/** Labels that the cells of a group share. Groups are sorted by them in this order. */
export const GROUP_LABELS = ['type', 'side', 'super_class', 'class', 'sub_class'] as const;

/** Members of a group, each with a function that reads its column. */
export const GROUP_COLUMNS = {
  /** Empty for cells without a type; the next four are empty if the tables have no value. */
  type: text,
  side: text,
  super_class: text,
  class: text,
  sub_class: text,
  cells: Number,
  /** Sign of their outputs under each rule: 1 or -1. Cells with different signs are never in one group. */
  predicted_sign: Number,
  corrected_sign: Number,
  /** Number of cells that connect to themselves, and the synapses of these connections. They are not part of any pair. */
  self_connections: Number,
  self_synapses: Number,
  /**
   * Heterogeneity of the cells. They are sorted by number of connections, descending, and divided into at most MAX_STRATA
   * strata of nearly equal size. For each stratum: mean number of outputs or inputs in % of the group's mean. Empty for a
   * group of one cell.
   */
  output_percent: numbers,
  input_percent: numbers,
  /** x, y, z of the mean position of the cells with a measured position, or of all cells if there are too few of these. */
  position_um: numbers,
  /** xx, yx, yy, zx, zy, zz of the Cholesky factor of the covariance of these positions. Empty for a group of one cell. */
  position_spread_um: numbers,
};

/** Cells with the same type, side, classes and sign, and similar partners. */
export type CellGroup = {
  readonly [Name in keyof typeof GROUP_COLUMNS]: ReturnType<(typeof GROUP_COLUMNS)[Name]>;
};

const MAX_STRATA = 6;

/** The stratum of cell number `cell` of a group; cell 0 has the most connections. */
export function stratumOf(cell: number, cells: number): number {
  return Math.floor((cell * strataOf(cells)) / cells);
}

export function strataOf(cells: number): number {
  return cells === 1 ? 0 : Math.min(cells, MAX_STRATA);
}

/** Columns of the table of pairs of groups. */
export const PAIR_COLUMNS = [
  /** Indices of the presynaptic and of the postsynaptic group. */
  'pre',
  'post',
  'connections',
  /** Sum over all connections of their synapses in excess of MIN_SYNAPSES (src/tools/compiler/brain.ts). */
  'excess_synapses',
  /** Presynaptic cells without a connection, of those that could have one: min(cells, connections) - participating cells. */
  'missing_pre',
  'missing_post',
  /** Distribution of the excess over the connections: index into SYNAPSE_SPREADS. */
  'spread',
] as const;

/**
 * Connections from the cells of one group to those of another. Columns have one row for each pair of groups with a
 * connection, ascending by pre, then post.
 */
export type GroupPairs = Readonly<Record<(typeof PAIR_COLUMNS)[number], Uint32Array>> & {
  readonly count: number;
};

export function newGroupPairs(count: number): GroupPairs {
  const columns = PAIR_COLUMNS.map((name) => [name, new Uint32Array(count)]);
  return { ...(Object.fromEntries(columns) as Omit<GroupPairs, 'count'>), count };
}

/** The size of the measured brain, and of each brain sampled from the statistics. */
export function totalsOf({ groups, pairs }: Pick<CellTypeStatistics, 'groups' | 'pairs'>) {
  const between = sum(pairs.connections);
  const excess = sum(pairs.excess_synapses);
  return {
    groups: groups.length,
    pairs: pairs.count,
    neurons: sum(groups, ({ cells }) => cells),
    connections: sum(groups, (group) => group.self_connections) + between,
    synapses: sum(groups, (group) => group.self_synapses) + MIN_SYNAPSES * between + excess,
  };
}
