/** What the Poisson trains of a protocol are made of: which chances, which random numbers. */
import { createHash } from 'node:crypto';
import { intervalTable } from './intervals.js';
import { PHILOX_STREAM } from './philox.js';
import { STEPS_PER_MS, type PoissonTrain, type V1Train } from './protocol.js';
import type { ThinnedTrain } from './thinned-train.js';

const STEP_MS = 1 / STEPS_PER_MS;
const MS_PER_SECOND = 1000;

export const MAXIMUM_INTENSITY = 2;

/**
 * Events are drawn at the rate of the highest intensity and thinned, so raising the intensity only adds events.
 * @param place of the neuron in the list of the input
 */
export function v1Train({ nominalRateHz, intensity, seed }: V1Train, place: number): ThinnedTrain {
  return {
    intervals: intervalTable(chanceInStep(nominalRateHz * MAXIMUM_INTENSITY)),
    share: intensity / MAXIMUM_INTENSITY,
    firstBlock: 0,
    counter: [0, 0, PHILOX_STREAM.stimulus],
    key: [seed, place],
  };
}

/**
 * The rates at which layers of a Poisson train end. The union of the first n layers has the n-th rate; a rate in
 * between has all layers below it and a share of the next one, so a higher rate only adds events, at a cost that
 * follows the rate.
 */
const LAYER_RATES_HZ = [31.25, 62.5, 125, 250, 500] as const;
export const MAXIMUM_RATE_HZ = LAYER_RATES_HZ[4];
/** The number of a layer stands in the top three bits of the block's number. */
const LAYER_SHIFT = 29;
/** Set in the word of an input's name, which no stream of PHILOX_STREAM has. */
const NAME_BIT = 2 ** 31;

/**
 * The layers whose union is the train of a neuron. A step has an event in layers up to R1 with the chance R1 dt; a
 * layer from R1 to R2 has (R2 - R1) dt / (1 - R1 dt), so the union with it has exactly R2 dt.
 * @returns the layers for the id of a neuron; see idWords
 */
export function poissonLayers({
  name,
  rateHz,
  seed,
  trial,
}: Pick<PoissonTrain, 'name' | 'rateHz' | 'seed' | 'trial'>): (id: string) => ThinnedTrain[] {
  const word = nameWord(name);
  const key = [seed, trial] as const;
  const layers = LAYER_RATES_HZ.map((to, layer) => {
    const from = LAYER_RATES_HZ[layer - 1] ?? 0;
    return {
      intervals: intervalTable(chanceInStep(to - from) / (1 - chanceInStep(from))),
      share: Math.min(1, (rateHz - from) / (to - from)),
      firstBlock: layer * 2 ** LAYER_SHIFT,
    };
  }).filter(({ share }) => share > 0);
  return (id) => {
    const counter = [...idWords(id), word] as const;
    return layers.map((layer) => ({ ...layer, counter, key }));
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

/**
 * The low and the high word of 64 bits that stand for a neuron: of its root id, which is a number; where the brain
 * was sampled and a neuron has a name instead, of the first eight bytes of the name's SHA-256, big-endian.
 */
function idWords(id: string): readonly [low: number, high: number] {
  const bits = ROOT_ID.test(id) ? BigInt(id) : createHash('sha256').update(id).digest().readBigUInt64BE();
  return [Number(bits & 0xffffffffn), Number((bits >> 32n) & 0xffffffffn)];
}
