/**
 * The numbers of the GPU engine. They are integers, because float32 arithmetic is the same on every GPU only if every
 * intermediate result is an integer below 2^24.
 *
 * State: u = v + g/3 and h = g/3 relative to rest. So u decays with the time constant of the membrane, h with that of
 * the synapse, and v = u - h. Each decays by one constant factor a step, without a table.
 *
 * Unit: one synapse adds 0.275/3 mV to u and to h; the unit is this divided by 2^32. So w synapses add exactly w * 2^32
 * to both, and an input event adds exactly 750 * 2^32 to u.
 *
 * Limbs: a value is x0 + x1 * 4096 + x2 * 4096^2 + x3 * 4096^3 with x0, x1, x2 in -2048..2047 and x3 in
 * -2047..2047, two limbs to a float32.
 *
 * One step of decay: x' = x + floor((ROUNDING - x * D) / 2^48), with D = round((1 - decay) * 2^48) and
 * ROUNDING = 0x800800800800.
 *
 * One window of decay, used if little input arrives: the same with D of 18 steps. If w synapses arrive k steps before
 * the end of the window, they add w * 2^36 * round(decay^k * 2^44) inside the floor.
 *
 * If a neuron may spike in a window, it is stepped through to find its spikes. These two formulas are the whole
 * arithmetic. docs/gpu.md derives the error of v from them, and test/oracle/integer-simulation.ts has them in BigInt.
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
export const MAX_TOP_LIMB = 2047;
/** Four limbs, the lowest first. */
export type Limbs = readonly [number, number, number, number];

/** The units that one synapse adds to u and to h. */
export const UNITS_PER_SYNAPSE = 1n << 32n;
export const UNIT_MV = (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE) / 2 ** 32;
/** The number of synapses that add as much to u as one input event. */
export const INPUT_EVENT_SYNAPSES = Math.round(INPUT_EVENT_MV / (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE));

/** Whole microvolts are exact; 0.275 mV is not a double. */
const MICROVOLTS_PER_MV = 1000;
const microvolts = (mv: number) => BigInt(Math.round(mv * MICROVOLTS_PER_MV));
const SYNAPSES_PER_MEMBRANE_SYNAPSE = BigInt(Math.round(1 / SYNAPSE_TO_MEMBRANE));

/** A neuron spikes if u - h is above this, the largest integer not above the real threshold. */
export const THRESHOLD_UNITS =
  (microvolts(THRESHOLD_ABOVE_REST_MV) * SYNAPSES_PER_MEMBRANE_SYNAPSE * UNITS_PER_SYNAPSE) /
  microvolts(SYNAPSE_MV);

const LOSS_BITS = 48n;

/** The precision of the decays while they are computed, far finer than the 2^-48 of the result. */
const SERIES_BITS = 300n;
const ONE = 1n << SERIES_BITS;

/** @returns exp(-steps / n) * 2^300 by its series, every term rounded towards zero */
function exponentialOfMinus(steps: bigint, n: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let k = 1n; term !== 0n; k++) {
    term = (-term * steps) / (n * k);
    sum += term;
  }
  return sum;
}

/** @returns x / 2^bits, rounded to the nearest integer */
const shifted = (x: bigint, bits: bigint) => (x + (1n << (bits - 1n))) >> bits;

/**
 * A window is as long as the delay of all connections. So spikes of one window arrive in the next, and within a window
 * no neuron depends on another.
 */
export const WINDOW_STEPS = DELAY_STEPS;

/** The precision of the decays of arriving input: coarse enough to need only the four highest columns. */
const ARRIVAL_BITS = 44n;

/** The decay of a variable over a step and over a window. */
export interface WindowDecay {
  /** round((1 - decay) * 2^48) of a step and of a window. */
  readonly stepLoss: bigint;
  readonly windowLoss: bigint;
  /**
   * round(decay^k * 2^44) for input that arrives in each step of the window: k is 17 for the first step, 0 for the
   * last.
   */
  readonly arrivalUnits: readonly bigint[];
}

function windowDecayOf(tauMs: number): WindowDecay {
  const stepsPerTau = BigInt(Math.round(tauMs / NETWORK.stepMs.value));
  const decayOver = (steps: number) => exponentialOfMinus(BigInt(steps), stepsPerTau);
  const lossOver = (steps: number) => shifted(ONE - decayOver(steps), SERIES_BITS - LOSS_BITS);
  return {
    stepLoss: lossOver(1),
    windowLoss: lossOver(WINDOW_STEPS),
    arrivalUnits: Array.from({ length: WINDOW_STEPS }, (_, step) =>
      shifted(decayOver(WINDOW_STEPS - 1 - step), SERIES_BITS - ARRIVAL_BITS),
    ),
  };
}

