import fc from 'fast-check';
import {
  afterWindow,
  decayed,
  fromLimbs,
  ROUNDING,
  toFloats,
} from '../../../../test/oracle/integer-simulation.js';
import { MEMBRANE_DECAY, SYNAPSE_DECAY } from '../network.js';
import {
  INPUT_EVENT_SYNAPSES,
  MAX_TOP_LIMB,
  LIMB_BASE,
  MARGIN_UNITS,
  MEMBRANE,
  potentialBound,
  QUIET_BELOW,
  LIGHT_FLOAT_BELOW,
  LIGHT_SYNAPSES,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  UNIT_MV,
  type WindowDecay,
  WINDOW_STEPS,
} from './number-format.js';

/** Every integer whose size is below this is a float32. */
const EXACT_BELOW = 2 ** 24;

/**
 * The largest error of the computed v in units, after any number of steps and events, if nothing was clamped. A step
 * adds at most its rounding and the error of the rounded D for the largest value. Old errors decay, so the sum is a
 * geometric series. The threshold is rounded too.
 */
const ERROR_BOUND_UNITS = accumulatedError(MEMBRANE) + accumulatedError(SYNAPSE) + 1;

function accumulatedError(decay: WindowDecay): number {
  const largest = (MAX_TOP_LIMB + 1) * LIMB_BASE ** 3;
  const rounding = Number(ROUNDING) / 2 ** 48;
  return (rounding + (largest * lossErrorOf(decay)) / 2 ** 48) / lossOf(decay);
}

/** The exact loss of a step, times 2^200. */
function exactLoss(decay: WindowDecay): bigint {
  return exactLossOf(decay === MEMBRANE ? 200n : 50n);
}

/** 1 - decay of a step, to the precision of a double. */
function lossOf(decay: WindowDecay): number {
  return Number(exactLoss(decay) >> 140n) / 2 ** 60;
}

/** The error of the rounded loss of a step, times 2^48. */
function lossErrorOf(decay: WindowDecay): number {
  const difference = exactLoss(decay) - (decay.stepLoss << 152n);
  return Math.abs(Number(difference >> 92n) / 2 ** 60);
}

