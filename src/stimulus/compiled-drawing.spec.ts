import fc from 'fast-check';
import { compileDrawingKernel } from '../scheduling/kernel-file.js';
import { compiledDrawing } from './compiled-drawing.js';
import { drawInputEvents } from './input-events.js';
import type { Input } from './protocol.js';

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const step = fc.integer({ min: 0, max: 50_000 });
const steps = fc.uniqueArray(fc.nat(49_999), { maxLength: 50 }).map((each) => Uint16Array.from(each).sort());

const inputs: fc.Arbitrary<Input> = fc
  .uniqueArray(fc.nat(262_142), { minLength: 0, maxLength: 30 })
  .chain((neurons) =>
    fc.record({
      neurons: fc.constant(Uint32Array.from(neurons)),
      train: fc.oneof(
        fc.record({
          kind: fc.constant('v1' as const),
          nominalRateHz: fc.constantFrom(0.5, 25, 60, 150, 2500),
          intensity: fc.constantFrom(0, 0.001, 0.7, 1, 2),
          seed: word,
        }),
        fc.record({
          kind: fc.constant('poisson' as const),
          name: fc.string(),
          rateHz: fc.oneof(
            fc.constantFrom(0, 31.25, 62.5, 125, 250, 500),
            fc.double({ min: 0, max: 500, noNaN: true }),
          ),
          seed: word,
          trial: word,
          startStep: step,
          endStep: step,
        }),
        fc.record({
          kind: fc.constant('spikes' as const),
          steps: fc.oneof(steps, fc.array(steps, { minLength: neurons.length, maxLength: neurons.length })),
        }),
      ),
    }),
  );

it('compiledDrawing draws the events of drawInputEvents, trial after trial', () => {
  const draw = compiledDrawing(compileDrawingKernel());
  let events = 0;
  fc.assert(
    fc.property(
      fc.array(inputs, { maxLength: 4 }),
      fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 50_000 })),
      fc.boolean(),
      (protocolInputs, durationSteps, isMeasured) => {
        const neuronId = (i: number) => (isMeasured ? `72057594${i}` : `LC4-${i}`);
        const protocol = { inputs: protocolInputs, durationSteps };
        const expected = drawInputEvents(protocol, neuronId);
        expect(draw(protocol, neuronId)).toEqual(expected);
        events += expected.steps.length;
      },
    ),
    { seed: 783, numRuns: 100 },
  );
  expect(events).toBeGreaterThan(100_000);
});

it('compiledDrawing orders steps in which several inputs kick many neurons', () => {
  const draw = compiledDrawing(compileDrawingKernel());
  const kicks = (length: number, neuronOf: (place: number) => number): Input => ({
    neurons: Uint32Array.from({ length }, (_, place) => neuronOf(place)),
    train: { kind: 'spikes', steps: Uint16Array.of(0, 7) },
  });
  for (const length of [1, 2, 3, 40, 2000, 2001]) {
    const protocol = {
      inputs: [
        kicks(length, (place) => 3 * place),
        kicks(length, (place) => 2 * place),
        // Backwards, and each neuron several times in a step.
        kicks(length, (place) => 3 * (length - place)),
        kicks(length, (place) => (place * 7919) % 5),
      ],
      durationSteps: 9,
    };
    const neuronId = () => '';
    expect(draw(protocol, neuronId)).toEqual(drawInputEvents(protocol, neuronId));
  }
});
