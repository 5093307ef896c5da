/**
 * Another network of the same neurons: without weak connections, with properties of connections that change places, with
 * counts of synapses as another individual might have them. Written to be read, and the oracle of compiled-rewiring.ts,
 * which computes the same, bit for bit.
 *
 * The draw. Neurons are numbered in the order of their ids (shorter ones first, equally long ones by code unit, so
 * that root ids are in numerical order), and connections are taken in the order of the numbers of their neurons, the
 * presynaptic one first. So it does not depend on the order of neurons in a file. Then, one after the other:
 *
 * 1. Connections of fewer synapses than the minimum are left out.
 * 2. Connections are divided into decks, and within each, one deck after the other, Fisher and Yates exchange what the
 *    shuffle moves: for n from the last connection of a deck down to its second, with one drawn uniformly among the
 *    first n. All of it is drawn from one sequence of Philox, key (seed, number of the shuffle), stream `shuffle`.
 * 3. Where targets moved: connections from first to last, those that begin and end at one neuron, or that reach a target
 *    which an earlier connection of their neuron reaches, exchange with one drawn from their deck, the first for which
 *    both then fit. A deck in which none fits in MAXIMUM_TRIES, because it is dense or small, starts again from what it
 *    was and exchanges, EXCHANGES_PER_CONNECTION times for each connection, two drawn from it wherever both then fit.
 * 4. The jitter multiplies the synapses n of a pair by a factor and rounds: max(1, min(8191, floor(n f + 0.5))), where
 *    f = exp(j z - j^2 / 2) has the mean 1. z is the sum of the 16 bytes of Philox's block with the counter (number of the
 *    presynaptic neuron, of the postsynaptic one, 0, stream `jitter`) and the key (seed, 0), less its mean, divided by its
 *    standard deviation: normal but for its kurtosis, 2.93. A pair has the same z whatever else is rewired.
 */
import {
  type ConnectomeMetadata,
  type Connectome,
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  type Wiring,
} from '../../connectome/connectome.js';
import { sortRows } from '../../connectome/rows.js';
import { exponentialDecay } from '../../exponential.js';
import { PHILOX_STREAM, philox4x32, PhiloxSequence } from '../../stimulus/philox.js';
import type { Rewiring } from '../../stimulus/protocol.js';

/** The parts of a connectome that rewiring needs. */
export interface Rewirable extends Wiring, Pick<Connectome, 'neuronId' | 'classIndices'> {
  readonly metadata: Pick<ConnectomeMetadata, 'classes'>;
}

type Shuffle = NonNullable<Rewiring['shuffle']>;
/** By their numbers. */
const SHUFFLE_NUMBERS: readonly Shuffle[] = [
  'weights',
  'targets',
  'targets_within_super_class',
  'targets_and_weights',
];

export const MAXIMUM_TRIES = 10_000;
export const EXCHANGES_PER_CONNECTION = 10;

/** The parts of connections that a shuffle moves, and the decks of connections among which they move. */
export interface Deal {
  readonly shuffle: Shuffle;
  /** In the key of its random numbers. */
  readonly number: number;
  readonly movesTargets: boolean;
  readonly movesSynapses: boolean;
  readonly deckCount: number;
  /** The deck of a connection is the sum of the numbers of its source and of its target; a higher one is no deck. */
  readonly ofSources: Uint32Array;
  readonly ofTargets: Uint32Array;
}

export function rewired(
  network: Rewirable,
  { minimumSynapses = 1, shuffle, jitter = 0, seed }: Rewiring,
): Wiring {
  const order = neuronsById(network);
  let wiring = renumbered(thresholded(network, minimumSynapses), order);
  if (shuffle !== undefined) {
    const deal = dealOf(network, shuffle);
    wiring = shuffled(wiring, order, deal, new PhiloxSequence(seed, deal.number, PHILOX_STREAM.shuffle));
  }
  if (jitter > 0) wiring = jittered(wiring, jitterFactors(jitter), seed);
  return renumbered(wiring, inverseOf(order));
}

/** Neurons in the order of their ids. */
export function neuronsById({
  neuronCount,
  neuronId,
}: Pick<Rewirable, 'neuronCount' | 'neuronId'>): Uint32Array {
  const ids = Array.from({ length: neuronCount }, (_, neuron) => neuronId(neuron));
  const neurons = Uint32Array.from(ids.keys());
  return neurons.sort((a, b) => ids[a]!.length - ids[b]!.length || (ids[a]! < ids[b]! ? -1 : 1));
}

export function inverseOf(order: Uint32Array): Uint32Array {
  const places = new Uint32Array(order.length);
  order.forEach((neuron, place) => (places[neuron] = place));
  return places;
}

/** The same network without connections of fewer synapses. */
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

/** The same network with neurons in another order. */
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
      // Neurons of sign 0 have no weights to speak of: theirs stay.
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

/** @param order neurons of the connectome by their numbers in the wiring */
function shuffled(wiring: Wiring, order: Uint32Array, deal: Deal, random: PhiloxSequence): Wiring {
  const { neuronCount, connectionCount, rowStart, signs } = wiring;
  const sources = new Uint32Array(connectionCount);
  for (let i = 0; i < neuronCount; i++) sources.fill(i, rowStart[i], rowStart[i + 1]);
  const deckOf = (k: number): number =>
    deal.ofSources[order[sources[k]!]!]! + deal.ofTargets[order[wiring.targets[k]!]!]!;
  const decks = Array.from({ length: deal.deckCount }, (): number[] => []);
  for (let k = 0; k < connectionCount; k++) decks[deckOf(k)]?.push(k);

  /** The connection whose target, or synapses, this one has got. */
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
    for (let tries = 0; tries < MAXIMUM_TRIES; tries++)
      if (exchangeIfBothFit(k, drawnFrom(deck))) return true;
    return false;
  };
  const startAgain = (deck: readonly number[]): void => {
    for (const k of deck) from[k] = k;
    for (let n = 0; n < EXCHANGES_PER_CONNECTION * deck.length; n++)
      exchangeIfBothFit(drawnFrom(deck), drawnFrom(deck));
  };
  const isDone = new Set<readonly number[]>();
  /** 1 + the last neuron that was seen to reach this one. */
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

/** The factor for each sum of the bytes of a block. */
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
      synapseCounts[k] = Math.max(1, Math.min(MAXIMUM_SYNAPSES_PER_CONNECTION, synapses));
    }
  }
  return { ...wiring, synapseCounts };
}
