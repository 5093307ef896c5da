/**
 * Makes another network of the same neurons. It can remove weak connections, shuffle properties of connections, and
 * vary the counts of synapses as between individuals. This file is written to be read; compiled-rewiring.ts computes
 * the same.
 *
 * Order. The result must not depend on the order of neurons in a file. So neurons are numbered in the order of their
 * ids: shorter ids first, ids of equal length by code unit, which is the numerical order of root ids. Connections are
 * in the order of their presynaptic neuron's number, then of their postsynaptic neuron's.
 *
 * Steps:
 * 1. Threshold. Connections with fewer synapses than the minimum are removed.
 * 2. Shuffle. Connections are divided into decks. In each deck in turn, a Fisher-Yates shuffle exchanges targets or
 *    synapses: each connection n, from the last down to the second, exchanges with one drawn uniformly from the first
 *    n. All random numbers are one Philox sequence with the key (seed, number of the shuffle) and the stream
 *    `shuffle`.
 * 3. Repair, if targets moved. A connection does not fit if it ends at its own source, or if an earlier connection of
 *    its source has the same target. From first to last, each such connection exchanges with one drawn from its deck,
 *    until both fit. If MAX_TRIES draws fail, because the deck is dense or small, the deck starts again from its
 *    original targets. Then EXCHANGES_PER_CONNECTION times for each connection, two drawn connections exchange if both
 *    then fit.
 * 4. Jitter. The n synapses of a pair become max(1, min(8191, floor(n f + 0.5))). The factor f = exp(j z - j^2 / 2) has
 *    the mean 1. z is a standardised sum: the 16 bytes of the Philox block with the counter (presynaptic number,
 *    postsynaptic number, 0, stream `jitter`) and the key (seed, 0). It is normal except for its kurtosis, 2.93. A pair
 *    has the same z however the network is rewired.
 * 5. Counts. Each count is drawn from a negative binomial distribution around it (resampled-counts.ts).
 * 6. Signs. Word 0 of the Philox block with the counter (number of the neuron, 0, 0, stream `signs`) and the key (seed, 0)
 *    gives u = floor(255 word / 2^32). A neuron excites if u is less than its probability to excite, in 255ths. It
 *    inhibits if u is less than the sum of both probabilities, and otherwise has no fast effect. Shuffles come before, so
 *    their decks have the signs of the model.
 */
import {
  CERTAIN,
  type ConnectomeMetadata,
  type Connectome,
  MAX_SYNAPSES_PER_CONNECTION,
  type Wiring,
} from '../../connectome/connectome.js';
import { sortRows } from '../../connectome/rows.js';
import { exponentialDecay } from '../exponential.js';
import { PHILOX_STREAM, philox4x32, PhiloxSequence } from '../../stimulus/philox.js';
import { type Rewiring, SHUFFLES } from '../../stimulus/protocol.js';
import { resampledCounts } from './resampled-counts.js';

/** The parts of a connectome that rewiring needs. */
export interface Rewirable
  extends Wiring, Pick<Connectome, 'neuronId' | 'classIndices' | 'signProbabilities'> {
  readonly metadata: Pick<ConnectomeMetadata, 'classes'>;
}

type Shuffle = NonNullable<Rewiring['shuffle']>;
/** The position in this list is the number of a shuffle, which is part of the key of its random numbers. */
const SHUFFLE_NUMBERS: readonly Shuffle[] = [...SHUFFLES, 'targets_and_weights'];

export const MAX_TRIES = 10_000;
export const EXCHANGES_PER_CONNECTION = 10;

/** A shuffle's plan: the properties that it moves, and the decks of connections within which it moves them. */
export interface Deal {
  readonly shuffle: Shuffle;
  /** The shuffle's number, part of the key of its random numbers. */
  readonly number: number;
  readonly movesTargets: boolean;
  readonly movesSynapses: boolean;
  readonly deckCount: number;
  /**
   * A connection's deck is ofSources[source] + ofTargets[target]. If that is deckCount or more, the connection stays.
   */
  readonly ofSources: Uint32Array;
  readonly ofTargets: Uint32Array;
}

export function rewired(
  network: Rewirable,
  { minimumSynapses = 1, shuffle, jitter = 0, counts, signs, seed }: Rewiring,
): Wiring {
  const order = neuronsById(network);
  let wiring = renumbered(thresholded(network, minimumSynapses), order);
  if (shuffle !== undefined) {
    const deal = dealOf(network, shuffle);
    wiring = shuffled(wiring, order, deal, new PhiloxSequence(seed, deal.number, PHILOX_STREAM.shuffle));
  }
  if (jitter > 0) wiring = jittered(wiring, jitterFactors(jitter), seed);
  if (counts !== undefined) {
    const numbers = Uint32Array.from(order.keys());
    wiring = { ...wiring, synapseCounts: resampledCounts(wiring, numbers, seed) };
  }
  const other = renumbered(wiring, inverseOf(order));
  return signs === undefined ? other : { ...other, signs: sampledSigns(network, order, seed) };
}

