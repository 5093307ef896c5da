import fc from 'fast-check';
import { compiledDrawing, newCursors } from '../../engine/stimulus/compiled-drawing.js';
import { drawInputEvents, type InputEvents } from '../../engine/stimulus/input-events.js';
import type { Train } from '../../engine/stimulus/protocol.js';
import { compileDrawingKernel } from '../../workers/pool/kernel-file.js';
import type { SpikeRaster } from '../../engine/simulation/simulation.js';
import { TrialReader } from './readout.js';
import type { ReportResult } from '../kinds/report-kind.js';
import { binCount, type HistogramTask } from '../kinds/reports/histogram.js';
import { isEventResult, type EventTask, rowsHere } from '../kinds/reports/event-table.js';
import { joinedResult, type TrialTask } from '../plan/trial.js';

const NEURONS = 40;
const STEPS = 60;

const ascending = (maximum: number) =>
  fc.uniqueArray(fc.nat(maximum), { maxLength: maximum + 1 }).map((list) => Uint32Array.from(list).sort());

/** Step and neuron, each pair once. */
const raster: fc.Arbitrary<SpikeRaster> = fc
  .uniqueArray(fc.nat(NEURONS * STEPS - 1), { maxLength: 300 })
  .map((keys) => Uint32Array.from(keys).sort())
  .map((keys) => ({
    steps: Uint16Array.from(keys, (key) => Math.floor(key / NEURONS)),
    neurons: Uint32Array.from(keys, (key) => key % NEURONS),
  }));

type AnyTask = HistogramTask & EventTask & { readonly everySteps: number };

const report: fc.Arbitrary<AnyTask> = fc
  .record({
    type: fc.constantFrom('rate', 'histogram', 'spikes', 'inputs', 'latency', 'membrane'),
    neurons: ascending(NEURONS - 1).filter((list) => list.length > 0),
    window: fc.uniqueArray(fc.nat(STEPS), { minLength: 2, maxLength: 2 }),
    binSteps: fc.integer({ min: 1, max: STEPS }),
    everySteps: fc.integer({ min: 1, max: STEPS }),
    maxRows: fc.integer({ min: 1, max: 40 }),
    groupSeed: fc.array(fc.nat(2), { minLength: NEURONS, maxLength: NEURONS }),
  })
  .map(({ neurons, window, groupSeed, ...others }) => {
    const [startStep, endStep] = [Math.min(...window), Math.max(...window)];
    const groups = Uint32Array.from(neurons, (_, position) => groupSeed[position]!);
    return { ...others, neurons, startStep, endStep, groups };
  });

const listOf = ({ steps, neurons }: SpikeRaster): [step: number, neuron: number][] =>
  Array.from(steps, (step, at) => [step, neurons[at]!]);

/** A potential that tells neuron and step. */
const potentialOf = (step: number, neuron: number) => -52 + neuron + step / 1000;

/** Samples that the contract asks an engine for, up to the step in which the trial was stopped. */
function samplesOf({ neurons, startStep, endStep, everySteps }: AnyTask, stoppedAtStep: number): number[][] {
  const rows: number[][] = [];
  for (let step = 1; step < endStep && step <= stoppedAtStep; step++) {
    if (step % everySteps !== 0 || step < startStep) continue;
    for (const neuron of neurons) rows.push([step, neuron, potentialOf(step, neuron)]);
  }
  return rows;
}

