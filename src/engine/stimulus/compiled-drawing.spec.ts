import fc from 'fast-check';
import { compileDrawingKernel } from '../../workers/pool/kernel-file.js';
import { compiledDrawing, newCursors } from './compiled-drawing.js';
import { drawInputEvents } from './input-events.js';
import type { Input, RateTable } from './protocol.js';

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const step = fc.integer({ min: 0, max: 50_000 });
const steps = fc.uniqueArray(fc.nat(49_999), { maxLength: 50 }).map((each) => Uint32Array.from(each).sort());

const seeded = { seed: word, trial: word, startStep: step, endStep: step };
const rateHz = fc.oneof(
  fc.constantFrom(0, 31.25, 62.5, 125, 250, 500),
  fc.double({ min: 0, max: 500, noNaN: true }),
);
/** Arbitrary tables of courses for this number of neurons. */
const tableOf = (neurons: number): fc.Arbitrary<RateTable> =>
  fc
    .array(
      fc.uniqueArray(fc.oneof(fc.nat(49_999), fc.nat(500)), { maxLength: 20 }).chain((changes) =>
        fc.record({
          steps: fc.constant([...new Set([0, ...changes])].sort((a, b) => a - b)),
          ratesHz: fc.array(rateHz, { minLength: 21, maxLength: 21 }),
        }),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .chain((courses) =>
      fc
        .option(fc.array(fc.nat(courses.length - 1), { minLength: neurons, maxLength: neurons }))
        .map((own) => {
          const starts = [0];
          for (const { steps } of courses) starts.push(starts.at(-1)! + steps.length);
          return {
            ...(own && { courses: Uint16Array.from(own) }),
            starts: Uint32Array.from(starts),
            steps: Uint32Array.from(courses.flatMap(({ steps }) => steps)),
            ratesHz: Float64Array.from(
              courses.flatMap(({ steps, ratesHz }) => ratesHz.slice(0, steps.length)),
            ),
          };
        }),
    );
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
          rateHz: fc.oneof(rateHz, tableOf(neurons.length)),
          ...seeded,
        }),
        fc.record({
          kind: fc.constant('background' as const),
          rateHz: fc.oneof(fc.constantFrom(0, 0.5, 2, 8, 40), fc.double({ min: 0, max: 40, noNaN: true })),
          eventMv: fc.double({ min: 0, max: 68.75, noNaN: true }),
          ...seeded,
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
  let [events, ofBackground] = [0, 0];
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
        ofBackground += expected.background?.steps.length ?? 0;
      },
    ),
    { seed: 783, numRuns: 150 },
  );
  expect(events).toBeGreaterThan(100_000);
  expect(ofBackground).toBeGreaterThan(1000);
});

it('compiledDrawing draws the same segment by segment as at once, after any other draws and rates', () => {
  const draw = compiledDrawing(compileDrawingKernel());
  const neuronId = (i: number) => `LC4-${i}`;
  const lengths = fc.array(fc.oneof(fc.constantFrom(1, 200, 10_000), fc.integer({ min: 1, max: 6000 })), {
    minLength: 1,
    maxLength: 12,
  });
  const starts = fc.oneof(fc.constant(0), fc.constantFrom(49_900, 59_999, 60_000, 3_333_333));
  let events = 0;
  fc.assert(
    fc.property(
      fc.array(inputs, { minLength: 1, maxLength: 3 }),
      starts,
      lengths,
      fc.infiniteStream(rateHz),
      (given, firstStep, segmentLengths, rates) => {
        // Moves the windows to the segments, which begin late in a long trial.
        const protocolInputs = given.map(({ neurons, train }) => ({
          neurons,
          train: 'endStep' in train ? { ...train, endStep: train.endStep + firstStep } : train,
        }));
        const cursors = newCursors(protocolInputs);
        let startStep = firstStep;
        for (const durationSteps of segmentLengths) {
          const segment = {
            // A session changes rates from step to step.
            inputs: protocolInputs.map(({ neurons, train }) => ({
              neurons,
              train:
                train.kind === 'poisson' && typeof train.rateHz === 'number'
                  ? { ...train, rateHz: rates.next().value as number }
                  : train,
            })),
            startStep,
            durationSteps,
          };
          const expected = drawInputEvents(segment, neuronId);
          expect(draw(segment, neuronId, cursors)).toEqual(expected);
          // Another drawing in between, without cursors, must change nothing.
          if (durationSteps % 2 === 0) expect(draw(segment, neuronId)).toEqual(expected);
          events += expected.steps.length;
          startStep += durationSteps;
        }
      },
    ),
    { seed: 783, numRuns: 60 },
  );
  expect(events).toBeGreaterThan(50_000);
});

it('compiledDrawing orders steps in which several inputs kick many neurons', () => {
  const draw = compiledDrawing(compileDrawingKernel());
  const kicks = (length: number, neuronOf: (position: number) => number): Input => ({
    neurons: Uint32Array.from({ length }, (_, position) => neuronOf(position)),
    train: { kind: 'spikes', steps: Uint32Array.of(0, 7) },
  });
  for (const length of [1, 2, 3, 40, 2000, 2001]) {
    const protocol = {
      inputs: [
        kicks(length, (position) => 3 * position),
        kicks(length, (position) => 2 * position),
        // Backwards, and then each neuron several times in a step.
        kicks(length, (position) => 3 * (length - position)),
        kicks(length, (position) => (position * 7919) % 5),
      ],
      durationSteps: 9,
    };
    const neuronId = () => '';
    expect(draw(protocol, neuronId)).toEqual(drawInputEvents(protocol, neuronId));
  }
});

it('compiledDrawing draws background of whole brains, in turns with other ids and neurons', () => {
  const draw = compiledDrawing(compileDrawingKernel());
  const train = {
    kind: 'background',
    rateHz: 3,
    eventMv: 1,
    seed: 1,
    trial: 2,
    startStep: 0,
    endStep: 800,
  } as const;
  const brain = Uint32Array.from({ length: 20_001 }, (_, i) => i);
  const reversed = brain.slice(7, 1300).reverse();
  const [measured, sampled] = [(i: number) => `72057594${i}`, (i: number) => `LC4-${i}`];
  for (const [neurons, neuronId] of [
    [brain, measured],
    [reversed, measured],
    [reversed, sampled],
    [brain, measured],
  ] as const) {
    const protocol = { inputs: [{ neurons, train }], durationSteps: 1000 };
    const expected = drawInputEvents(protocol, neuronId);
    expect(expected.background!.steps.length).toBeGreaterThan(200);
    expect(draw(protocol, neuronId)).toEqual(expected);
  }
});
