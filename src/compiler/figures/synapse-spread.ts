import type { PhiloxSequence } from '../../engine/philox.js';
import { MAXIMUM_SYNAPSES_PER_CONNECTION } from '../../connectome/format.js';
import { MINIMUM_SYNAPSES } from '../brain.js';
import { SYNAPSE_SPREADS } from './figures.js';

/** More does not fit into a connectome file. */
export const MAXIMUM_EXCESS = MAXIMUM_SYNAPSES_PER_CONNECTION - MINIMUM_SYNAPSES;

/**
 * The spread whose variance comes nearest to that of the counts given. In an urn the counts are
 * Dirichlet-multinomial with a = own / added for each of n connections; their expected sum of squared
 * deviations is S (1 - 1/n) (S + n a) / (1 + n a) for a sum S, which is solved for a.
 * @param excess synapses beyond the minimum of each connection of a pair
 * @returns index into SYNAPSE_SPREADS
 */
export function spreadOf(excess: readonly number[]): number {
  const n = excess.length;
  const sum = excess.reduce((total, x) => total + x, 0);
  // n times the sum of squared deviations, and n times what it would be if synapses fell independently.
  const squares = n * excess.reduce((total, x) => total + x * x, 0) - sum * sum;
  const independent = sum * (n - 1);
  if (sum < 2 || independent === 0) return 0;
  if (squares <= independent) return EVEN;
  const concentration = (sum * independent - squares) / (squares - independent) / n;
  let best = 0;
  let distance = Infinity;
  SYNAPSE_SPREADS.forEach(({ own, added }, index) => {
    // Distance in the share of the variance that is explained, 1 / (1 + a), which is finite for all of them.
    const d = Math.abs(added / (own + added) - 1 / (1 + Math.max(0, concentration)));
    if (d < distance) {
      distance = d;
      best = index;
    }
  });
  return best;
}

const EVEN = SYNAPSE_SPREADS.findIndex(({ added }) => added === 0);

/**
 * Divides synapses over connections by drawing from the urn of a spread.
 * @param connections how many, at least 1
 * @param excessSynapses at most MAXIMUM_EXCESS for each connection
 * @returns the excess of each connection; their sum is `excessSynapses`
 */
export function drawExcess(
  connections: number,
  excessSynapses: number,
  spread: number,
  random: PhiloxSequence,
): Uint32Array {
  const excess = new Uint32Array(connections);
  if (connections === 1) {
    excess[0] = excessSynapses;
    return excess;
  }
  const { own, added } = SYNAPSE_SPREADS[spread]!;
  const ownLots = connections * own;
  // A lot added by an earlier synapse leads to the connection that this synapse went to.
  const chosen = new Uint32Array(excessSynapses);
  for (let synapse = 0; synapse < excessSynapses; synapse++) {
    let connection: number;
    do {
      const lot = random.nextBelow(ownLots + synapse * added);
      connection = lot < ownLots ? Math.floor(lot / own) : chosen[Math.floor((lot - ownLots) / added)]!;
    } while (excess[connection] === MAXIMUM_EXCESS);
    chosen[synapse] = connection;
    excess[connection]!++;
  }
  return excess;
}