/** Result of a report, made spike by spike. */
function expectedResult(
  task: AnyTask,
  spikes: SpikeRaster,
  inputs: readonly SpikeRaster[],
  rowsLeft: number,
  stoppedAtStep: number,
): ReportResult {
  const { neurons, startStep, endStep } = task;
  const isRead = ([step, neuron]: readonly number[]) =>
    step! >= startStep && step! < endStep && neurons.includes(neuron!);
  if (['spikes', 'inputs', 'membrane'].includes(task.type)) {
    const rows: number[][] = {
      spikes: () => listOf(spikes).filter(isRead),
      inputs: () =>
        inputs
          .flatMap((events, input) => listOf(events).map((row) => [...row, input]))
          .filter(isRead)
          .sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!),
      membrane: () => samplesOf(task, stoppedAtStep),
    }[task.type]!();
    const Values = task.type === 'inputs' ? Uint8Array : Float64Array;
    const first = rows.slice(0, Math.min(task.maxRows, rowsLeft));
    // All samples have the same neurons, so there is one step for each of them.
    const isSample = task.type === 'membrane';
    const steps = first.map(([step]) => step!);
    return {
      steps: Uint32Array.from(isSample ? new Set(steps) : steps),
      neurons: Uint32Array.from(isSample ? [] : first, ([, neuron]) => neuron!),
      values: task.type === 'spikes' ? [] : [Values.of(...first.map((row) => row[2]!))],
      rows: rows.length,
    };
  }
  const rows = listOf(spikes).filter(isRead);
  const countOf = (neuron: number) => rows.filter((row) => row[1] === neuron).length;
  const positions = [...neurons.keys()].filter((position) => countOf(neurons[position]!) > 0);
  const responding = {
    positions: Uint32Array.from(positions),
    spikes: Uint32Array.from(positions, (position) => countOf(neurons[position]!)),
  };
  if (task.type === 'latency') {
    const firstStepOf = (neuron: number) => rows.find((row) => row[1] === neuron)![0];
    const firstSpikes = Uint32Array.from(
      positions,
      (position) => firstStepOf(neurons[position]!) - startStep,
    );
    return { positions: responding.positions, firstSpikes };
  }
  if (task.type === 'rate') return responding;
  const cellOf = ([step, neuron]: [number, number]) =>
    task.groups[neurons.indexOf(neuron)]! * binCount(task, task.binSteps) +
    Math.floor((step - startStep) / task.binSteps);
  const all = rows.map(cellOf);
  const cells = Uint32Array.from(new Set(all)).sort();
  return {
    ...responding,
    cells,
    cellSpikes: Uint32Array.from(cells, (cell) => all.filter((each) => each === cell).length),
  };
}

const reader = new TrialReader({ neuronCount: NEURONS, neuronId: String }, () => {
  throw new Error('The events are given.');
});
const protocolOf = (inputs: readonly SpikeRaster[]): TrialTask['protocol'] => ({
  inputs: inputs.map((_, at) => ({
    neurons: Uint32Array.of(at),
    train: { kind: 'spikes', steps: new Uint32Array(0) },
  })),
  silenced: new Uint32Array(0),
  durationSteps: STEPS,
});

it('reads any reports of any raster as a reading spike by spike does, one trial after the other', () => {
  fc.assert(
    fc.property(
      raster,
      fc.array(raster, { maxLength: 3 }),
      fc.array(report, { maxLength: 6 }),
      fc.option(fc.nat(60), { nil: undefined }),
      fc.option(fc.nat(STEPS - 1), { nil: undefined }),
      fc.boolean(),
      (spikes, inputs, reports, maxRows, stoppedAtStep, countsAll) => {
        const task: TrialTask = {
          protocol: protocolOf(inputs),
          reports,
          countsAll,
          ...(maxRows !== undefined && { maxRows }),
        };
        let rowsLeft = maxRows ?? Infinity;
        const events: InputEvents = { stimulated: new Uint32Array(0), ...spikes };
        const ofInputs = inputs.map((each) => ({ ...events, ...each }));
        const membranes = reports
          .filter(({ type }) => type === 'membrane')
          .map((each) => Float64Array.from(samplesOf(each, stoppedAtStep ?? STEPS), ([, , v]) => v!));
        const stop = stoppedAtStep === undefined ? {} : { stoppedAtStep };
        const trial = { ...spikes, ...stop, deliveredEvents: 7, membranes };
        const reading = reader.read(task, { all: events, ofInputs }, trial, { startStep: 0, endStep: STEPS });
        const responding = [...new Set(spikes.neurons)].sort((a, b) => a - b);
        expect(reading).toEqual({
          spikes: spikes.steps.length,
          responding: responding.length,
          inputEvents: spikes.steps.length,
          synapticEvents: 7,
          ...stop,
          reports: reports.map((each) => {
            const expected = expectedResult(each, spikes, inputs, rowsLeft, stoppedAtStep ?? STEPS);
            if (isEventResult(expected)) rowsLeft -= rowsHere(expected);
            return expected;
          }),
          ...(countsAll
            ? {
                counts: {
                  neurons: Uint32Array.from(responding),
                  spikes: Uint32Array.from(
                    responding,
                    (i) => spikes.neurons.filter((each) => each === i).length,
                  ),
                },
              }
            : { responders: Uint32Array.from(responding) }),
        });
      },
    ),
  );
});

