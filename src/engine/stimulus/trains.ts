/**
 * How input events are drawn. This file defines the random trains; input-events.ts draws them.
 *
 * **Train**: the events that one neuron gets from one input, at most one a step of 0.1 ms. A neuron may get several
 * trains. Five requirements shape how a train is drawn:
 * - A higher rate only adds events, so two conditions of a sweep differ as little as possible. Hence layers.
 * - The rate may change during a trial, and no other event moves. Hence shares.
 * - The cost follows the number of events, and not the number of steps. So the intervals between events are drawn.
 * - The events of minute nine are found without drawing the eight minutes before. Hence epochs.
 * - The order of drawing changes nothing. So random numbers come from a counter (philox.ts).
 *
 *   time     0                                           5 s                 6 s
 *   epoch    |-------------------- 0 --------------------|-------- 1 --------|----- 2 ----- …
 *   course   |----------- 80 Hz ------------|------------------- 40 Hz -------------------- …
 *
 *   layer 2    o   x    o     o     x    o     o     o      o    o     o    o      o        28 %, then none
 *   layer 1  x        x     x     x     x        o     x      o     o     x     o     o     all, then 28 %
 *   layer 0      x   x    x     x     x     x      x      x     x     x       x      x   x  all stay
 *   train    x   x x xx   x x   x x x x x   x      x   x  x     x     x   x   x      x   x
 *
 *   segment  |------ 1 ------|------ 2 ------|------ 3 ------|------ 4 ------|----- 5 ----- …
 *   cursor                   ^               ^               ^               ^
 *
 * **Layer**: a random train of a fixed rate, which covers a range of rates. An event of a layer stays (x) or is removed
 * (o): each has a random number, and it stays if that is below the layer's share. The share is 0 if the train's rate is
 * below the range, 1 above it, and linear in between. The train is the union of all events that stay. The layers of the
 * drawing cover 0 to 31.25 Hz, 31.25 to 62.5 Hz and 62.5 to 125 Hz, so at 80 Hz the share of layer 2 is 28 %.
 *
 * **Course**: the rate of a neuron as a step function of time. It changes only the shares, so no event moves.
 *
 * **Epoch**: a stretch of time at whose start each layer begins again, with other random numbers. Epoch 0 lasts 5 s,
 * each later one 1 s. The distribution stays the same, because the intervals have no memory.
 *
 * **Block**: four random words of Philox, which give two events of a layer: for each an interval and its random number.
 *
 * **Cursor**: a long trial or a session is simulated in segments. With a cursor, a segment continues a layer without
 * drawing the epoch from its start: {epoch, last block drawn, step before that block}. The next segment draws that block
 * again, because it may have events in both segments. A lost cursor costs time and changes no event.
 */
import { sha256 } from '#platform';
import { getOrInsert } from '../get-or-insert.js';
import { type IntervalTable, intervalTable } from './intervals.js';
import { PHILOX_STREAM } from './philox.js';
import {
  MS_PER_SECOND,
  MAX_BACKGROUND_RATE_HZ,
  MAX_INTENSITY,
  MAX_RATE_HZ,
  MAX_WHOLE_TRIAL_STEPS,
  STEPS_PER_MS,
  type BackgroundTrain,
  type GivenTrain,
  type PoissonTrain,
  type RateTable,
  type Train,
} from './protocol.js';

const STEP_MS = 1 / STEPS_PER_MS;

/** A Bernoulli train that is drawn and then thinned. A train is a union of layers. */
export interface Layer {
  /** The intervals between its events before thinning. */
  readonly intervals: IntervalTable;
  /** The range of rates it covers. At fromHz and below none of its events stay, at toHz and above all of them. */
  readonly fromHz: number;
  readonly toHz: number;
  /** The number of its first block in epoch 0; the next blocks follow. */
  readonly firstBlock: number;
}

/** The source of a train's random numbers: words 1 to 3 of Philox's counter (word 0 is the block), and the key. */
export interface Stream {
  readonly counter: readonly [number, number, number];
  readonly key: readonly [number, number];
}

/** The trains of one input, limited to the steps from startStep to endStep - 1. */
export interface LayeredTrain {
  readonly layers: readonly Layer[];
  /** The neurons' rates. A train of version 1 has its intensity here, and its layer covers intensities. */
  readonly rateHz: number | RateTable;
  readonly startStep: number;
  readonly endStep: number;
  /**
   * @param index the neuron's position in the input
   * @param idWords computes the neuron's words, called only if they are needed
   */
  streamOf(index: number, idWords: () => IdWords): Stream;
}

/** The share of a layer's events that stay at a rate, at most 1. It may be negative: none stay then. */
export function shareOf({ fromHz, toHz }: Layer, rateHz: number): number {
  return Math.min(1, (rateHz - fromHz) / (toHz - fromHz));
}

/**
 * A stretch of a trial in which trains are drawn from its start. Epoch 0 is as long as the longest trial that is
 * simulated whole, so such a trial needs only one epoch.
 */
export interface Epoch {
  readonly number: number;
  readonly startStep: number;
  readonly endStep: number;
}

