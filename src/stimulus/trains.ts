/** The chances and random numbers that the Poisson trains of a protocol are made of. */
import { createHash } from 'node:crypto';
import { type IntervalTable, intervalTable } from './intervals.js';
import { PHILOX_STREAM } from './philox.js';
import {
  MAXIMUM_BACKGROUND_RATE_HZ,
  MAXIMUM_INTENSITY,
  MAXIMUM_RATE_HZ,
  MAXIMUM_TRIAL_STEPS,
  STEPS_PER_MS,
  type BackgroundTrain,
  type PoissonTrain,
  type RateTable,
  type V1Train,
} from './protocol.js';

const STEP_MS = 1 / STEPS_PER_MS;
const MS_PER_SECOND = 1000;

/** A Bernoulli train that is drawn and then thinned; a train is the union of some of these. */
export interface Layer {
  /** Before the thinning. */
  readonly intervals: IntervalTable;
  /** The rates between which it lies: a train of a rate up to the first has nothing of it, from the second on all. */
  readonly fromHz: number;
  readonly toHz: number;
  /** The number of the first block of random numbers in the first epoch; the next blocks follow it. */
  readonly firstBlock: number;
}

/** Where the random numbers of one neuron come from: the words of Philox's counter behind the block, and its key. */
export interface Stream {
  readonly counter: readonly [number, number, number];
  readonly key: readonly [number, number];
}

/** The trains of one input. Each is the union of the layers below its rate, cut to the window. */
export interface LayeredTrain {
  readonly layers: readonly Layer[];
  /** Rates of the neurons; in a train of version 1 the intensity, which is 1 at the nominal rate. */
  readonly rateHz: number | RateTable;
  readonly startStep: number;
  readonly endStep: number;
  /** @param index of the neuron in the list of the input  @param idWords of the neuron, asked for where they are needed */
  streamOf(index: number, idWords: () => IdWords): Stream;
}

/** The share of events of a layer that stay at a rate, at most 1; none stay where it is not above 0. */
export function shareOf({ fromHz, toHz }: Layer, rateHz: number): number {
  return Math.min(1, (rateHz - fromHz) / (toHz - fromHz));
}

/**
 * A train begins anew in each epoch, with random numbers of its own. This changes nothing in its distribution, since
 * intervals have no memory, and the events of any minute are found without those before it. The first epoch is as
 * long as the longest trial that is simulated whole, 5 s.
 */
export interface Epoch {
  readonly number: number;
  readonly startStep: number;
  readonly endStep: number;
}

const FIRST_EPOCH_STEPS = MAXIMUM_TRIAL_STEPS;
const EPOCH_STEPS = 10_000;
/** The number of an epoch stands in the block's number above that of the block in the epoch: no train has 2^15 blocks in one. */
const EPOCH_SHIFT = 15;

/** The epochs that some steps belong to; the last one ends with them. */
export function epochsIn(startStep: number, endStep: number): Epoch[] {
  const epochs: Epoch[] = [];
  let number = Math.max(0, Math.floor((startStep - FIRST_EPOCH_STEPS) / EPOCH_STEPS) + 1);
  for (let start = startStep; start < endStep; number++) {
    const end = FIRST_EPOCH_STEPS + number * EPOCH_STEPS;
    const origin = number === 0 ? 0 : end - EPOCH_STEPS;
    epochs.push({ number, startStep: origin, endStep: Math.min(end, endStep) });
    start = end;
  }
  return epochs;
}

/** The number of the first block of a layer in an epoch. */
export function firstBlockOf(layer: Layer, { number }: Epoch): number {
  return layer.firstBlock + number * 2 ** EPOCH_SHIFT;
}

/** Events are drawn at the rate of the highest intensity and thinned, so raising the intensity only adds events. */
export function v1Train({ nominalRateHz, intensity, seed }: Omit<V1Train, 'kind'>): LayeredTrain {
  const intervals = intervalTable(chanceInStep(nominalRateHz * MAXIMUM_INTENSITY));
  return {
    layers: [{ intervals, fromHz: 0, toHz: MAXIMUM_INTENSITY, firstBlock: 0 }],
    rateHz: intensity,
    startStep: 0,
    endStep: MAXIMUM_TRIAL_STEPS,
    streamOf: (index) => ({ counter: [0, 0, PHILOX_STREAM.stimulus], key: [seed, index] }),
  };
}