it('reads the parts of a trial, joined, as it reads the whole', () => {
  const partOf = (events: SpikeRaster, startStep: number, endStep: number) => {
    const positions = [...events.steps.keys()].filter(
      (at) => events.steps[at]! >= startStep && events.steps[at]! < endStep,
    );
    return {
      stimulated: new Uint32Array(0),
      steps: Uint16Array.from(positions, (at) => events.steps[at]!),
      neurons: Uint32Array.from(positions, (at) => events.neurons[at]!),
    };
  };
  fc.assert(
    fc.property(
      raster,
      fc.array(raster, { maxLength: 3 }),
      fc.array(report, { maxLength: 6 }),
      fc.uniqueArray(fc.integer({ min: 1, max: STEPS - 1 }), { maxLength: 4 }),
      fc.boolean(),
      (spikes, inputs, reports, cuts, countsAll) => {
        const task: TrialTask = {
          protocol: protocolOf(inputs),
          reports,
          countsAll,
        };
        const read = (startStep: number, endStep: number) => {
          const membranes = reports
            .filter(({ type }) => type === 'membrane')
            .map((each) => samplesOf(each, endStep - 1).filter(([step]) => step! >= startStep))
            .map((rows) => Float64Array.from(rows, ([, , v]) => v!));
          const own = partOf(spikes, startStep, endStep);
          const ofInputs = inputs.map((each) => {
            const part = partOf(each, startStep, endStep);
            return { ...part, steps: part.steps.map((step) => step - startStep) };
          });
          const trial = { ...own, deliveredEvents: endStep, membranes };
          return reader.read(task, { all: own, ofInputs }, trial, { startStep, endStep });
        };
        const starts = [0, ...cuts.sort((a, b) => a - b)];
        const parts = starts.map((start, at) => read(start, starts[at + 1] ?? STEPS));
        const joined = parts.reduce((first, second) => joinedResult(task, first, second));
        expect(joined).toEqual(read(0, STEPS));
      },
    ),
    { numRuns: 300 },
  );
});

describe('drawing', () => {
  const draw = compiledDrawing(compileDrawingKernel());
  const drawing = new TrialReader({ neuronCount: NEURONS, neuronId: String }, draw);
  const neurons = fc.uniqueArray(fc.nat(NEURONS - 1), { minLength: 1, maxLength: NEURONS }).map((each) => {
    return Uint32Array.from(each).sort();
  });
  const window = { startStep: 300, endStep: 100_000 };
  const trains: fc.Arbitrary<Train>[] = [
    fc.constant({ kind: 'poisson', name: 'a', seed: 3, trial: 1, rateHz: 100, ...window }),
    fc.constant({ kind: 'poisson', name: 'b', seed: 3, trial: 1, rateHz: 300, ...window, startStep: 0 }),
    fc.constant({ kind: 'spikes', steps: Uint32Array.of(5, 800, 801, 46_000, 50_500) }),
    fc.constant({ kind: 'background', seed: 3, trial: 1, rateHz: 5, eventMv: 20, ...window }),
  ];
  const segments = fc.array(
    fc.record({
      steps: fc.integer({ min: 1, max: 3000 }),
      rateHz: fc.constantFrom(0, 20, 60, 200, 500),
      isByInput: fc.boolean(),
    }),
    { minLength: 2, maxLength: 8 },
  );

  it('has the same events in one go and input by input, whatever the segment before did', () => {
    fc.assert(
      fc.property(
        fc
          .subarray(trains, { minLength: 1 })
          .chain((some) => fc.tuple(...some.map((train) => fc.record({ neurons, train })))),
        segments,
        fc.constantFrom(0, 45_000),
        (given, parts, firstStep) => {
          const cursors = newCursors(given);
          let startStep = firstStep;
          for (const { steps: durationSteps, rateHz, isByInput } of parts) {
            const inputs = given.map(({ train, ...input }) => ({
              ...input,
              train: train.kind === 'poisson' ? { ...train, rateHz } : train,
            }));
            const span = { startStep, durationSteps };
            const protocol = { ...protocolOf([]), inputs };
            const reports = isByInput
              ? [{ type: 'inputs', neurons: new Uint32Array(0), startStep, endStep: startStep } as const]
              : [];
            const drawn = drawing.draw({ protocol, reports, countsAll: false }, span, cursors);
            expect(drawn.all).toEqual(drawInputEvents({ inputs, ...span }, String));
            drawn.ofInputs.forEach((events, at) => {
              expect(events).toEqual(drawInputEvents({ inputs: [inputs[at]!], ...span }, String));
            });
            expect(drawn.ofInputs).toHaveLength(isByInput ? inputs.length : 0);
            startStep += durationSteps;
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
