import { givenSteps, layeredTrain, stimulatedBy, type DrawInputEvents } from './input-events.js';
import { WORD_RANGE, type IntervalTable } from './intervals.js';
import { MAXIMUM_TRIAL_STEPS, type Train } from './protocol.js';

/** What experiment/kernel/kernel.ts exports. */
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
    tableLength: number,
    keepBelow: number,
    firstBlock: number,
    counter1: number,
    counter2: number,
    counter3: number,
    key0: number,
    key1: number,
  ): void;
  endTrial(): number;
}

/**
 * Draws protocols as drawInputEvents does, event for event, in WebAssembly.
 * @param module dist/experiment/kernel/kernel.wasm, compiled; threads can share it
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

  /** @returns what adds the events of a neuron, given it and its place in the input */
  const adderOf = (
    train: Train,
    durationSteps: number,
    neuronId: (neuron: number) => string,
  ): ((neuron: number, place: number) => void) => {
    if (train.kind === 'spikes') {
      return (neuron, place) => {
        for (const step of givenSteps(train, place)) if (step < durationSteps) kernel.addEvent(step, neuron);
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
    return (neuron, place) => {
      const stream = streamOf(place, () => neuronId(neuron));
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
    inputs.forEach(({ neurons }, input) => {
      neurons.forEach((neuron, place) => {
        kernel.beginTrain();
        adders[input]!(neuron, place);
      });
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

function brokenInvariant(): never {
  throw new Error('the drawing of trains failed an internal check');
}