/**
 * The rates at which layers of a train end. The union of the first n layers has the n-th rate; a rate in between has all
 * layers below it and a share of the next one, so a higher rate only adds events, at a cost that follows the rate. Where
 * the rate changes during a trial, so does the share: no event moves.
 */
const POISSON_RATES_HZ = [31.25, 62.5, 125, 250, MAXIMUM_RATE_HZ];
const BACKGROUND_RATES_HZ = [0.5, 2, 8, MAXIMUM_BACKGROUND_RATE_HZ];
/** Layers of a Poisson train; one of background has no cursors. */
export const POISSON_LAYERS = POISSON_RATES_HZ.length;
/** The number of a layer stands in the top three bits of the block's number. */
const LAYER_SHIFT = 29;
/** Set in the word of an input's name; no stream of PHILOX_STREAM has it. */
const NAME_BIT = 2 ** 31;
/** Intervals of background are thousands of steps long. */
const BACKGROUND_GUIDE_BITS = 16;

const knownLayers = new Map<readonly number[], readonly Layer[]>();

/**
 * A step has an event in layers up to R1 with the chance R1 dt; the next layer, up to R2, has
 * (R2 - R1) dt / (1 - R1 dt), so the union with it has exactly R2 dt.
 */
function layersUpTo(ratesHz: readonly number[], guideBits?: number): readonly Layer[] {
  const layers =
    knownLayers.get(ratesHz) ??
    ratesHz.map((toHz, layer): Layer => {
      const fromHz = ratesHz[layer - 1] ?? 0;
      const chance = chanceInStep(toHz - fromHz) / (1 - chanceInStep(fromHz));
      return {
        intervals: intervalTable(chance, guideBits),
        fromHz,
        toHz,
        firstBlock: layer * 2 ** LAYER_SHIFT,
      };
    });
  knownLayers.set(ratesHz, layers);
  return layers;
}

export function poissonTrain({ name, seed, trial, ...train }: Omit<PoissonTrain, 'kind'>): LayeredTrain {
  const word = nameWord(name);
  return {
    ...train,
    layers: layersUpTo(POISSON_RATES_HZ),
    streamOf: (_, idWords) => {
      const [low, high] = idWords();
      return { counter: [low, high, word], key: [seed, trial] };
    },
  };
}

export function backgroundTrain({ seed, trial, ...train }: Omit<BackgroundTrain, 'kind'>): LayeredTrain {
  return {
    ...train,
    layers: layersUpTo(BACKGROUND_RATES_HZ, BACKGROUND_GUIDE_BITS),
    streamOf: (_, idWords) => ({ counter: [...idWords(), PHILOX_STREAM.background], key: [seed, trial] }),
  };
}

function chanceInStep(rateHz: number): number {
  return (rateHz * STEP_MS) / MS_PER_SECOND;
}

/** Words of names: steps of sessions are short, and hashing takes as long as many trains. */
const knownNames = new Map<string, number>();
const MAXIMUM_KNOWN_NAMES = 2 ** 10;

/** The first four bytes of the name's SHA-256, as a big-endian number, with the top bit set. */
function nameWord(name: string): number {
  let word = knownNames.get(name);
  if (word === undefined) {
    word = (createHash('sha256').update(name).digest().readUInt32BE() | NAME_BIT) >>> 0;
    if (knownNames.size === MAXIMUM_KNOWN_NAMES) knownNames.clear();
    knownNames.set(name, word);
  }
  return word;
}

const ROOT_ID = /^(0|[1-9]\d{0,19})$/;
export type IdWords = readonly [low: number, high: number];

/**
 * The low and the high word of 64 bits that stand for a neuron: of its root id, which is a number; where the brain
 * was sampled and a neuron has a name instead, of the first eight bytes of the name's SHA-256, big-endian.
 */
export function idWordsOf(id: string): IdWords {
  const bits = ROOT_ID.test(id) ? BigInt(id) : createHash('sha256').update(id).digest().readBigUInt64BE();
  return [Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn)];
}