describe('the numbers of the GPU engine', () => {
  it('have the unit, the threshold and the input event of design', () => {
    // 0.275 mV / 3 / 2^32; 7 mV * 3 / 0.275 mV = 76.3636...; 68.75 mV * 3 / 0.275 mV = 750.
    expect(UNIT_MV).toBeCloseTo(2.1343e-11, 14);
    expect(THRESHOLD_UNITS).toBe(BigInt(Math.floor((7 * 3 * 2 ** 32) / 0.275)));
    expect(INPUT_EVENT_SYNAPSES).toBe(750);
  });

  it('decay as network.ts says, to the last bit of a double', () => {
    for (const [decay, factor] of [
      [MEMBRANE, MEMBRANE_DECAY],
      [SYNAPSE, SYNAPSE_DECAY],
    ] as const) {
      expect(1 - lossOf(decay)).toBeCloseTo(factor, 15);
      expect(Number(decay.stepLoss) / 2 ** 48).toBeCloseTo(1 - factor, 14);
      expect(lossErrorOf(decay)).toBeLessThanOrEqual(0.5);
      expect(Number(decay.windowLoss) / 2 ** 48).toBeCloseTo(1 - factor ** WINDOW_STEPS, 13);
      decay.arrivalUnits.forEach((units, step) =>
        expect(Number(units) / 2 ** 44).toBeCloseTo(factor ** (WINDOW_STEPS - 1 - step), 12),
      );
    }
  });

  it('leave every column of a step exact in float32, in whatever order it is summed', () => {
    const productsOf = (limbs: readonly number[]) =>
      limbs.reduce((sum, limb) => sum + Math.abs(limb), 0) * (LIMB_BASE / 2);
    // Besides the products, a column holds the carry from the column below, the limb and half the base for rounding.
    const columnOf = (products: number) => products + products / LIMB_BASE + 2 + LIMB_BASE;
    for (const { stepLoss, windowLoss, arrivalUnits } of [MEMBRANE, SYNAPSE]) {
      expect(columnOf(productsOf(toLimbs(stepLoss)))).toBeLessThan(6.8e6);
      // In the formula for a window, each arriving synapse adds a product.
      const arriving = arrivalUnits.flatMap(toLimbs).map(Math.abs);
      const arrived = LIGHT_SYNAPSES * Math.max(...arriving);
      expect(columnOf(productsOf(toLimbs(windowLoss)) + arrived)).toBeLessThan(EXACT_BELOW);
    }
    expect(potentialBound(LIGHT_FLOAT_BELOW, -LIGHT_FLOAT_BELOW, LIGHT_SYNAPSES)).toBeLessThan(EXACT_BELOW);
    const largestFloat = MAX_TOP_LIMB * LIMB_BASE + LIMB_BASE / 2;
    expect(largestFloat).toBeLessThan(EXACT_BELOW);
  });

  it('are a limb form and back', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 46n), 2n ** 46n), (x) => {
        const limbs = toLimbs(x);
        expect(fromLimbs(limbs)).toBe(x);
        for (const limb of limbs.slice(0, 3)) {
          expect(limb).toBeGreaterThanOrEqual(-2048);
          expect(limb).toBeLessThanOrEqual(2047);
        }
        const [high, low] = toFloats(x);
        expect(Math.fround(high)).toBe(high);
        expect(Math.fround(low)).toBe(low);
        expect(BigInt(high) * 2n ** 24n + BigInt(low)).toBe(x);
      }),
      { seed: 783 },
    );
  });

  it('stay at rest, and decay towards it from both sides', () => {
    expect(decayed(0n, MEMBRANE)).toBe(0n);
    for (const x of [10n ** 12n, -(10n ** 12n)]) {
      const expected = Number(x) * MEMBRANE_DECAY;
      expect(Math.abs(Number(decayed(x, MEMBRANE)) - expected)).toBeLessThanOrEqual(0.6);
    }
  });

  it('keep their error below the bound over the longest run, and the bound below the margin', () => {
    // Exact decays, kept to 2^-100 of a unit, beside the rounded ones; events large enough to fill the range.
    const EXTRA = 100n;
    for (const decay of [MEMBRANE, SYNAPSE]) {
      const loss = exactLoss(decay);
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: -4000, max: 4000 })), {
            maxLength: 60,
          }),
          (events) => {
            let x = 0n;
            let exact = 0n;
            let largestError = 0;
            for (const [pause, synapses] of [...events, [500, 0] as const]) {
              for (let step = 0; step < pause; step++) {
                x = decayed(x, decay);
                exact -= (exact * loss) >> 200n;
                largestError = Math.max(largestError, Math.abs(Number(x - (exact >> EXTRA))));
              }
              x += BigInt(synapses) << 32n;
              exact += BigInt(synapses) << (32n + EXTRA);
            }
            expect(largestError).toBeLessThan(ERROR_BOUND_UNITS);
          },
        ),
        { seed: 783, numRuns: 20 },
      );
    }
    expect(ERROR_BOUND_UNITS).toBeGreaterThan(100);
    expect(ERROR_BOUND_UNITS).toBeLessThan(MARGIN_UNITS / 2);
  });

  // The steps one by one, in integers that are themselves within the bound of the real numbers.
  it('reach nearly the same state in a window at once as step by step, and stay below the threshold meanwhile', () => {
    let quiet = 0;
    fc.assert(
      fc.property(
        fc.bigInt(-(1n << 41n), 1n << 41n),
        fc.bigInt(-(1n << 41n), 1n << 41n),
        fc.array(fc.integer({ min: -40, max: 40 }), { minLength: WINDOW_STEPS, maxLength: WINDOW_STEPS }),
        (u, h, synapses) => {
          const exciting = synapses.reduce((sum, each) => sum + Math.max(0, each), 0);
          const bound = potentialBound(toFloats(u)[0], toFloats(h)[0], exciting);
          let [uNow, hNow, most] = [u, h, -(1n << 60n)];
          for (const each of synapses) {
            uNow = decayed(uNow, MEMBRANE);
            hNow = decayed(hNow, SYNAPSE);
            if (uNow - hNow > most) most = uNow - hNow;
            uNow += BigInt(each) << 32n;
            hNow += BigInt(each) << 32n;
          }
          // The slack of QUIET_BELOW covers the low floats, which the bound ignores.
          expect(Number(most >> 20n)).toBeLessThanOrEqual(bound + 63);
          if (bound < QUIET_BELOW) quiet++;
          for (const [stepped, at, decay] of [
            [uNow, u, MEMBRANE],
            [hNow, h, SYNAPSE],
          ] as const) {
            const difference = Number(afterWindow(at, synapses, decay) - stepped);
            // A rounding for each step, one for the window, and those of the decays.
            expect(Math.abs(difference)).toBeLessThan(WINDOW_STEPS * 0.7 + 1);
          }
        },
      ),
      { seed: 783, numRuns: 2000 },
    );
    expect(quiet).toBeGreaterThan(200);
  });
});

/** (1 - exp(-1/n)) * 2^200. */
function exactLossOf(n: bigint): bigint {
  let sum = 0n;
  let term = 1n << 400n;
  for (let k = 1n; term !== 0n; k++) {
    term = -term / (n * k);
    sum -= term;
  }
  return sum >> 200n;
}
