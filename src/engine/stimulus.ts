import { MAXIMUM_STEPS, NETWORK } from './network.js';
import { PHILOX_STREAM, philox4x32 } from './philox.js';
import type { KickTrain } from './simulation.js';

/** Events are drawn at the rate of this intensity and thinned to that of the run. */
export const MAXIMUM_INTENSITY = 2;

const WORD_RANGE = 2 ** 32;
/** Stands for "no further event within the longest run". */
const NEVER = MAXIMUM_STEPS + 1;

/**
 * Draws the Poisson trains of a stimulus, one for each neuron.
 *
 * Events are drawn at the rate of the highest intensity as intervals between them, so the cost grows with the
 * number of events; each event then stays if its own uniform number is below intensity / 2. Raising the
 * intensity therefore only adds events, and a longer run begins with the shorter one. A neuron's train is a
 * function of the seed and of its place in `neurons`, of nothing else.
 *
 * @param neurons the population in ascending order of the ids of its neurons
 * @param nominalRateHz mean events per neuron and second at intensity 1
 * @param intensity 0 to 2
 * @param seed 0 to 2^32 - 1
 * @param durationSteps steps of 0.1 ms, at most 2000
 */
export function drawKicks(
  neurons: Uint32Array,
  nominalRateHz: number,
  intensity: number,
  seed: number,
  durationSteps: number,
): KickTrain {
  if (intensity === 0 || neurons.length === 0) {
    return { stimulated: neurons, steps: new Uint16Array(0), neurons: new Uint32Array(0) };
  }
  const intervals = intervalTable(nominalRateHz);
  const keepBelow = (intensity / MAXIMUM_INTENSITY) * WORD_RANGE;
  const eventSteps: number[] = [];
  const eventNeurons: number[] = [];
  const words = new Uint32Array(4);
  for (let place = 0; place < neurons.length; place++) {
    let step = -1;
    for (let block = 0; step < durationSteps; block++) {
      philox4x32(words, block, 0, 0, PHILOX_STREAM.stimulus, seed, place);
      for (let half = 0; half < 4; half += 2) {
        step += intervalOf(words[half]!, intervals);
        if (step < durationSteps && words[half + 1]! < keepBelow) {
          eventSteps.push(step);
          eventNeurons.push(neurons[place]!);
        }
      }
    }
  }
  return { stimulated: neurons, ...ordered(eventSteps, eventNeurons, durationSteps) };
}

/** Events by step, then by neuron: dealt out to their steps first, which leaves only short lists to sort. */
function ordered(
  eventSteps: readonly number[],
  eventNeurons: readonly number[],
  durationSteps: number,
): Pick<KickTrain, 'steps' | 'neurons'> {
  const ends = new Uint32Array(durationSteps + 1);
  for (const step of eventSteps) ends[step + 1]!++;
  for (let step = 0; step < durationSteps; step++) ends[step + 1]! += ends[step]!;
  const steps = new Uint16Array(eventSteps.length);
  const neurons = new Uint32Array(eventSteps.length);
  const starts = ends.slice();
  eventSteps.forEach((step, event) => {
    const neuron = eventNeurons[event]!;
    let at = ends[step]!++;
    steps[at] = step;
    for (; at > starts[step]! && neurons[at - 1]! > neuron; at--) neurons[at] = neurons[at - 1]!;
    neurons[at] = neuron;
  });
  return { steps, neurons };
}

interface IntervalTable {
  /** cumulative[k - 1] / 2^32 is the chance that the next event comes within k steps. */
  readonly cumulative: Float64Array;
  /** guide[b]: the smallest interval that a word beginning with byte b can mean, less one. */
  readonly guide: Uint16Array;
}

const tables = new Map<number, IntervalTable>();

/** The geometric distribution of intervals between events at the rate of the highest intensity. */
function intervalTable(nominalRateHz: number): IntervalTable {
  const known = tables.get(nominalRateHz);
  if (known) return known;
  const chanceInStep = (nominalRateHz * MAXIMUM_INTENSITY * NETWORK.stepMs.value) / 1000;
  const cumulative = new Float64Array(MAXIMUM_STEPS);
  let chanceOfNone = 1;
  for (let k = 0; k < MAXIMUM_STEPS; k++) {
    chanceOfNone *= 1 - chanceInStep;
    cumulative[k] = (1 - chanceOfNone) * WORD_RANGE;
  }
  const guide = new Uint16Array(256);
  for (let byte = 0, k = 0; byte < 256; byte++) {
    while (k < MAXIMUM_STEPS && cumulative[k]! <= byte * 2 ** 24) k++;
    guide[byte] = k;
  }
  const table = { cumulative, guide };
  tables.set(nominalRateHz, table);
  return table;
}

function intervalOf(word: number, { cumulative, guide }: IntervalTable): number {
  let k = guide[word >>> 24]!;
  while (k < MAXIMUM_STEPS && cumulative[k]! <= word) k++;
  return k === MAXIMUM_STEPS ? NEVER : k + 1;
}
