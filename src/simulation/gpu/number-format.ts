/**
 * The numbers of the GPU engine: integers, because float32 arithmetic is the same on every GPU only where every
 * intermediate result is an integer below 2^24.
 *
 * State: u = v + g/3 and h = g/3 relative to rest, so that u decays with the time constant of the membrane, h
 * with that of the synapse, and v = u - h. Each advances by one constant factor a step, without a table.
 *
 * Unit: what one synapse adds to u and to h, 0.275/3 mV, divided by 2^32. So w synapses add exactly w * 2^32
 * to both, and an input event adds exactly 750 * 2^32 to u.
 *
 * Limbs: a value is x0 + x1 * 4096 + x2 * 4096^2 + x3 * 4096^3 with x0, x1, x2 in -2048..2047 and x3 in
 * -2047..2047, two limbs to a float32.
 *
 * One step of decay: x' = x + floor((ROUNDING - x * D) / 2^48) with D = round((1 - decay) * 2^48). Spikes are found
 * step by step, where there may be any; the state after a window is then computed at once if little arrives: D is that
 * of 18 steps, and w synapses that arrive k steps before the end of the window add w * 2^36 * round(decay^k * 2^44)
 * inside the floor, with ROUNDING = 0x800800800800. These two lines are the whole arithmetic; docs/gpu.md derives from
 * them how far v can be from the real number it stands for, and test/support/integer-simulation.ts has them in BigInt.
 */
import {
  DELAY_STEPS,
  INPUT_EVENT_MV,
  NETWORK,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
  THRESHOLD_ABOVE_REST_MV,
} from '../network.js';

export const LIMB_BASE = 4096;
export const LARGEST_TOP_LIMB = 2047;
/** Four limbs, the lowest first. */
export type Limbs = readonly [number, number, number, number];

/** Units added to u and h by one synapse. */
export const UNITS_PER_SYNAPSE = 1n << 32n;
export const UNIT_MV = (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE) / 2 ** 32;
/** An input event in synapses: what it adds to u over what a synapse adds to u. */
export const INPUT_EVENT_SYNAPSES = Math.round(INPUT_EVENT_MV / (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE));

/** mV as a whole number of microvolts, since 0.275 is not a double. */
const MICROVOLTS_PER_MV = 1000;
const microvolts = (mv: number) => BigInt(Math.round(mv * MICROVOLTS_PER_MV));
const SYNAPSES_PER_MEMBRANE_SYNAPSE = BigInt(Math.round(1 / SYNAPSE_TO_MEMBRANE));

/** A neuron spikes when u - h is above this; the largest integer not above the real threshold. */
export const THRESHOLD_UNITS =
  (microvolts(THRESHOLD_ABOVE_REST_MV) * SYNAPSES_PER_MEMBRANE_SYNAPSE * UNITS_PER_SYNAPSE) /
  microvolts(SYNAPSE_MV);

const DECAY_BITS = 48n;

/** Fractions of one in which the decays are computed, far finer than the 2^-48 that is kept of them. */
const SERIES_BITS = 300n;
const ONE = 1n << SERIES_BITS;

/** exp(-steps / n) * 2^300 by its series, every term rounded towards zero. */
function exponentialOfMinus(steps: bigint, n: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let k = 1n; term !== 0n; k++) {
    term = (-term * steps) / (n * k);
    sum += term;
  }
  return sum;
}

/** x / 2^bits to the nearest integer. */
const shifted = (x: bigint, bits: bigint) => (x + (1n << (bits - 1n))) >> bits;

/**
 * Spikes emitted in a window arrive in the next one, so within a window no neuron depends on another. It is the delay of
 * all connections.
 */
export const WINDOW_STEPS = DELAY_STEPS;

/** Bits of the decays that arrivals are multiplied with: few enough to need the four highest columns only. */
const ARRIVAL_BITS = 44n;

/** A step of decay, or several at once. */
export interface Decay {
  /** round((1 - decay) * 2^48) */
  readonly lossUnits: bigint;
  /** The same as limbs, all of them balanced. */
  readonly lossLimbs: Limbs;
  /** 1 - decay, to the precision of a double. */
  readonly loss: number;
  /** |lossUnits / 2^48 - (1 - decay)| * 2^48, at most 0.5. */
  readonly lossError: number;
}

