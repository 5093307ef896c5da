/**
 * Draws input events in WebAssembly, event for event as input-events.ts does, which is written to be read.
 *
 * trains.ts has the terms. A train is the events of one neuron from one input. It is drawn in layers, of which a higher rate
 * has more, and anew in each epoch, so that a long trial can be drawn from any epoch on. A layer is drawn block by block of
 * Philox: two intervals between events, and whether each event stays. The cursor of a layer is its epoch, its last block, which
 * the next part draws again, and the step before that. The kernel has memory that is kept (tables of intervals, ids) and memory that is lent to one trial.
 */
import { firstNotBelow } from '../connectome/sorted-array.js';
import {
  givenSteps,
  layeredTrain,
  partedInputs,
  stimulatedBy,
  type DrawInputEvents,
  type InputEvents,
  type Part,
  type TrainCursors,
} from './input-events.js';
import { WORD_RANGE, type IntervalTable } from './intervals.js';
import {
  MAXIMUM_TRIAL_STEPS,
  type BackgroundTrain,
  type GivenTrain,
  type Input,
  type Train,
} from './protocol.js';
import { courseOf, coursesOf, type RateCourse } from './rate-table.js';
import {
  epochsIn,
  firstBlockOf,
  idWordsOf,
  type IdWords,
  type LayeredTrain,
  POISSON_LAYERS,
  shareOf,
} from './trains.js';

/** Exports of kernel/kernel.ts, which says what the numbers are. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly eventSteps: WebAssembly.Global;
  readonly eventNeurons: WebAssembly.Global;
  layOut(longestTrial: number): void;
  keep(bytes: number): number;
  lend(bytes: number): number;
  beginTrial(durationSteps: number): void;
  addLayer(table: number, ...more: readonly number[]): number;
  beginTrain(): void;
  addEvent(step: number, neuron: number): void;
  addTrain(neuron: number, ...more: readonly number[]): void;
  addTrains(neurons: number, ...more: readonly number[]): void;
  addSparseTrains(neurons: number, ...more: readonly number[]): void;
  endTrial(): number;
}

/** As in kernel.ts. */
const TABLE_HEAD_BYTES = 16;

/** Words of a train in TrainCursors: three for each layer. */
const CURSOR_WORDS = 3 * POISSON_LAYERS;

/** Stands for the words of an id where the kernel reads them itself. */
const NO_ID = (): IdWords => [0, 0];

/** Trains of one course in the kernel's memory. */
interface WrittenTrain {
  readonly layers: number;
  readonly layerCount: number;
}

type NeuronId = (neuron: number) => string;

/**
 * Draws protocols as drawInputEvents does, event for event, in WebAssembly.
 * @param module dist/stimulus/kernel/kernel.wasm, compiled; threads can share it
 */
export function compiledDrawing(module: WebAssembly.Module): DrawInputEvents {
  const drawing = new Drawing(
    new WebAssembly.Instance(module, { env: { abort: brokenInvariant } }).exports as Kernel,
  );
  return ({ inputs: all, durationSteps, startStep = 0 }, neuronId, cursors) => {
    const { inputs, background } = partedInputs(all);
    const part = { startStep, endStep: startStep + durationSteps };
    const events = { stimulated: stimulatedBy(inputs), ...drawing.draw(inputs, part, neuronId, cursors) };
    if (background === undefined) return events;
    const drawn = drawing.drawSparse(background, part, neuronId);
    return { ...events, background: { ...drawn, eventMv: background.train.eventMv } };
  };
}

/** Cursors of a trial that is drawn in parts, before the first part; in shared memory. */
export function newCursors(inputs: readonly Input[]): TrainCursors {
  const trains = partedInputs(inputs).inputs.reduce((sum, { neurons }) => sum + neurons.length, 0);
  return new Uint32Array(new SharedArrayBuffer(trains * CURSOR_WORDS * Uint32Array.BYTES_PER_ELEMENT));
}

class Drawing {
  /** Addresses in the kernel's memory. */
  readonly #tables = new Map<IntervalTable, number>();
  /** Words that stand for the ids of neurons, two for each that is known; asking for those of a whole brain takes long. */
  readonly #idWords: number;
  readonly #known = new Uint8Array(NEURON_RANGE);
  #knownBy: NeuronId | undefined;

  constructor(private readonly kernel: Kernel) {
    kernel.layOut(MAXIMUM_TRIAL_STEPS);
    // Memory that is never written takes no space.
    this.#idWords = kernel.keep(2 * NEURON_RANGE * Uint32Array.BYTES_PER_ELEMENT);
  }

