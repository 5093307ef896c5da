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
 * One step of decay: x' = x + floor((ROUNDING - x * D) / 2^48) with D = round((1 - decay) * 2^48). This line is
 * the whole arithmetic; docs/gpu.md derives from it how far v can be from the real number it stands for.
 */
import {
  INPUT_EVENT_MV,
  NETWORK,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
  THRESHOLD_ABOVE_REST_MV,
} from '../../network.js';

export const LIMB_BASE = 4096;
export const LARGEST_TOP_LIMB = 2047;
/** Four limbs, the lowest first. */
export type Limbs = readonly [number, number, number, number];

/** Units added to u and h by one synapse. */
export const UNITS_PER_SYNAPSE = 1n << 32n;
export const UNIT_MV = (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE) / 2 ** 32;
/** An input event in synapses: what it adds to u over what a synapse adds to u. */
export const INPUT_EVENT_SYNAPSES = Math.round(INPUT_EVENT_MV / (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE));

/** mV as an exact fraction of a microvolt, since 0.275 is not a double. */
const MICROVOLTS_PER_MV = 1000;
const microvolts = (mv: number) => BigInt(Math.round(mv * MICROVOLTS_PER_MV));
const SYNAPSES_PER_MEMBRANE_SYNAPSE = BigInt(Math.round(1 / SYNAPSE_TO_MEMBRANE));

/** A neuron spikes when u - h is above this; the largest integer not above the real threshold. */
export const THRESHOLD_UNITS =
  (microvolts(THRESHOLD_ABOVE_REST_MV) * SYNAPSES_PER_MEMBRANE_SYNAPSE * UNITS_PER_SYNAPSE) /
  microvolts(SYNAPSE_MV);

const DECAY_BITS = 48n;
/** Rounds x * D / 2^48 to the nearest integer but for 1.2e-4, the way carries of balanced limbs do. */
const ROUNDING = 0x800800800800n;

/** Fractions of one in which the decays are computed, far finer than the 2^-48 that is kept of them. */
const SERIES_BITS = 300n;
const ONE = 1n << SERIES_BITS;

/** exp(-1 / n) * 2^300 by its series, every term rounded towards zero. */
function exponentialOfMinusOneOver(n: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let k = 1n; term !== 0n; k++) {
    term = -term / (n * k);
    sum += term;
  }
  return sum;
}

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

function decayOf(tauMs: number): Decay {
  const stepsPerTau = BigInt(Math.round(tauMs / NETWORK.stepMs.value));
  const loss = ONE - exponentialOfMinusOneOver(stepsPerTau);
  const shift = SERIES_BITS - DECAY_BITS;
  const lossUnits = (loss + (1n << (shift - 1n))) >> shift;
  const difference = loss - (lossUnits << shift);
  return {
    lossUnits,
    lossLimbs: toLimbs(lossUnits),
    loss: Number(loss >> (SERIES_BITS - 60n)) / 2 ** 60,
    lossError: Math.abs(Number(difference >> (shift - 60n)) / 2 ** 60),
  };
}

export const MEMBRANE = decayOf(NETWORK.tauMembraneMs.value);
export const SYNAPSE = decayOf(NETWORK.tauSynapseMs.value);

/** One step of decay, exactly as the kernels compute it. */
export function decayed(x: bigint, decay: Decay): bigint {
  return x + ((ROUNDING - x * decay.lossUnits) >> DECAY_BITS);
}

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

export function fromLimbs([x0, x1, x2, x3]: Limbs): bigint {
  return BigInt(x0) + (BigInt(x1) << 12n) + (BigInt(x2) << 24n) + (BigInt(x3) << 36n);
}

/** The two float32 a value is stored in: x3 * 4096 + x2, and x1 * 4096 + x0. */
export function toFloats(x: bigint): readonly [high: number, low: number] {
  const [x0, x1, x2, x3] = toLimbs(x);
  return [x3 * LIMB_BASE + x2, x1 * LIMB_BASE + x0];
}

/**
 * How far the computed v can be from the real number, in units, after any number of steps and events, as long
 * as nothing was clamped: what a step adds is at most the rounding and what the rounded D makes of the largest
 * value; a geometric series sums it up, as old errors decay too; and the threshold is rounded as well.
 */
export const ERROR_BOUND_UNITS = accumulatedError(MEMBRANE) + accumulatedError(SYNAPSE) + 1;

function accumulatedError(decay: Decay): number {
  const largest = (LARGEST_TOP_LIMB + 1) * LIMB_BASE ** 3;
  const rounding = Number(ROUNDING) / 2 ** 48;
  return (rounding + (largest * decay.lossError) / 2 ** 48) / decay.loss;
}

/** A run in which v comes this close to the threshold is computed again by the reference arithmetic. */
export const MARGIN_MV = 1e-8;
export const MARGIN_UNITS = Math.ceil(MARGIN_MV / UNIT_MV);
