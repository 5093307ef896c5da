/**
 * Draws input events in WebAssembly, with the same result as input-events.ts, which is written to be read.
 *
 * The head of trains.ts explains the terms. This file writes tables and layers into the kernel's memory and calls the
 * kernel. Tables of intervals and the ids of neurons stay there; all else is released when the next trial begins.
 */
import { instantiated, viewOf } from '../instantiated.js';
import { firstNotBelow } from '../connectome/sorted-array.js';
import {
  CURSOR_WORDS,
  cursorBytes,
  givenSteps,
  splitInputs,
  stimulatedBy,
  trainsWithCursors,
  type DrawInputEvents,
  type InputEvents,
  type Segment,
  type TrainCursors,
} from './input-events.js';
import { WORD_RANGE, type IntervalTable } from './intervals.js';
import {
  MAX_WHOLE_TRIAL_STEPS,
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
  layeredTrain,
  shareOf,
} from './trains.js';

/** The exports of kernel/kernel.ts, which documents the parameters. */
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

/** Must equal the constant in kernel.ts. */
const TABLE_HEAD_BYTES = 16;

/** Passed if the kernel reads the words of ids itself. */
const NO_ID = (): IdWords => [0, 0];

type NeuronId = (neuron: number) => string;

/**
 * @param module the compiled dist/engine/stimulus/kernel/kernel.wasm; threads can share it
 */
export function compiledDrawing(module: WebAssembly.Module): DrawInputEvents {
  const drawing = new Drawing(instantiated<Kernel>(module, 'the drawing of trains'));
  return ({ inputs: all, durationSteps, startStep = 0 }, neuronId, cursors) => {
    const { inputs, background } = splitInputs(all);
    const segment = { startStep, endStep: startStep + durationSteps };
    const events = { stimulated: stimulatedBy(inputs), ...drawing.draw(inputs, segment, neuronId, cursors) };
    if (background === undefined) return events;
    const drawn = drawing.drawSparse(background, segment, neuronId);
    return { ...events, background: { ...drawn, eventMv: background.train.eventMv } };
  };
}

/** Cursors for the first segment of a trial, in shared memory. */
export function newCursors(inputs: readonly Input[]): TrainCursors {
  return new Uint32Array(new SharedArrayBuffer(cursorBytes(trainsWithCursors(inputs))));
}

class Drawing {
  /** The address of each table in the kernel's memory. */
  readonly #tables = new Map<IntervalTable, number>();
  /** The address of the neurons' id words, two each: a cache, because computing those of a whole brain takes long. */
  readonly #idWords: number;
  readonly #known = new Uint8Array(NEURON_RANGE);
  #knownBy: NeuronId | undefined;

  constructor(private readonly kernel: Kernel) {
    kernel.layOut(MAX_WHOLE_TRIAL_STEPS);
    // The system gives memory to pages only when they are written.
    this.#idWords = kernel.keep(2 * NEURON_RANGE * Uint32Array.BYTES_PER_ELEMENT);
  }

  draw(inputs: readonly Input[], segment: Segment, neuronId: NeuronId, cursors?: TrainCursors) {
    const { kernel } = this;
    const layered = inputs.map(({ train }) => (train.kind === 'spikes' ? undefined : layeredTrain(train)));
    this.#begin(layered, segment);
    const address = cursors === undefined ? 0 : this.#write(cursors, kernel.lend(cursors.byteLength));
    const cursorBytes = cursors === undefined ? 0 : cursors.BYTES_PER_ELEMENT * CURSOR_WORDS;
    for (const { neurons, train } of inputs) if (train.kind === 'poisson') this.#knowIds(neurons, neuronId);
    const [only] = inputs;
    if (inputs.length === 1 && isAscending(only!.neurons) && isOfOneRate(only!.train)) {
      this.#addTrains(only!.neurons, layered[0]!, segment, address, cursorBytes);
    } else {
      this.#addEach(inputs, layered, segment, address, cursorBytes);
    }
    cursors?.set(new Uint32Array(kernel.memory.buffer, address, cursors.length));
    return this.#end();
  }