export const MEMBRANE = windowDecayOf(NETWORK.tauMembraneMs.value);
export const SYNAPSE = windowDecayOf(NETWORK.tauSynapseMs.value);

/** @returns the limbs of x. The top limb is the rest and may be out of range */
export function toLimbs(x: bigint): Limbs {
  const base = BigInt(LIMB_BASE);
  const half = base / 2n;
  const limbs: number[] = [];
  let rest = x;
  for (let i = 0; i < 3; i++) {
    // An arithmetic shift rounds down, so the remainder is also right for negative numbers.
    const carry = (rest + half) >> 12n;
    limbs.push(Number(rest - carry * base));
    rest = carry;
  }
  return [limbs[0]!, limbs[1]!, limbs[2]!, Number(rest)];
}

/**
 * A window is light for a neuron if all of this holds: it gets no input event and at most LIGHT_SYNAPSES synapses, and
 * its high floats are below LIGHT_FLOAT_BELOW. Then the state at the end is computed in one formula: every sum of a
 * product is exact, and the rounding error is less than that of 18 steps. Other windows are stepped through.
 */
export const LIGHT_SYNAPSES = 2048;
export const LIGHT_FLOAT_BELOW = 2 ** 17;

/**
 * An upper bound of v in a light window, in 16ths of 2^24 units. If it is below QUIET_BELOW, the neuron can neither
 * spike nor come close to the threshold, so nothing has to be stepped through. Every number in it is an integer below
 * 2^24.
 *
 * The bound holds in all steps of the window:
 * - u contributes at most itself.
 * - A positive h subtracts at least its share after 18 steps, 0.698 > 11/16. A negative h adds at most itself.
 * - Exciting input that arrived n < 18 steps before contributes a share decay_u^n - decay_h^n, at most 0.207 < 1/4.
 *   Inhibiting input contributes nothing above 0.
 * - Input that arrives while the neuron is refractory only makes the bound larger.
 * @param uHigh the high float of u; its size is below LIGHT_FLOAT_BELOW
 * @param hHigh the high float of h; its size is below LIGHT_FLOAT_BELOW
 * @param exciting the sum of the positive synapses that arrive
 */
export function potentialBound(uHigh: number, hHigh: number, exciting: number): number {
  return 16 * Math.max(0, uHigh) + 16 * Math.max(0, 0 - hHigh) - 11 * Math.max(0, hHigh) + 1024 * exciting;
}
/** The slack of 64 exceeds the sum of the low floats, all rounding errors and the margin. */
export const QUIET_BELOW = Number(THRESHOLD_UNITS >> 20n) - 64;

/**
 * If v comes this close to the threshold, the trial is computed again on the CPU. The margin is the sum of two error
 * bounds: 164.5 units or 3.51e-9 mV for the integers (docs/gpu.md), and the rest, 6.49e-9 mV, for doubles.
 *
 * Integers. Additions are exact.
 * - A step rounds by at most ROUNDING / 2^48 < 0.50013 units. For the largest value, the rounded D adds
 *   2048 * 4096^3 * |D - (1 - d) 2^48| / 2^48: 0.171 units for u, 0.072 for h. So 18 steps add up to 11.5 for u and 8.7
 *   for h.
 * - The formula for a window rounds once, by less than 1.01 units: 0.5002, 0.25 for D of 18 steps, and 0.25 for the
 *   decays of at most 2,048 synapses.
 * - If no step is taken, v is far below the threshold (QUIET_BELOW). A spike sets both to 0.
 *
 * Doubles. Let e = 2^-53, and U the largest |u| + |h| of the neuron, below 6,006 mV.
 * - The reference engine adds the input of a step once, as an integer. A step has at most 12 roundings of relative
 *   size e, which decay like the value. Those of the past 200 steps add up to 12 * 201 * e * 1.5 U = 2.4e-9 mV.
 * - The WebAssembly kernel adds each active connection separately, in coordinates that grow by factors made by n
 *   divisions. So input that arrived n steps ago has a relative error of (2n + 10) e. If R synapses arrive in each
 *   step, this adds up to 8.3e-13 R mV. The heaviest neuron of the release has 66,233 synapses, and its partners are
 *   refractory for 22 steps, so R is at most 3,011 and the error 2.5e-9 mV.
 * - Each of these additions rounds by at most e U. If K connections are active within 20 ms, this is K e U, which fits
 *   if K U is below 3.6e7 mV. The neuron with the most partners has 2,799; at their highest rate K is 27,000.
 *
 * No trial checks this. The figures are for pairs with 5 or more synapses. A wiring with all pairs has more partners;
 * for it only spikes were compared.
 */
export const MARGIN_MV = 1e-8;
export const MARGIN_UNITS = Math.ceil(MARGIN_MV / UNIT_MV);