  draw(inputs: readonly Input[], part: Part, neuronId: NeuronId, cursors?: TrainCursors) {
    const { kernel } = this;
    const layered = inputs.map(({ train }) => (train.kind === 'spikes' ? undefined : layeredTrain(train)));
    this.#begin(layered, part);
    const address = cursors === undefined ? 0 : this.#write(cursors, kernel.lend(cursors.byteLength));
    const cursorBytes = cursors === undefined ? 0 : cursors.BYTES_PER_ELEMENT * CURSOR_WORDS;
    for (const { neurons, train } of inputs) if (train.kind === 'poisson') this.#knowIds(neurons, neuronId);
    const [only] = inputs;
    if (inputs.length === 1 && isAscending(only!.neurons) && isOfOneRate(only!.train)) {
      this.#addTrains(only!.neurons, layered[0]!, part, address, cursorBytes);
    } else {
      this.#addEach(inputs, layered, part, address, cursorBytes);
    }
    cursors?.set(new Uint32Array(kernel.memory.buffer, address, cursors.length));
    return this.#end();
  }

  /** Adds the trains of several inputs, neuron by neuron. @param cursor of the first train */
  #addEach(
    inputs: readonly Input[],
    layered: readonly (LayeredTrain | undefined)[],
    part: Part,
    cursor: number,
    cursorBytes: number,
  ): void {
    let words = this.#words();
    const wordsOf = (neuron: number): IdWords => {
      // Memory that grew meanwhile detached this view.
      if (words.length === 0) words = this.#words();
      return [words[2 * neuron]!, words[2 * neuron + 1]!];
    };
    const adders = inputs.map(({ train }, at) =>
      train.kind === 'spikes' ? this.#adderOfGiven(train, part) : this.#adderOf(layered[at]!, part, wordsOf),
    );
    let next = cursor;
    forEachTrain(inputs, (neuron, input, index) => {
      adders[input]!(neuron, index, next);
      next += cursorBytes;
    });
  }

  /** Adds trains of one rate, all of them in one call. */
  #addTrains(
    neurons: Uint32Array,
    train: LayeredTrain,
    part: Part,
    cursors: number,
    cursorBytes: number,
  ): void {
    const { kernel } = this;
    const { layers, layerCount } = this.#writeTrain(train, courseOf(train.rateHz, 0), part);
    const { counter, key } = train.streamOf(0, NO_ID);
    const address = this.#write(neurons, kernel.lend(neurons.byteLength));
    kernel.addTrains(
      address,
      neurons.length,
      this.#idWords,
      layers,
      layerCount,
      cursors,
      cursorBytes,
      counter[2],
      key[0],
      key[1],
    );
  }

  /** Draws an input of background, whose trains have few events, in one call. */
  drawSparse({ neurons: given, train }: Input & { train: BackgroundTrain }, part: Part, neuronId: NeuronId) {
    const neurons = isAscending(given) ? given : given.slice().sort();
    this.#knowIds(neurons, neuronId);
    const layered = layeredTrain(train);
    this.#begin([layered], part);
    const { layers, layerCount } = this.#writeTrain(layered, courseOf(train.rateHz, 0), part);
    const { counter, key } = layered.streamOf(0, NO_ID);
    // The kernel reads four at a time.
    const list = new Uint32Array(4 * Math.ceil(neurons.length / 4));
    list.set(neurons);
    const address = this.#write(list, this.kernel.lend(list.byteLength));
    this.kernel.addSparseTrains(
      address,
      neurons.length,
      this.#idWords,
      layers,
      layerCount,
      counter[2],
      key[0],
      key[1],
    );
    return this.#end();
  }

  /** Begins a trial, after its tables are written: its events lie behind these. */
  #begin(trains: readonly (LayeredTrain | undefined)[], { startStep, endStep }: Part): void {
    for (const { intervals } of trains.flatMap((train) => train?.layers ?? [])) {
      if (this.#tables.has(intervals)) continue;
      const { guide, guideShift, cumulative } = intervals;
      const address = this.kernel.keep(TABLE_HEAD_BYTES + guide.byteLength + cumulative.byteLength);
      this.#write(Uint32Array.of(cumulative.length, guideShift), address);
      this.#write(guide, address + TABLE_HEAD_BYTES);
      this.#write(cumulative, address + TABLE_HEAD_BYTES + guide.byteLength);
      this.#tables.set(intervals, address);
    }
    this.kernel.beginTrial(endStep - startStep);
  }

  /** @returns a function that adds the events of a neuron, given it and its index in the input */
  #adderOfGiven(train: GivenTrain, { startStep, endStep }: Part) {
    const { kernel } = this;
    return (neuron: number, index: number) => {
      kernel.beginTrain();
      const steps = givenSteps(train, index);
      const end = firstNotBelow(steps, endStep);
      for (let at = firstNotBelow(steps, startStep); at < end; at++) {
        kernel.addEvent(steps[at]! - startStep, neuron);
      }
    };
  }

  /** @returns the same of trains that are drawn */
  #adderOf(train: LayeredTrain, part: Part, wordsOf: (neuron: number) => IdWords) {
    const { kernel } = this;
    const { rateHz, streamOf } = train;
    const trains =
      typeof rateHz === 'number'
        ? [this.#writeTrain(train, courseOf(rateHz, 0), part)]
        : coursesOf(rateHz).map((course) => this.#writeTrain(train, course, part));
    const courses = typeof rateHz === 'number' ? undefined : rateHz.courses;
    return (neuron: number, index: number, cursors: number) => {
      const { layers, layerCount } = trains[courses === undefined ? 0 : courses[index]!]!;
      const { counter, key } = streamOf(index, () => wordsOf(neuron));
      // Written out: a call with spread arguments takes longer than a short train.
      kernel.addTrain(
        neuron,
        layers,
        layerCount,
        cursors,
        counter[0],
        counter[1],
        counter[2],
        key[0],
        key[1],
      );
    };
  }

  /** Writes the layers that have events in a part, epoch by epoch. */
  #writeTrain(
    { layers, startStep, endStep }: LayeredTrain,
    { steps: changes, ratesHz: rates }: RateCourse,
    part: Part,
  ): WrittenTrain {
    const start = Math.max(startStep, part.startStep);
    const end = Math.min(endStep, part.endStep);
    const [first, last] = [firstNotBelow(changes, start + 1) - 1, firstNotBelow(changes, end)];
    const [steps, ratesHz] = [changes.subarray(first, last), rates.subarray(first, last)];
    const changeCount = steps.length;
    const course =
      changeCount < 2 ? 0 : this.#write(ratesHz, this.kernel.lend(ratesHz.byteLength + steps.byteLength));
    if (changeCount > 1) this.#write(steps, course + ratesHz.byteLength);
    const topHz = ratesHz.reduce((most, rateHz) => Math.max(most, rateHz), 0);
    const addresses: number[] = [];
    for (const epoch of epochsIn(start, end)) {
      const { number, startStep: origin } = epoch;
      for (const [at, layer] of layers.entries()) {
        const share = shareOf(layer, topHz);
        if (!(share > 0)) break;
        const { intervals, fromHz, toHz } = layer;
        // Behind the last rate that reaches into a layer there is nothing to draw.
        const lastRate = ratesHz.findLastIndex((rateHz) => rateHz > fromHz);
        const endOfLayer = Math.min(epoch.endStep, steps[lastRate + 1] ?? Infinity) - origin;
        addresses.push(
          this.kernel.addLayer(
            this.#tables.get(intervals)!,
            at,
            number + 1,
            origin,
            origin - part.startStep,
            firstBlockOf(layer, epoch),
            Math.max(start - origin, 0),
            Math.max(endOfLayer, 0),
            course,
            changeCount,
            fromHz,
            toHz,
            share * WORD_RANGE,
            intervals.cumulative[endOfLayer - 1] ?? WORD_RANGE,
          ),
        );
      }
    }
    return { layers: addresses[0] ?? 0, layerCount: addresses.length };
  }

  #knowIds(neurons: Uint32Array, neuronId: NeuronId): void {
    if (neuronId !== this.#knownBy) this.#known.fill(0);
    this.#knownBy = neuronId;
    const words = this.#words();
    for (let at = 0; at < neurons.length; at++) {
      const neuron = neurons[at]!;
      if (this.#known[neuron] === 1) continue;
      words.set(idWordsOf(neuronId(neuron)), 2 * neuron);
      this.#known[neuron] = 1;
    }
  }

  #words(): Uint32Array {
    return new Uint32Array(this.kernel.memory.buffer, this.#idWords, 2 * NEURON_RANGE);
  }

  #end(): Pick<InputEvents, 'steps' | 'neurons'> {
    const count = this.kernel.endTrial();
    const { memory, eventSteps, eventNeurons } = this.kernel;
    return {
      steps: new Uint16Array(memory.buffer, eventSteps.value, count).slice(),
      neurons: new Uint32Array(memory.buffer, eventNeurons.value, count).slice(),
    };
  }

  /** @returns the address */
  #write<T extends Uint16Array | Uint32Array | Float64Array>(values: T, address: number): number {
    const TypedArray = values.constructor as new (buffer: ArrayBuffer, at: number, length: number) => T;
    new TypedArray(this.kernel.memory.buffer, address, values.length).set(values);
    return address;
  }
}

/** Tells whether all neurons of an input have trains of one rate, or of one course of rates. */
function isOfOneRate(train: Train): boolean {
  return train.kind === 'poisson' && (typeof train.rateHz === 'number' || train.rateHz.courses === undefined);
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

/** Neurons of a brain, and of an input. */
const NEURON_RANGE = 2 ** 18;
/** Neuron, input and index in one exact number. */
const INPUT_STRIDE = NEURON_RANGE;
const NEURON_STRIDE = INPUT_STRIDE * 2 ** 16;

function isAscending(neurons: Uint32Array): boolean {
  for (let i = 1; i < neurons.length; i++) if (neurons[i]! < neurons[i - 1]!) return false;
  return true;
}

function brokenInvariant(): never {
  throw new Error('the drawing of trains failed an internal check');
}
