/** The same neurons, connected by chance: the control of every study that says something of the wiring. */
import type { Wiring } from '../connectome/connectome.js';
import { sortRows } from '../connectome/rows.js';
import { PHILOX_STREAM, PhiloxSequence } from '../stimulus/philox.js';

const SHUFFLE_SEED = 783;
/** So often another connection is drawn for one that does not fit: far more than a sparse wiring needs. */
const MAXIMUM_TRIES = 10_000;

/**
 * The property that a neuron keeps, beside its sign and its number of connections in both directions, when whom it
 * reaches is dealt out anew: the synapses that it gives, or those that it receives, excitatory and inhibitory ones apart.
 */
export const SHUFFLES = ['outputs', 'inputs'] as const;
export type Shuffle = (typeof SHUFFLES)[number];

/**
 * The same neurons, connected by chance. What is left of a response afterwards does not come from who is connected
 * to whom. It is a valid wiring: no neuron reaches itself, and none reaches another one twice.
 * @param deal 0 is one shuffle, 1 another
 */
export function shuffledWiring(wiring: Wiring, kept: Shuffle, deal: number): Wiring {
  const { neuronCount, connectionCount, rowStart, signs } = wiring;
  const random = new PhiloxSequence(SHUFFLE_SEED, deal, PHILOX_STREAM.shuffle);
  const sources = sourcesOf(wiring);
  /** The connection whose target this one has got. */
  const from = sources.map((_, k) => k);
  const exchange = (a: number, b: number): void => {
    const taken = from[a]!;
    from[a] = from[b]!;
    from[b] = taken;
  };
  const deckOf = (sign: number) => from.filter((k) => signs[sources[k]!] === sign);
  // Only connections of one deck exchange their targets.
  const decks = kept === 'outputs' ? [from.slice()] : [deckOf(1), deckOf(-1)];
  for (const deck of decks) {
    for (let at = deck.length - 1; at > 0; at--) exchange(deck[at]!, deck[random.nextBelow(at + 1)]!);
  }

  const targetOf = (k: number): number => wiring.targets[from[k]!]!;
  const reaches = (source: number, target: number): boolean => {
    for (let k = rowStart[source]!; k < rowStart[source + 1]!; k++) {
      if (targetOf(k) === target) return true;
    }
    return false;
  };
  const fits = (k: number, target: number): boolean => sources[k] !== target && !reaches(sources[k]!, target);
  for (const k of misfits(wiring, targetOf)) {
    const deck = decks[signs[sources[k]!]! > 0 ? 0 : decks.length - 1]!;
    let other: number;
    let tries = 0;
    do {
      if (tries++ === MAXIMUM_TRIES)
        throw new Error(`no connection can exchange its target with number ${k}`);
      other = deck[random.nextBelow(deck.length)]!;
    } while (!fits(k, targetOf(other)) || !fits(other, targetOf(k)));
    exchange(k, other);
  }
  const targets = from.map((_, k) => targetOf(k));
  const synapseCounts = wiring.synapseCounts.map((own, k) =>
    kept === 'outputs' ? own : wiring.synapseCounts[from[k]!]!,
  );
  sortRows(rowStart, targets, synapseCounts);
  return { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs };
}

function sourcesOf({ neuronCount, connectionCount, rowStart }: Wiring): Uint32Array {
  const sources = new Uint32Array(connectionCount);
  for (let i = 0; i < neuronCount; i++) sources.fill(i, rowStart[i], rowStart[i + 1]);
  return sources;
}

/** Connections of a neuron to itself, or to one that an earlier connection of its row reaches. */
function misfits({ neuronCount, rowStart }: Wiring, targetOf: (k: number) => number): number[] {
  const found: number[] = [];
  /** 1 + the last neuron that was seen to reach this one. */
  const reachedFrom = new Uint32Array(neuronCount);
  for (let source = 0; source < neuronCount; source++) {
    for (let k = rowStart[source]!; k < rowStart[source + 1]!; k++) {
      const target = targetOf(k);
      if (source === target || reachedFrom[target] === source + 1) found.push(k);
      reachedFrom[target] = source + 1;
    }
  }
  return found;
}