function decayOf(tauMs: number, steps: number): Decay {
  const stepsPerTau = BigInt(Math.round(tauMs / NETWORK.stepMs.value));
  const loss = ONE - exponentialOfMinus(BigInt(steps), stepsPerTau);
  const shift = SERIES_BITS - DECAY_BITS;
  const lossUnits = shifted(loss, shift);
  const difference = loss - (lossUnits << shift);
  return {
    lossUnits,
    lossLimbs: toLimbs(lossUnits),
    loss: Number(loss >> (SERIES_BITS - 60n)) / 2 ** 60,
    lossError: Math.abs(Number(difference >> (shift - 60n)) / 2 ** 60),
  };
}

/** How a variable decays within a window, and over a whole one. */
export interface WindowDecay {
  readonly step: Decay;
  readonly window: Decay;
  /** round(decay^k * 2^44) for what arrives in each step of the window: k is 17 for the first step, 0 for the last. */
  readonly arrivalUnits: readonly bigint[];
}

function windowDecayOf(tauMs: number): WindowDecay {
  const stepsPerTau = BigInt(Math.round(tauMs / NETWORK.stepMs.value));
  return {
    step: decayOf(tauMs, 1),
    window: decayOf(tauMs, WINDOW_STEPS),
    arrivalUnits: Array.from({ length: WINDOW_STEPS }, (_, step) =>
      shifted(exponentialOfMinus(BigInt(WINDOW_STEPS - 1 - step), stepsPerTau), SERIES_BITS - ARRIVAL_BITS),
    ),
  };
}

export const MEMBRANE = windowDecayOf(NETWORK.tauMembraneMs.value);
export const SYNAPSE = windowDecayOf(NETWORK.tauSynapseMs.value);

/** @returns the limbs of x; the top one takes whatever is left, in or out of range */
export function toLimbs(x: bigint): Limbs {
  const base = BigInt(LIMB_BASE);
  const half = base / 2n;
  const limbs: number[] = [];
  let rest = x;
  for (let i = 0; i < 3; i++) {
    // Arithmetic shifts floor, so the remainder is right for negative numbers as well.
    const carry = (rest + half) >> 12n;
    limbs.push(Number(rest - carry * base));
    rest = carry;
  }
  return [limbs[0]!, limbs[1]!, limbs[2]!, Number(rest)];
}

/**
 * A window is light for a cell that gets no input event in it, no more than so many synapses, and has no state above
 * the next number: then the state in the end is computed at once, every sum of a product is exact and the rounding is
 * less than that of 18 steps. Other windows are stepped through.
 */
export const LIGHT_SYNAPSES = 2048;
export const LIGHT_FLOAT_BELOW = 2 ** 17;

/**
 * A cell cannot spike in a light window, nor come close to the threshold, where this is below QUIET_BELOW. Then nothing
 * has to be stepped through. In 16ths of 2^24 units; every number in it is an integer below 2^24.
 *
 * Bound of v in the steps t = 1 to 18 of the window: u shrinks to its share of at most 1; h subtracts at least its share
 * after 18 steps, 0.698 > 11/16, or adds at most all of itself if it is negative; what arrives n < 18 steps before
 * contributes its share of decay_u^n - decay_h^n, at most 0.207 < 1/4, and nothing above 0 if it inhibits. What arrives
 * while the cell is refractory only makes the bound larger.
 * @param uHigh the high float of u, as those of h below LIGHT_FLOAT_BELOW in size
 * @param exciting the sum of positive synapses that arrive
 */
export function potentialBound(uHigh: number, hHigh: number, exciting: number): number {
  return 16 * Math.max(0, uHigh) + 16 * Math.max(0, 0 - hHigh) - 11 * Math.max(0, hHigh) + 1024 * exciting;
}
/** The slack of 64 is more than what the low floats and every rounding can add, and more than the margin. */
export const QUIET_BELOW = Number(THRESHOLD_UNITS >> 20n) - 64;

/** A run in which v comes this close to the threshold is computed again on the CPU. */
export const MARGIN_MV = 1e-8;
export const MARGIN_UNITS = Math.ceil(MARGIN_MV / UNIT_MV);