const FIRST_EPOCH_STEPS = MAX_WHOLE_TRIAL_STEPS;
const EPOCH_STEPS = 10_000;
/** The low 15 bits of a block number count blocks within an epoch, as no layer needs 2^15; the next bits are the epoch. */
const EPOCH_SHIFT = 15;

/** @returns the epochs that the steps from startStep to endStep - 1 belong to; the last one ends at endStep */
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

/**
 * The rates at which the layers end: the union of the first n layers has the n-th rate. Several layers keep the cost
 * proportional to the rate, because a train draws only the layers that begin below its rate.
 */
export const POISSON_RATES_HZ = [31.25, 62.5, 125, 250, MAX_RATE_HZ];
const BACKGROUND_RATES_HZ = [0.5, 2, 8, MAX_BACKGROUND_RATE_HZ];
/** Cursors need this. A background train has no cursors. */
export const POISSON_LAYERS = POISSON_RATES_HZ.length;
/** The top three bits of a block's number are the layer. */
const LAYER_SHIFT = 29;
/** Set in the word of an input's name, so the word differs from every number in PHILOX_STREAM. */
const NAME_BIT = 2 ** 31;
/** Intervals of background trains are thousands of steps long, so their tables need a longer guide. */
const BACKGROUND_GUIDE_BITS = 16;

const knownLayers = new Map<readonly number[], readonly Layer[]>();

/**
 * In one step of length dt, the layers up to R1 have an event with probability R1 dt. The next layer, up to R2, has
 * probability (R2 - R1) dt / (1 - R1 dt), so the union of all has exactly R2 dt.
 */
function layersUpTo(ratesHz: readonly number[], guideBits?: number): readonly Layer[] {
  return getOrInsert(knownLayers, ratesHz, () =>
    ratesHz.map((toHz, layer): Layer => {
      const fromHz = ratesHz[layer - 1] ?? 0;
      const chance = chanceInStep(toHz - fromHz) / (1 - chanceInStep(fromHz));
      const intervals = intervalTable(chance, guideBits);
      return { intervals, fromHz, toHz, firstBlock: layer * 2 ** LAYER_SHIFT };
    }),
  );
}

export function layeredTrain(train: Exclude<Train, GivenTrain>): LayeredTrain {
  switch (train.kind) {
    case 'v1': {
      // The only layer has the rate of the highest intensity; so a higher intensity only adds events.
      const intervals = intervalTable(chanceInStep(train.nominalRateHz * MAX_INTENSITY));
      return {
        layers: [{ intervals, fromHz: 0, toHz: MAX_INTENSITY, firstBlock: 0 }],
        rateHz: train.intensity,
        startStep: 0,
        endStep: MAX_WHOLE_TRIAL_STEPS,
        streamOf: (index) => ({ counter: [0, 0, PHILOX_STREAM.stimulus], key: [train.seed, index] }),
      };
    }
    case 'poisson':
      return seededTrain(train, layersUpTo(POISSON_RATES_HZ), nameWord(train.name));
    case 'background':
      return seededTrain(
        train,
        layersUpTo(BACKGROUND_RATES_HZ, BACKGROUND_GUIDE_BITS),
        PHILOX_STREAM.background,
      );
  }
}

/** @param word distinguishes the random numbers of inputs */
function seededTrain(
  { rateHz, startStep, endStep, seed, trial }: PoissonTrain | BackgroundTrain,
  layers: readonly Layer[],
  word: number,
): LayeredTrain {
  const key = [seed, trial] as const;
  const streamOf: LayeredTrain['streamOf'] = (_, idWords) => {
    const [low, high] = idWords();
    return { counter: [low, high, word], key };
  };
  return { layers, rateHz, startStep, endStep, streamOf };
}

function chanceInStep(rateHz: number): number {
  return (rateHz * STEP_MS) / MS_PER_SECOND;
}

/** A cache: hashing a name takes as long as drawing many trains, and the steps of a session are short. */
const knownNames = new Map<string, number>();
const MAX_KNOWN_NAMES = 2 ** 10;

/** @returns the first four bytes of the name's SHA-256, as a big-endian number, with the top bit set */
function nameWord(name: string): number {
  let word = knownNames.get(name);
  if (word === undefined) {
    word = (viewOf(sha256(name)).getUint32(0) | NAME_BIT) >>> 0;
    if (knownNames.size === MAX_KNOWN_NAMES) knownNames.clear();
    knownNames.set(name, word);
  }
  return word;
}

const ROOT_ID = /^(0|[1-9]\d{0,19})$/;
export type IdWords = readonly [low: number, high: number];

/**
 * The 64 bits that identify a neuron, as two words. They are its root id, if the id is a number. Neurons of sampled
 * brains have names instead: then they are the first eight bytes of the name's SHA-256, big-endian.
 */
export function idWordsOf(id: string): IdWords {
  const bits = ROOT_ID.test(id) ? BigInt(id) : viewOf(sha256(id)).getBigUint64(0);
  return [Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn)];
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
