import fc from 'fast-check';
import { STEP_BITS } from './pipeline-shape.js';
import { WINDOW_STEPS } from './number-format.js';
import { wiringOf } from '../../../../test/support/small-network.js';
import { maxSpikesOf, outDegreesOf, rastersOf } from './batch-results.js';

const SHAPE = { width: 4, slots: 16 };
const MAX_NEURON = 2 ** (24 - STEP_BITS) - 1;

type Spike = readonly [neuron: number, step: number];

/** The readback of a window in which each trial has these spikes. */
function windowOf(spikesOf: readonly (readonly Spike[])[]) {
  return Float32Array.from({ length: SHAPE.width * SHAPE.slots }, (_, at) => {
    const spikes = spikesOf[Math.floor(at / SHAPE.slots)] ?? [];
    const spike = spikes[(at % SHAPE.slots) - 1];
    return spike === undefined ? 1 + spikes.length : 1 + spike[1] + spike[0] * 2 ** STEP_BITS;
  });
}

/** Spikes of a trial in a window, all different, by neuron, then by step. */
const drawnSpikes = fc
  .uniqueArray(fc.tuple(fc.nat(MAX_NEURON), fc.nat(WINDOW_STEPS - 1)), {
    maxLength: SHAPE.slots - 1,
    selector: String,
  })
  .map((spikes) => spikes.toSorted(([a, stepA], [b, stepB]) => a - b || stepA - stepB));
const drawnWindows = fc.array(fc.array(drawnSpikes, { minLength: SHAPE.width, maxLength: SHAPE.width }), {
  minLength: 1,
  maxLength: 5,
});

describe('the rasters of a batch', () => {
  it('have the spikes of each trial by step and neuron, and none after its end', () => {
    fc.assert(
      fc.property(
        drawnWindows,
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: SHAPE.width }),
        (drawn, wanted) => {
          const durations = wanted.map((steps) => Math.min(steps, drawn.length * WINDOW_STEPS));
          const windows = drawn.map(windowOf);
          expect(maxSpikesOf({ ...SHAPE, windows })).toBe(
            Math.max(...drawn.flat().map(({ length }) => length)),
          );
          const rasters = rastersOf({ ...SHAPE, windows }, durations);
          expect(rasters).toHaveLength(durations.length);
          durations.forEach((duration, trial) => {
            const expected = drawn
              .flatMap((ofWindow, window) =>
                ofWindow[trial]!.map(([neuron, step]) => [window * WINDOW_STEPS + step, neuron] as const),
              )
              .filter(([step]) => step < duration)
              .toSorted(([stepA, a], [stepB, b]) => stepA - stepB || a - b);
            const { steps, neurons } = rasters[trial]!;
            expect(Array.from(steps, (step, spike) => [step, neurons[spike]])).toEqual(expected);
          });
        },
      ),
      { seed: 783, numRuns: 200 },
    );
  });

  it('are known to be incomplete if spikes have no place', () => {
    const spikes = Array.from({ length: SHAPE.slots }, (_, neuron): Spike => [neuron, 3]);
    expect(maxSpikesOf({ ...SHAPE, windows: [windowOf([[]]), windowOf([[], spikes])] })).toBe(SHAPE.slots);
  });

  it.each([
    ['a number of spikes', 0],
    ['a spike', 2],
  ])('are refused if %s is 0, as in a buffer that was never written', (_, place) => {
    const floats = windowOf([
      [
        [7, 1],
        [8, 2],
      ],
    ]);
    const lists = { ...SHAPE, windows: [floats] };
    expect(rastersOf(lists, [18])[0]!.steps).toHaveLength(2);
    floats[place] = 0;
    expect(() => {
      maxSpikesOf(lists);
      rastersOf(lists, [18]);
    }).toThrow(expect.objectContaining({ code: 'GPU_FAILED' }) as Error);
  });
});

it('counts no synaptic events for a neuron of sign 0, as the CPU engines do', () => {
  const wiring = wiringOf(3, [
    [0, 1, 5],
    [0, 2, 5],
    [1, 2, -5],
  ]);
  const signs = Int8Array.of(1, 0, 1);
  expect([...outDegreesOf(wiring)]).toEqual([2, 1, 0]);
  expect([...outDegreesOf({ ...wiring, signs })]).toEqual([2, 0, 0]);
});