/** @returns the neurons in the order of their ids */
export function neuronsById({
  neuronCount,
  neuronId,
}: Pick<Rewirable, 'neuronCount' | 'neuronId'>): Uint32Array {
  const ids = Array.from({ length: neuronCount }, (_, neuron) => neuronId(neuron));
  const neurons = Uint32Array.from(ids.keys());
  return neurons.sort((a, b) => ids[a]!.length - ids[b]!.length || (ids[a]! < ids[b]! ? -1 : 1));
}

export function inverseOf(order: Uint32Array): Uint32Array {
  const positions = new Uint32Array(order.length);
  order.forEach((neuron, position) => (positions[neuron] = position));
  return positions;
}

/** @returns the same network without connections of fewer synapses */
export function thresholded(wiring: Wiring, minimumSynapses: number): Wiring {
  if (minimumSynapses <= 1) return wiring;
  const { neuronCount, rowStart, signs } = wiring;
  const isKept = (_: unknown, k: number) => wiring.synapseCounts[k]! >= minimumSynapses;
  const synapseCounts = wiring.synapseCounts.filter(isKept);
  const kept = new Uint32Array(neuronCount + 1);
  for (let neuron = 0; neuron < neuronCount; neuron++) {
    const row = wiring.synapseCounts.subarray(rowStart[neuron], rowStart[neuron + 1]);
    kept[neuron + 1] =
      kept[neuron]! + row.reduce((sum, count) => sum + (count >= minimumSynapses ? 1 : 0), 0);
  }
  const targets = wiring.targets.filter(isKept);
  return { neuronCount, connectionCount: targets.length, rowStart: kept, targets, synapseCounts, signs };
}

/** @returns the same network with neurons in another order */
function renumbered({ neuronCount, connectionCount, ...wiring }: Wiring, order: Uint32Array): Wiring {
  const numberOf = inverseOf(order);
  const rowStart = new Uint32Array(neuronCount + 1);
  const targets = new Uint32Array(connectionCount);
  const synapseCounts = new Uint16Array(connectionCount);
  let end = 0;
  order.forEach((neuron, number) => {
    for (let k = wiring.rowStart[neuron]!; k < wiring.rowStart[neuron + 1]!; k++) {
      targets[end] = numberOf[wiring.targets[k]!]!;
      synapseCounts[end++] = wiring.synapseCounts[k]!;
    }
    rowStart[number + 1] = end;
  });
  sortRows(rowStart, targets, synapseCounts);
  const signs = Int8Array.from(order, (neuron) => wiring.signs[neuron]!);
  return { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs };
}

export function dealOf({ neuronCount, signs, classIndices, metadata }: Rewirable, shuffle: Shuffle): Deal {
  const number = SHUFFLE_NUMBERS.indexOf(shuffle);
  const deal = { shuffle, number, movesTargets: shuffle !== 'weights' };
  const zeros = new Uint32Array(neuronCount);
  switch (shuffle) {
    case 'weights':
    case 'targets_and_weights': {
      // Neurons of sign 0 have no weights, so their connections stay.
      const ofSources = Uint32Array.from(signs, (sign) => (sign > 0 ? 0 : sign < 0 ? 1 : 2));
      return { ...deal, movesSynapses: true, deckCount: 2, ofSources, ofTargets: zeros };
    }
    case 'targets':
      return { ...deal, movesSynapses: false, deckCount: 1, ofSources: zeros, ofTargets: zeros };
    case 'targets_within_super_class': {
      const names = [...new Set(metadata.classes.map(({ superClass }) => superClass))].sort();
      const ofClasses = metadata.classes.map(({ superClass }) => names.indexOf(superClass));
      const ofTargets = Uint32Array.from(classIndices, (index) => ofClasses[index]!);
      const ofSources = ofTargets.map((number) => number * names.length);
      return { ...deal, movesSynapses: false, deckCount: names.length ** 2, ofSources, ofTargets };
    }
  }
}