  /**
   * Adds the trains of several inputs, neuron by neuron.
   * @param cursor the address of the first train's cursors. They lie input by input, as if each input were drawn by itself
   */
  #addEach(
    inputs: readonly Input[],
    layered: readonly (LayeredTrain | undefined)[],
    segment: Segment,
    cursor: number,
    cursorBytes: number,
  ): void {
    let words = this.#words();
    const wordsOf = (neuron: number): IdWords => {
      // The view is detached if the memory grew meanwhile.
      if (words.length === 0) words = this.#words();
      return [words[2 * neuron]!, words[2 * neuron + 1]!];
    };
    const adders = inputs.map(({ train }, at) =>
      train.kind === 'spikes'
        ? this.#adderOfGiven(train, segment)
        : this.#adderOf(layered[at]!, segment, wordsOf),
    );
    let trains = 0;
    const firstTrains = inputs.map(({ neurons }) => (trains += neurons.length) - neurons.length);
    forEachTrain(inputs, (neuron, input, index) => {
      adders[input]!(neuron, index, cursor + (firstTrains[input]! + index) * cursorBytes);
    });
  }

  /** Adds all trains of an input in one call. They must share one course. */
  #addTrains(
    neurons: Uint32Array,
    train: LayeredTrain,
    segment: Segment,
    cursors: number,
    cursorBytes: number,
  ): void {
    const [trains, stream] = this.#writeTrains(neurons, train, segment);
    this.kernel.addTrains(...trains, cursors, cursorBytes, ...stream);
  }

  /** Draws a background input, whose trains have few events, in one call. */
  drawSparse(
    { neurons: given, train }: Input & { train: BackgroundTrain },
    segment: Segment,
    neuronId: NeuronId,
  ) {
    const neurons = isAscending(given) ? given : given.slice().sort();
    this.#knowIds(neurons, neuronId);
    const layered = layeredTrain(train);
    this.#begin([layered], segment);
    const [trains, stream] = this.#writeTrains(neurons, layered, segment);
    this.kernel.addSparseTrains(...trains, ...stream);
    return this.#end();
  }

  /** @returns the arguments that describe trains of one course, and those of their random numbers */
  #writeTrains(neurons: Uint32Array, train: LayeredTrain, segment: Segment) {
    const { layers, layerCount } = this.#writeTrain(train, courseOf(train.rateHz, 0), segment);
    const { counter, key } = train.streamOf(0, NO_ID);
    // The kernel may read four at a time.
    const list = new Uint32Array(4 * Math.ceil(neurons.length / 4));
    list.set(neurons);
    const address = this.#write(list, this.kernel.lend(list.byteLength));
    return [
      [address, neurons.length, this.#idWords, layers, layerCount],
      [counter[2], ...key],
    ] as const;
  }

  /** Writes the tables that are missing and begins a trial. Tables first: the memory after them belongs to the trial. */
  #begin(trains: readonly (LayeredTrain | undefined)[], { startStep, endStep }: Segment): void {
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

  /** @returns a function that adds the given events of a neuron, by the neuron and its position in the input */
  #adderOfGiven(train: GivenTrain, { startStep, endStep }: Segment) {
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

  /** @returns the same function for trains that are drawn */
  #adderOf(train: LayeredTrain, segment: Segment, wordsOf: (neuron: number) => IdWords) {
    const { kernel } = this;
    const { rateHz, streamOf } = train;
    const trains = coursesOf(rateHz).map((course) => this.#writeTrain(train, course, segment));
    const courses = typeof rateHz === 'number' ? undefined : rateHz.courses;
    return (neuron: number, index: number, cursors: number) => {
      const { layers, layerCount } = trains[courses === undefined ? 0 : courses[index]!]!;
      const { counter, key } = streamOf(index, () => wordsOf(neuron));
      // No spread of counter and key: such a call takes longer than drawing a short train.
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

  /** Writes the layers that can have events in a segment, epoch by epoch. @returns their address and number */
  #writeTrain(
    { layers, startStep, endStep }: LayeredTrain,
    { steps: changes, ratesHz: rates }: RateCourse,
    segment: Segment,
  ) {
    const start = Math.max(startStep, segment.startStep);
    const end = Math.min(endStep, segment.endStep);
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
        // A layer ends when the last rate that reaches into it ends.
        const lastRate = ratesHz.findLastIndex((rateHz) => rateHz > fromHz);
        const endOfLayer = Math.min(epoch.endStep, steps[lastRate + 1] ?? Infinity) - origin;
        addresses.push(
          this.kernel.addLayer(
            this.#tables.get(intervals)!,
            at,
            number + 1,
            origin,
            origin - segment.startStep,
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
    return {
      steps: viewOf(this.kernel, Uint16Array, 'eventSteps', count).slice(),
      neurons: viewOf(this.kernel, Uint32Array, 'eventNeurons', count).slice(),
    };
  }

  /** @returns the address it was given */
  #write<T extends Uint16Array | Uint32Array | Float64Array>(values: T, address: number): number {
    const TypedArray = values.constructor as new (buffer: ArrayBuffer, at: number, length: number) => T;
    new TypedArray(this.kernel.memory.buffer, address, values.length).set(values);
    return address;
  }
}

/** Tells whether the neurons of a Poisson input all have the same course. */
function isOfOneRate(train: Train): boolean {
  return train.kind === 'poisson' && (typeof train.rateHz === 'number' || train.rateHz.courses === undefined);
}

/** Visits the trains of all inputs in the order of the neurons, then of the inputs, then of the positions. */
function forEachTrain(
  inputs: readonly Input[],
  visit: (neuron: number, input: number, index: number) => void,
): void {
  if (inputs.length === 1 && isAscending(inputs[0]!.neurons)) {
    inputs[0]!.neurons.forEach((neuron, index) => visit(neuron, 0, index));
    return;
  }
  // Each train becomes one number, because a comparison function would take most of the time.
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

/** Above the number of neurons of any brain, and of any input. */
const NEURON_RANGE = 2 ** 18;
/** A neuron, an input (below 2^16) and a position fit in one exact double. */
const INPUT_STRIDE = NEURON_RANGE;
const NEURON_STRIDE = INPUT_STRIDE * 2 ** 16;

function isAscending(neurons: Uint32Array): boolean {
  for (let i = 1; i < neurons.length; i++) if (neurons[i]! < neurons[i - 1]!) return false;
  return true;
}
