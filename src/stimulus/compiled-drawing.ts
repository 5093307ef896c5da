import { givenSteps, layeredTrain, stimulatedBy, type DrawInputEvents } from './input-events.js';
import { WORD_RANGE, type IntervalTable } from './intervals.js';
import { MAXIMUM_TRIAL_STEPS, type Input, type Train } from './protocol.js';

/** Exports of kernel/kernel.ts. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly eventSteps: WebAssembly.Global;
  readonly eventNeurons: WebAssembly.Global;
  layOut(longestTrial: number): void;
  addTable(length: number): number;
  beginTrial(durationSteps: number): void;
  beginTrain(): void;
  addEvent(step: number, neuron: number): void;
  addLayer(
    neuron: number,
    startStep: number,
    endStep: number,
    table: number,
    ...more: readonly number[]
  ): void;
  endTrial(): number;
}

/**
 * Draws protocols as drawInputEvents does, event for event, in WebAssembly.
 * @param module dist/stimulus/kernel/kernel.wasm, compiled; threads can share it
 */
export function compiledDrawing(module: WebAssembly.Module): DrawInputEvents {
  const kernel = new WebAssembly.Instance(module, { env: { abort: brokenInvariant } }).exports as Kernel;
  kernel.layOut(MAXIMUM_TRIAL_STEPS);
  /** Addresses in the kernel's memory. */
  const tables = new Map<IntervalTable, number>();
  const tableOf = (intervals: IntervalTable): number => {
    let address = tables.get(intervals);
    if (address === undefined) {
      const { guide, cumulative } = intervals;
      address = kernel.addTable(cumulative.length);
      new Uint16Array(kernel.memory.buffer, address, guide.length).set(guide);
      new Float64Array(kernel.memory.buffer, address + guide.byteLength, cumulative.length).set(cumulative);
      tables.set(intervals, address);
    }
    return address;
  };

  /** @returns a function that adds the events of a neuron, given it and its index in the input */
  const adderOf = (train: Train, durationSteps: number, neuronId: (neuron: number) => string) => {
    if (train.kind === 'spikes') {
      return (neuron: number, index: number) => {
        for (const step of givenSteps(train, index)) if (step < durationSteps) kernel.addEvent(step, neuron);
      };
    }
    const { layers, startStep, endStep, streamOf } = layeredTrain(train);
    const end = Math.min(durationSteps, endStep);
    const tabled = layers.map(({ intervals, share, firstBlock }) => ({
      table: tableOf(intervals),
      length: intervals.cumulative.length,
      keepBelow: share * WORD_RANGE,
      firstBlock,
    }));
    return (neuron: number, index: number) => {
      const stream = streamOf(index, () => neuronId(neuron));
      const [c1, c2, c3] = stream.counter;
      const [k0, k1] = stream.key;
      // Written out: a call with spread arguments takes longer than a short train.
      for (const { table, length, keepBelow, firstBlock } of tabled) {
        kernel.addLayer(neuron, startStep, end, table, length, keepBelow, firstBlock, c1, c2, c3, k0, k1);
      }
    };
  };

  return ({ inputs, durationSteps }, neuronId) => {
    // Before the trial begins: its events lie behind the tables.
    const adders = inputs.map(({ train }) => adderOf(train, durationSteps, neuronId));
    kernel.beginTrial(durationSteps);
    forEachTrain(inputs, (neuron, input, index) => {
      kernel.beginTrain();
      adders[input]!(neuron, index);
    });
    const count = kernel.endTrial();
    const { buffer } = kernel.memory;
    return {
      stimulated: stimulatedBy(inputs),
      steps: new Uint16Array(buffer, kernel.eventSteps.value, count).slice(),
      neurons: new Uint32Array(buffer, kernel.eventNeurons.value, count).slice(),
    };
  };
}

/** Visits the trains of all inputs by neuron, in ascending order. */
function forEachTrain(
  inputs: readonly Input[],
  visit: (neuron: number, input: number, index: number) => void,
): void {
  if (inputs.length === 1 && isAscending(inputs[0]!.neurons)) {
    inputs[0]!.neurons.forEach((neuron, index) => visit(neuron, 0, index));
    return;
  }
  // Sorted as numbers, without a comparison function, which would take most of the time.
  const keys = new Float64Array(inputs.reduce((sum, { neurons }) => sum + neurons.length, 0));
  let at = 0;
  inputs.forEach(({ neurons }, input) =>
    neurons.forEach((neuron, index) => {
      keys[at++] = neuron * NEURON_STRIDE + input * INPUT_STRIDE + index;
    }),
  );
  for (const key of keys.sort()) {
    const neuron = Math.floor(key / NEURON_STRIDE);
    const rest = key - neuron * NEURON_STRIDE;
    const input = Math.floor(rest / INPUT_STRIDE);
    visit(neuron, input, rest - input * INPUT_STRIDE);
  }
}

/** Neuron, input and index in one exact number: an input has at most 2^18 neurons. */
const INPUT_STRIDE = 2 ** 18;
const NEURON_STRIDE = INPUT_STRIDE * 2 ** 16;

function isAscending(neurons: Uint32Array): boolean {
  for (let i = 1; i < neurons.length; i++) if (neurons[i]! < neurons[i - 1]!) return false;
  return true;
}

function brokenInvariant(): never {
  throw new Error('the drawing of trains failed an internal check');
}