/** @param order the connectome's neuron with each number of the wiring */
function shuffled(wiring: Wiring, order: Uint32Array, deal: Deal, random: PhiloxSequence): Wiring {
  const { neuronCount, connectionCount, rowStart, signs } = wiring;
  const sources = new Uint32Array(connectionCount);
  for (let i = 0; i < neuronCount; i++) sources.fill(i, rowStart[i], rowStart[i + 1]);
  const deckOf = (k: number): number =>
    deal.ofSources[order[sources[k]!]!]! + deal.ofTargets[order[wiring.targets[k]!]!]!;
  const decks = Array.from({ length: deal.deckCount }, (): number[] => []);
  for (let k = 0; k < connectionCount; k++) decks[deckOf(k)]?.push(k);

  /** For each connection, the connection whose target or synapses it has now. */
  const from = sources.map((_, k) => k);
  const exchange = (a: number, b: number): void => {
    const taken = from[a]!;
    from[a] = from[b]!;
    from[b] = taken;
  };
  for (const deck of decks) {
    for (let at = deck.length - 1; at > 0; at--) exchange(deck[at]!, deck[random.nextBelow(at + 1)]!);
  }
  const movedSynapses = () => from.map((k) => wiring.synapseCounts[k]!);
  const synapseCounts = () => (deal.movesSynapses ? Uint16Array.from(movedSynapses()) : wiring.synapseCounts);
  if (!deal.movesTargets) return { ...wiring, synapseCounts: synapseCounts() };

  const targetOf = (k: number): number => wiring.targets[from[k]!]!;
  const reaches = (source: number, target: number): boolean => {
    for (let k = rowStart[source]!; k < rowStart[source + 1]!; k++) if (targetOf(k) === target) return true;
    return false;
  };
  const fits = (k: number, target: number): boolean => sources[k] !== target && !reaches(sources[k]!, target);
  const exchangeIfBothFit = (a: number, b: number): boolean => {
    const bothFit = fits(a, targetOf(b)) && fits(b, targetOf(a));
    if (bothFit) exchange(a, b);
    return bothFit;
  };
  const drawnFrom = (deck: readonly number[]): number => deck[random.nextBelow(deck.length)]!;
  const finds = (k: number, deck: readonly number[]): boolean => {
    for (let tries = 0; tries < MAX_TRIES; tries++) if (exchangeIfBothFit(k, drawnFrom(deck))) return true;
    return false;
  };
  const startAgain = (deck: readonly number[]): void => {
    for (const k of deck) from[k] = k;
    for (let n = 0; n < EXCHANGES_PER_CONNECTION * deck.length; n++)
      exchangeIfBothFit(drawnFrom(deck), drawnFrom(deck));
  };
  const isDone = new Set<readonly number[]>();
  /** For each target, 1 + the last source whose connection to it was visited. */
  const reachedFrom = new Uint32Array(neuronCount);
  for (let k = 0; k < connectionCount; k++) {
    const source = sources[k]!;
    const deck = decks[deckOf(k)];
    const isMisfit = source === targetOf(k) || reachedFrom[targetOf(k)] === source + 1;
    if (isMisfit && deck !== undefined && !isDone.has(deck) && !finds(k, deck)) {
      startAgain(deck);
      isDone.add(deck);
    }
    reachedFrom[targetOf(k)] = source + 1;
  }
  const targets = from.map((_, k) => targetOf(k));
  return { neuronCount, connectionCount, rowStart, targets, synapseCounts: synapseCounts(), signs };
}

const BYTES_OF_BLOCK = 16;
const SUM_MEAN = (BYTES_OF_BLOCK * 255) / 2;
const SUM_SD = Math.sqrt((BYTES_OF_BLOCK * (256 ** 2 - 1)) / 12);

/** @returns the factor for each sum of a block's bytes */
export function jitterFactors(jitter: number): Float64Array {
  return Float64Array.from({ length: 2 * SUM_MEAN + 1 }, (_, sum) => {
    const exponent = (jitter * (sum - SUM_MEAN)) / SUM_SD - (jitter * jitter) / 2;
    return exponent > 0 ? 1 / exponentialDecay(exponent) : exponentialDecay(-exponent);
  });
}

function jittered(wiring: Wiring, factors: Float64Array, seed: number): Wiring {
  const block = new Uint32Array(BYTES_OF_BLOCK / Uint32Array.BYTES_PER_ELEMENT);
  const bytes = new Uint8Array(block.buffer);
  const synapseCounts = wiring.synapseCounts.slice();
  for (let source = 0; source < wiring.neuronCount; source++) {
    for (let k = wiring.rowStart[source]!; k < wiring.rowStart[source + 1]!; k++) {
      philox4x32(block, source, wiring.targets[k]!, 0, PHILOX_STREAM.jitter, seed, 0);
      let sum = 0;
      for (let byte = 0; byte < BYTES_OF_BLOCK; byte++) sum += bytes[byte]!;
      const synapses = Math.floor(synapseCounts[k]! * factors[sum]! + 0.5);
      synapseCounts[k] = Math.max(1, Math.min(MAX_SYNAPSES_PER_CONNECTION, synapses));
    }
  }
  return { ...wiring, synapseCounts };
}

/**
 * @param order the neurons in the order of their ids
 * @throws Error if the network has no probabilities; a plan refuses such an experiment
 */
export function sampledSigns(
  { signProbabilities: probabilities }: Rewirable,
  order: Uint32Array,
  seed: number,
): Int8Array {
  if (probabilities === undefined) throw new Error('the network has no probabilities of signs');
  const signs = new Int8Array(order.length);
  const block = new Uint32Array(4);
  order.forEach((neuron, number) => {
    philox4x32(block, number, 0, 0, PHILOX_STREAM.signs, seed, 0);
    const drawn = Math.floor((CERTAIN * block[0]!) / 2 ** 32);
    const excites = probabilities[2 * neuron]!;
    const hasEffect = excites + probabilities[2 * neuron + 1]!;
    signs[neuron] = drawn < excites ? 1 : drawn < hasEffect ? -1 : 0;
  });
  return signs;
}
