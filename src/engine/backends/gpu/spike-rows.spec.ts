import fc from 'fast-check';
import { SPIKE_BITS, UNUSED_ROW } from './kernels.js';
import { WINDOW_STEPS } from './number-format.js';
import { rastersOf } from './spike-rows.js';

const CODE = 2 ** WINDOW_STEPS;
const SHAPE = { width: 4, rows: 8 };

/** What a pipeline reads back of a window in which these neurons were active. */
function windowOf(neurons: readonly number[], statuses: readonly (readonly number[])[]): Float32Array {
  const floats = new Float32Array(SHAPE.rows * (SHAPE.width + 1)).fill(UNUSED_ROW);
  neurons.forEach((neuron, row) => {
    floats.set(statuses[row]!, row * SHAPE.width);
    floats[SHAPE.rows * SHAPE.width + row] = 1 + neuron;
  });
  return floats;
}

const windows = fc.array(
  fc.record({
    neurons: fc
      .uniqueArray(fc.nat(200_000), { maxLength: SHAPE.rows })
      .map((neurons) => neurons.toSorted((a, b) => a - b)),
    bits: fc.array(fc.array(fc.nat(SPIKE_BITS), { minLength: 4, maxLength: 4 }), {
      minLength: 8,
      maxLength: 8,
    }),
    isSilenced: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('the rasters of a batch', () => {
  it('have the spikes of each trial by step and neuron, and none behind its end', () => {
    fc.assert(
      fc.property(
        windows,
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 }),
        (drawn, wanted) => {
          const durations = wanted.map((steps) => Math.min(steps, drawn.length * WINDOW_STEPS));
          const { rasters, mostActive } = rastersOf(
            drawn.map(({ neurons, bits, isSilenced }) =>
              windowOf(
                neurons,
                bits.map((ofRow) => ofRow.map((each) => (isSilenced ? -1 : 1) * (each + CODE))),
              ),
            ),
            SHAPE,
            durations,
          );
          expect(mostActive).toBe(Math.max(...drawn.map(({ neurons }) => neurons.length)));
          durations.forEach((duration, trial) => {
            const expected: [step: number, neuron: number][] = [];
            for (let step = 0; step < duration; step++) {
              const { neurons, bits } = drawn[Math.floor(step / WINDOW_STEPS)]!;
              neurons.forEach((neuron, row) => {
                if ((bits[row]![trial]! >> (step % WINDOW_STEPS)) & 1) expected.push([step, neuron]);
              });
            }
            const { steps, neurons } = rasters[trial]!;
            expect(Array.from(steps, (step, spike) => [step, neurons[spike]])).toEqual(expected);
          });
        },
      ),
      { seed: 783, numRuns: 200 },
    );
  });

  it.each([
    ['a status', windowOf([7], [[CODE, 0, CODE, CODE]])],
    ['a neuron', windowOf([-1], [[CODE, CODE, CODE, CODE]])],
    ['everything', new Float32Array(SHAPE.rows * (SHAPE.width + 1))],
  ])('are refused where %s is 0, as in a buffer that was never written', (_, floats) => {
    expect(() => rastersOf([floats], SHAPE, [18, 18])).toThrow(
      expect.objectContaining({ code: 'GPU_FAILED' }) as Error,
    );
  });
});
