/** The chances and random numbers that the Poisson trains of a protocol are made of. */
import { createHash } from 'node:crypto';
import { type IntervalTable, intervalTable } from './intervals.js';
import { PHILOX_STREAM } from './philox.js';
import {
  MAXIMUM_INTENSITY,
  MAXIMUM_RATE_HZ,
  MAXIMUM_TRIAL_STEPS,
  STEPS_PER_MS,
  type PoissonTrain,
  type V1Train,
} from './protocol.js';

const STEP_MS = 1 / STEPS_PER_MS;
const MS_PER_SECOND = 1000;

/** A Bernoulli train that is drawn and then thinned; a train is the union of some of these. */
export interface Layer {
  /** Before the thinning. */
  readonly intervals: IntervalTable;
  /** The share of events that stay, 0 to 1. */
  readonly share: number;
  /** The number of the first block of random numbers; the next blocks follow it. */
  readonly firstBlock: number;
}

/** Where the random numbers of one neuron come from: the words of Philox's counter behind the block, and its key. */
export interface Stream {
  readonly counter: readonly [number, number, number];
  readonly key: readonly [number, number];
}

/** The trains of one input. Each is the union of these layers, cut to the window. */
export interface LayeredTrain {
  readonly layers: readonly Layer[];
  readonly startStep: number;
  readonly endStep: number;
  /** @param index of the neuron in the list of the input  @param id its id, asked for where it is needed */
  streamOf(index: number, id: () => string): Stream;
}

/** Events are drawn at the rate of the highest intensity and thinned, so raising the intensity only adds events. */
export function v1Train({ nominalRateHz, intensity, seed }: Omit<V1Train, 'kind'>): LayeredTrain {
  const layer = {
    intervals: intervalTable(chanceInStep(nominalRateHz * MAXIMUM_INTENSITY)),
    share: intensity / MAXIMUM_INTENSITY,
    firstBlock: 0,
  };
  return {
    layers: intensity === 0 ? [] : [layer],
    startStep: 0,
    endStep: MAXIMUM_TRIAL_STEPS,
    streamOf: (index) => ({ counter: [0, 0, PHILOX_STREAM.stimulus], key: [seed, index] }),
  };
}

/**
 * The rates at which layers of a Poisson train end. The union of the first n layers has the n-th rate; a rate in
 * between has all layers below it and a share of the next one, so a higher rate only adds events, at a cost that
 * follows the rate.
 */
const LAYER_RATES_HZ = [31.25, 62.5, 125, 250, MAXIMUM_RATE_HZ] as const;
/** The number of a layer stands in the top three bits of the block's number. */
const LAYER_SHIFT = 29;
/** Set in the word of an input's name; no stream of PHILOX_STREAM has it. */
const NAME_BIT = 2 ** 31;

/**
 * A step has an event in layers up to R1 with the chance R1 dt; the next layer, up to R2, has
 * (R2 - R1) dt / (1 - R1 dt), so the union with it has exactly R2 dt.
 */
export function poissonTrain(train: Omit<PoissonTrain, 'kind'>): LayeredTrain {
  const { name, rateHz, seed, trial, startStep, endStep } = train;
  const word = nameWord(name);
  const layers = LAYER_RATES_HZ.map((to, layer) => {
    const from = LAYER_RATES_HZ[layer - 1] ?? 0;
    return {
      intervals: intervalTable(chanceInStep(to - from) / (1 - chanceInStep(from))),
      share: Math.min(1, (rateHz - from) / (to - from)),
      firstBlock: layer * 2 ** LAYER_SHIFT,
    };
  });
  return {
    layers: layers.filter(({ share }) => share > 0),
    startStep,
    endStep,
    streamOf: (_, id) => ({ counter: [...idWords(id()), word], key: [seed, trial] }),
  };
}

function chanceInStep(rateHz: number): number {
  return (rateHz * STEP_MS) / MS_PER_SECOND;
}

/** The first four bytes of the name's SHA-256, as a big-endian number, with the top bit set. */
function nameWord(name: string): number {
  return (createHash('sha256').update(name).digest().readUInt32BE() | NAME_BIT) >>> 0;
}

const ROOT_ID = /^(0|[1-9]\d{0,19})$/;
type IdWords = readonly [low: number, high: number];

/** A sweep draws trains for the same neurons in thousands of trials. More ids than a brain has are never needed. */
const knownWords = new Map<string, IdWords>();
const MAXIMUM_KNOWN_WORDS = 2 ** 18;

/**
 * The low and the high word of 64 bits that stand for a neuron: of its root id, which is a number; where the brain
 * was sampled and a neuron has a name instead, of the first eight bytes of the name's SHA-256, big-endian.
 */
function idWords(id: string): IdWords {
  const known = knownWords.get(id);
  if (known !== undefined) return known;
  const bits = ROOT_ID.test(id) ? BigInt(id) : createHash('sha256').update(id).digest().readBigUInt64BE();
  const words: IdWords = [Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn)];
  if (knownWords.size === MAXIMUM_KNOWN_WORDS) knownWords.clear();
  knownWords.set(id, words);
  return words;
}
