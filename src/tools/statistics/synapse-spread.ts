import { minIndex } from 'd3-array';
import type { PhiloxSequence } from '../../engine/stimulus/philox.js';
import { MAX_SYNAPSES_PER_CONNECTION } from '../../engine/connectome/connectome.js';
import { MIN_SYNAPSES } from '../compiler/brain.js';

/**
 * Distributions of synapses over connections, as urn models. Each connection of a pair of cell types starts with `own` lots. Each
 * synapse beyond the minimum (the excess) goes to a connection in proportion to its lots, and adds `added` lots to it. The first model is the geometric distribution, in which
 * every division of the excess is equally likely. Pairs with fewer than MIN_CONNECTIONS connections use it too, because
 * they do not determine a distribution.
 */
export const SYNAPSE_SPREADS = [
  { own: 1, added: 1 },
  { own: 1, added: 4 },
  { own: 1, added: 2 },
  { own: 2, added: 1 },
  { own: 4, added: 1 },
  { own: 1, added: 0 },
] as const;
const EVEN = SYNAPSE_SPREADS.findIndex(({ added }) => added === 0);
const MIN_CONNECTIONS = 4;

/** The most that a connectome file can hold. */
export const MAX_EXCESS = MAX_SYNAPSES_PER_CONNECTION - MIN_SYNAPSES;

/**
 * The spread whose variance is closest to that of the given counts. In an urn model the counts are Dirichlet-multinomial
 * with a = own / added for each of n connections. Their expected sum of squared deviations is
 * S (1 - 1/n) (S + n a) / (1 + n a) for a sum S; this is solved for a.
 * @param excess synapses beyond the minimum of each connection of a pair
 * @returns index into SYNAPSE_SPREADS
 */
export function nearestSpread(excess: readonly number[]): number {
  const n = excess.length;
  const sum = excess.reduce((total, x) => total + x, 0);
  // n times the sum of squared deviations, and n times its expectation for independent synapses.
  const squares = n * excess.reduce((total, x) => total + x * x, 0) - sum * sum;
  const independent = sum * (n - 1);
  if (n < MIN_CONNECTIONS || sum < 2 || independent === 0) return 0;
  if (squares <= independent) return EVEN;
  // The a of above.
  const concentration = (sum * independent - squares) / (squares - independent) / n;
  // Compare 1 / (1 + a), the explained fraction of the variance: unlike a, it is finite for all spreads.
  const explained = 1 / (1 + Math.max(0, concentration));
  return minIndex(SYNAPSE_SPREADS, ({ own, added }) => Math.abs(added / (own + added) - explained));
}

/**
 * Samples the distribution of synapses over connections from the urn model of a spread.
 * @param connections their number, at least 1
 * @param excessSynapses the sum over all connections, at most MAX_EXCESS for each
 * @param spread index into SYNAPSE_SPREADS
 * @returns synapses beyond the minimum of each connection
 */
export function sampleExcess(
  connections: number,
  excessSynapses: number,
  spread: number,
  random: PhiloxSequence,
): number[] {
  if (connections === 1) return [excessSynapses];
  const excess = new Array<number>(connections).fill(0);
  /** The connection that each synapse went to. */
  const chosen: number[] = [];
  const { own, added } = SYNAPSE_SPREADS[spread]!;
  const ownLots = connections * own;
  for (let synapse = 0; synapse < excessSynapses; synapse++) {
    let connection: number;
    do {
      const lot = random.nextBelow(ownLots + synapse * added);
      // A lot that an earlier synapse added belongs to the connection of that synapse.
      connection = lot < ownLots ? Math.floor(lot / own) : chosen[Math.floor((lot - ownLots) / added)]!;
    } while (excess[connection] === MAX_EXCESS);
    chosen.push(connection);
    excess[connection]!++;
  }
  return excess;
}
