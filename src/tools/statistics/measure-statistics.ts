import type { Label } from '../../engine/connectome/neuron-index.js';
import { type Brain, MIN_SYNAPSES, signsUnder } from '../compiler/brain.js';
import {
  type CellGroup,
  type CellTypeStatistics,
  type GroupPairs,
  GROUP_LABELS,
  newGroupPairs,
  strataOf,
  stratumOf,
} from './statistics.js';
import { measurePositions } from './cell-positions.js';
import { groupCells } from './group-cells.js';
import { nearestSpread } from './synapse-spread.js';

const GROUP_RANGE = 2 ** 24;

/** Merges the cells of a brain into groups and counts the connections between groups. */
export function measureStatistics(brain: Brain): CellTypeStatistics {
  const members = groupCells(brain);
  const groupOf = new Uint32Array(brain.neurons.count);
  members.forEach((cells, group) => cells.forEach((cell) => (groupOf[cell] = group)));
  return {
    groups: measureGroups(brain, members, groupOf),
    pairs: measurePairs(brain, members, groupOf),
    provenance: brain.provenance,
    sources: brain.sources,
  };
}

function measureGroups(brain: Brain, members: readonly Uint32Array[], groupOf: Uint32Array): CellGroup[] {
  const { neurons, connections } = brain;
  const outputs = new Uint32Array(neurons.count);
  const inputs = new Uint32Array(neurons.count);
  const selfConnections = new Uint32Array(members.length);
  const selfSynapses = new Uint32Array(members.length);
  for (let c = 0; c < connections.count; c++) {
    const pre = connections.pre[c]!;
    const post = connections.post[c]!;
    if (pre === post) {
      selfConnections[groupOf[pre]!]!++;
      selfSynapses[groupOf[pre]!]! += connections.synapseCounts[c]!;
    } else {
      outputs[pre]!++;
      inputs[post]!++;
    }
  }
  const predictedSigns = signsUnder('predicted', neurons);
  const correctedSigns = signsUnder('corrected', neurons);
  const labelsOf = (neuron: number) => {
    const labels = GROUP_LABELS.map((label) => [label, neurons.labels[label][neuron]!]);
    return Object.fromEntries(labels) as Record<Label, string>;
  };
  return members.map((cells, group) => {
    const first = cells[0]!;
    const byConnections = Array.from(cells).sort(
      (a, b) => outputs[b]! + inputs[b]! - outputs[a]! - inputs[a]! || a - b,
    );
    return {
      ...labelsOf(first),
      cells: cells.length,
      predicted_sign: predictedSigns[first]!,
      corrected_sign: correctedSigns[first]!,
      self_connections: selfConnections[group]!,
      self_synapses: selfSynapses[group]!,
      output_percent: stratumPercents(byConnections, outputs),
      input_percent: stratumPercents(byConnections, inputs),
      ...measurePositions(cells, neurons),
    };
  });
}

/** Mean of `degrees` in each stratum, in % of the mean over all cells; 100 if there are no connections. */
function stratumPercents(cells: readonly number[], degrees: Uint32Array): number[] {
  const strata = strataOf(cells.length);
  const sums = new Array<number>(strata).fill(0);
  const sizes = new Array<number>(strata).fill(0);
  let total = 0;
  cells.forEach((cell, place) => {
    if (strata === 0) return;
    sums[stratumOf(place, cells.length)]! += degrees[cell]!;
    sizes[stratumOf(place, cells.length)]!++;
    total += degrees[cell]!;
  });
  return sums.map((sum, s) =>
    total === 0 ? 100 : roundedQuotient(100 * sum * cells.length, sizes[s]! * total),
  );
}

function measurePairs(brain: Brain, members: readonly Uint32Array[], groupOf: Uint32Array): GroupPairs {
  const { pre, post, synapseCounts } = brain.connections;
  const keyOf = (c: number): number => groupOf[pre[c]!]! * GROUP_RANGE + groupOf[post[c]!]!;
  // Sort the connections by pair of groups; within a pair they keep the order of the brain.
  const ordered = Uint32Array.from(pre.keys())
    .filter((c) => pre[c] !== post[c])
    .sort((a, b) => keyOf(a) - keyOf(b) || a - b);
  const rows: Uint32Array[] = [];
  for (let first = 0, end = 0; first < ordered.length; first = end) {
    while (end < ordered.length && keyOf(ordered[end]!) === keyOf(ordered[first]!)) end++;
    rows.push(ordered.subarray(first, end));
  }
  const pairs = newGroupPairs(rows.length);
  rows.forEach((connections, row) => {
    const preGroup = groupOf[pre[connections[0]!]!]!;
    const postGroup = groupOf[post[connections[0]!]!]!;
    const excess = Array.from(connections, (c) => synapseCounts[c]! - MIN_SYNAPSES);
    pairs.pre[row] = preGroup;
    pairs.post[row] = postGroup;
    pairs.connections[row] = connections.length;
    pairs.excess_synapses[row] = excess.reduce((sum, x) => sum + x, 0);
    pairs.missing_pre[row] = missing(connections, pre, members[preGroup]!.length);
    pairs.missing_post[row] = missing(connections, post, members[postGroup]!.length);
    pairs.spread[row] = nearestSpread(excess);
  });
  return pairs;
}

/** Number of cells without a connection, of those that could have one: min(cells, connections) minus participating cells. */
function missing(connections: Uint32Array, side: Uint32Array, cells: number): number {
  const distinct = new Set(Array.from(connections, (c) => side[c]!)).size;
  return Math.min(cells, connections.length) - distinct;
}

/** To the nearest integer, halves up; exact for integers below 2^53. */
function roundedQuotient(numerator: number, denominator: number): number {
  return Math.floor((2 * numerator + denominator) / (2 * denominator));
}
