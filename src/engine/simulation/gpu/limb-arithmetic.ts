/**
 * The functions that kernels call: the arithmetic of number-format.ts in float32. gpu.js reads their source. So they
 * use only their arguments and each other, and no coverage tool may instrument them. Every intermediate result is an
 * integer below 2^24 or a power of two, so neither fused multiply-add nor another order of a sum can change a bit.
 */
import { potentialBound } from './number-format.js';

/** @returns the excess of a limb over -2048..2047, in units of the next limb */
function carryOf(limb: number): number {
  return Math.floor((limb + 2048) * 0.000244140625);
}

function unpacked(high: number, low: number): number[] {
  const x3 = carryOf(high);
  const x1 = carryOf(low);
  return [low - x1 * 4096, x1, high - x3 * 4096, x3];
}

/**
 * x - x * D / 2^48 + a / 2^12. D has the limbs d0 to d3. a is the arriving input, as limbs of the four highest columns
 * of the product. The four lowest columns matter only by their carry.
 */
function decayedLimbs(
  x: number[],
  d0: number,
  d1: number,
  d2: number,
  d3: number,
  a0: number,
  a1: number,
  a2: number,
  a3: number,
): number[] {
  let carry = carryOf(0 - x[0]! * d0);
  carry = carryOf(carry - x[0]! * d1 - x[1]! * d0);
  carry = carryOf(carry - x[0]! * d2 - x[1]! * d1 - x[2]! * d0);
  carry = carryOf(carry - x[0]! * d3 - x[1]! * d2 - x[2]! * d1 - x[3]! * d0 + a0);
  const y0 = x[0]! + carry - x[1]! * d3 - x[2]! * d2 - x[3]! * d1 + a1;
  carry = carryOf(y0);
  const z0 = y0 - carry * 4096;
  const y1 = x[1]! + carry - x[2]! * d3 - x[3]! * d2 + a2;
  carry = carryOf(y1);
  const z1 = y1 - carry * 4096;
  const y2 = x[2]! + carry - x[3]! * d3 + a3;
  carry = carryOf(y2);
  return [z0, z1, y2 - carry * 4096, x[3]! + carry];
}

/** Adds synapses * 2^32, that is synapses * 256 in the third limb. The top limb may leave its range. */
function withSynapses(x: number[], synapses: number): number[] {
  const sixteens = Math.floor((synapses + 8) * 0.0625);
  const y2 = x[2]! + (synapses - sixteens * 16) * 256;
  const carry = carryOf(y2);
  return [x[0]!, x[1]!, y2 - carry * 4096, x[3]! + sixteens + carry];
}

/**
 * u - h - threshold if that is small; otherwise a number of the same sign and of size 1000 or more. A limb of the
 * difference is at most 6144, so a column that is clamped to 1000 keeps its sign through the next.
 */
function aboveThreshold(u: number[], h: number[], t0: number, t1: number, t2: number, t3: number): number {
  let above = u[3]! - h[3]! - t3;
  above = Math.max(-1000, Math.min(1000, above)) * 4096 + u[2]! - h[2]! - t2;
  above = Math.max(-1000, Math.min(1000, above)) * 4096 + u[1]! - h[1]! - t1;
  return Math.max(-1000, Math.min(1000, above)) * 4096 + u[0]! - h[0]! - t0;
}

/** Clamps the top limb to its range. The kernel flags a value that leaves it, as the certificate does not cover it. */
function inRange(x: number[], largest: number): number[] {
  return [x[0]!, x[1]!, x[2]!, Math.max(0 - largest, Math.min(largest, x[3]!))];
}

/** Adds synapses to one of four sums. The step counts from the first of them; other steps change nothing. */
function withArrival(sums: number[], step: number, synapses: number): number[] {
  return [
    sums[0]! + (step === 0 ? synapses : 0),
    sums[1]! + (step === 1 ? synapses : 0),
    sums[2]! + (step === 2 ? synapses : 0),
    sums[3]! + (step === 3 ? synapses : 0),
  ];
}

const LIMBS = 'Array(4)';

/** All functions, in the form that gpu.js takes. */
export const LIMB_FUNCTIONS = [
  functionOf(carryOf, ['Number'], 'Number'),
  functionOf(unpacked, ['Number', 'Number'], LIMBS),
  functionOf(decayedLimbs, [LIMBS, ...new Array<string>(8).fill('Number')], LIMBS),
  functionOf(withSynapses, [LIMBS, 'Number'], LIMBS),
  functionOf(inRange, [LIMBS, 'Number'], LIMBS),
  functionOf(aboveThreshold, [LIMBS, LIMBS, 'Number', 'Number', 'Number', 'Number'], 'Number'),
  functionOf(withArrival, [LIMBS, 'Number', 'Number'], LIMBS),
  functionOf(potentialBound, ['Number', 'Number', 'Number'], 'Number'),
];

function functionOf(
  source: (...values: never[]) => number | number[],
  argumentTypes: readonly string[],
  returnType: string,
) {
  return { name: source.name, source: source.toString(), argumentTypes, returnType };
}
