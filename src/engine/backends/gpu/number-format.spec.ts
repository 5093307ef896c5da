import fc from 'fast-check';
import { MEMBRANE_DECAY, SYNAPSE_DECAY } from '../../network.js';
import {
  decayed,
  ERROR_BOUND_UNITS,
  fromLimbs,
  INPUT_EVENT_SYNAPSES,
  LARGEST_TOP_LIMB,
  LIMB_BASE,
  MARGIN_UNITS,
  MEMBRANE,
  SYNAPSE,
  THRESHOLD_UNITS,
  toFloats,
  toLimbs,
  UNIT_MV,
} from './number-format.js';

/** Every integer whose size is below this is a float32. */
const EXACT_BELOW = 2 ** 24;

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
      expect(1 - decay.loss).toBeCloseTo(factor, 15);
      expect(Number(decay.lossUnits) / 2 ** 48).toBeCloseTo(1 - factor, 14);
      expect(decay.lossError).toBeLessThanOrEqual(0.5);
    }
  });

  it('leave every column of a step exact in float32, in whatever order it is summed', () => {
    for (const { lossLimbs } of [MEMBRANE, SYNAPSE]) {
      // Four products, a carry of the column below, the limb itself and half the base for rounding.
      const products = lossLimbs.reduce((sum, limb) => sum + Math.abs(limb), 0) * (LIMB_BASE / 2);
      const carry = products / LIMB_BASE + 2;
      expect(products + carry + LIMB_BASE).toBeLessThan(6.8e6);
    }
    const largestFloat = LARGEST_TOP_LIMB * LIMB_BASE + LIMB_BASE / 2;
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
      const exactLoss = exactLossOf(decay === MEMBRANE ? 200n : 50n);
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
                exact -= (exact * exactLoss) >> 200n;
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
