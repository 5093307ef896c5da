/**
 * Simulates a batch of experiments at once on a GPU, with integers (see number-format.ts) instead of the
 * doubles of the CPU engines. Every run comes with a certificate: whether v kept so far from the threshold
 * that the CPU engines must have found the very same spikes. A run without it has to be computed on the CPU.
 */
import gpujs, { type GPU } from 'gpu.js';
import { LRUCache } from 'lru-cache';
import type { Wiring } from '../../../connectome/connectome.js';
import { CodedError } from '../../../errors.js';
import type { InputEvents } from '../../../experiment/input-events.js';
import type { SpikeRaster } from '../../simulation.js';
import { CELLS_PER_FLOAT, cellsOf } from './cells.js';
import { incomingConnections, type IncomingConnections } from './incoming.js';
import {
  largestArrayBytes,
  NO_CELL,
  PACKED_VALUES,
  SIGN_OF_LIFE,
  WINDOW_STEPS,
  windowPipeline,
  type PipelineResult,
  type PipelineShape,
  type WindowPipeline,
} from './kernels.js';

export interface GpuRun {
  readonly raster: SpikeRaster;
  /** True when the raster is the one that the CPU engines compute. */
  readonly certified: boolean;
}

export interface GpuEngineOptions {
  /** `cpu` runs the same kernels as JavaScript, slowly: for tests without a GPU. */
  readonly mode: 'webgpu' | 'cpu';
  /** Powers of two, ascending: how many experiments a pipeline can hold side by side. */
  readonly widths?: readonly number[];
  /** Of the adapter; widths that need larger arrays are left out. */
  readonly largestArrayBytes?: number;
}

const DEFAULT_WIDTHS = [1, 8, 32];
/** Pipelines kept compiled; each holds buffers on the GPU. */
const PIPELINES = 8;
const FEWEST_SLOTS = 64;

export class GpuEngine {
  readonly #gpu: GPU;
  readonly #incoming: IncomingConnections;
  /** Experiments that a pipeline can hold side by side, ascending. */
  readonly widths: readonly number[];
  readonly #pipelines = new LRUCache<string, WindowPipeline>({
    max: PIPELINES,
    dispose: (pipeline) => void pipeline.destroy(),
  });

  /** @throws CodedError GPU_UNAVAILABLE when the wiring is too large for this number format or the adapter */
  constructor(
    private readonly wiring: Wiring,
    private readonly options: GpuEngineOptions,
  ) {
    this.#incoming = incomingConnections(wiring);
    const { widths = DEFAULT_WIDTHS, largestArrayBytes: limit = Infinity } = options;
    const { neuronCount } = wiring;
    this.widths = widths.filter((width) => largestArrayBytes(neuronCount, this.#incoming, width) <= limit);
    if (this.widths.length === 0) {
      const needed = largestArrayBytes(neuronCount, this.#incoming, widths[0]!);
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `One experiment needs an array of ${needed} bytes; the adapter binds at most ${limit}.`,
      );
    }
    this.#gpu = new gpujs.GPU({ mode: options.mode });
  }

  /** Experiments that one submission can hold. */
  get widest(): number {
    return this.widths.at(-1)!;
  }

  /**
   * @param trains one for each experiment, any number; more than fit side by side run one batch after another
   * @param durationSteps steps of 0.1 ms, the same for all
   * @returns the runs in the order of the trains
   * @throws CodedError GPU_FAILED when the device is lost or refuses the work
   */
  async simulateBatch(trains: readonly InputEvents[], durationSteps: number): Promise<GpuRun[]> {
    const runs: GpuRun[] = [];
    while (runs.length < trains.length) {
      const batch = trains.slice(runs.length, runs.length + this.widest);
      const { shape, result } = await this.#submit(batch, durationSteps, false);
      runs.push(...this.#decode(batch, durationSteps, shape, result));
    }
    return runs;
  }

  /** One batch with the state at its end: for tests of every bit. */
  async simulateWithState(
    trains: readonly InputEvents[],
    durationSteps: number,
  ): Promise<{ runs: GpuRun[]; stateFloats(experiment: number, neuron: number): number[] }> {
    const { shape, result } = await this.#submit(trains, durationSteps, true);
    const { rowLength } = cellsOf(this.wiring.neuronCount, shape.width);
    return {
      runs: this.#decode(trains, durationSteps, shape, result),
      stateFloats: (experiment, neuron) => {
        const cell = neuron * shape.width + experiment;
        return result.state!.map((layer) => layer[Math.floor(cell / rowLength)]![cell % rowLength]!);
      },
    };
  }

  async destroy(): Promise<void> {
    this.#pipelines.clear();
    await this.#gpu.destroy();
  }

  async #submit(
    trains: readonly InputEvents[],
    durationSteps: number,
    withState: boolean,
  ): Promise<{ shape: PipelineShape; result: PipelineResult }> {
    const stimulated = trains.reduce((sum, train) => sum + train.stimulated.length, 0);
    const shape: PipelineShape = {
      width: this.widths.find((width) => width >= trains.length)!,
      windows: Math.ceil(durationSteps / WINDOW_STEPS),
      slots: Math.max(FEWEST_SLOTS, 2 ** Math.ceil(Math.log2(stimulated + 1))),
      withState,
    };
    const { stimulatedCells, kicks } = kickTable(trains, shape);
    let result: PipelineResult;
    try {
      result = await this.#pipelineFor(shape).run(stimulatedCells, kicks);
    } catch (error) {
      throw new CodedError('GPU_FAILED', `The GPU gave up on a batch: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (result.backend !== this.options.mode) {
      // gpu.js falls back to another backend without a word; its results would be right, but not a GPU's.
      throw new CodedError(
        'GPU_FAILED',
        `The kernels should run on ${this.options.mode}, but ran on ${result.backend}: ${result.fallbackReason}.`,
      );
    }
    // gpu.js logs what the device refuses, for want of memory say, and hands out the zeros of an empty buffer.
    if (result.slotSpikes.some((slots) => slots.at(-1) !== SIGN_OF_LIFE)) {
      throw new CodedError('GPU_FAILED', 'The GPU refused a batch, perhaps for want of memory.');
    }
    return { shape, result };
  }

  #pipelineFor(shape: PipelineShape): WindowPipeline {
    const key = `${shape.width} ${shape.windows} ${shape.slots} ${shape.withState}`;
    let pipeline = this.#pipelines.get(key);
    if (pipeline === undefined) {
      pipeline = windowPipeline(this.#gpu, this.wiring.neuronCount, this.#incoming, shape);
      this.#pipelines.set(key, pipeline);
    }
    return pipeline;
  }

  #decode(
    trains: readonly InputEvents[],
    durationSteps: number,
    { width, slots }: PipelineShape,
    { packed, slotSpikes, sound }: PipelineResult,
  ): GpuRun[] {
    const perExperiment = trains.map(() => new SpikeLists(durationSteps));
    const cellOfSlot = kickTableOrder(trains, width);
    packed.forEach((floats, window) => {
      // Two floats at a time: nearly all of them are zero, and a float of 0 is a bit pattern of 0.
      const firstStep = window * WINDOW_STEPS;
      forEachNonZero(floats, (at) => {
        let digits = floats[at]!;
        for (let k = CELLS_PER_FLOAT - 1; k >= 0; k--) {
          const rest = Math.floor(digits / PACKED_VALUES);
          const value = digits - rest * PACKED_VALUES;
          digits = rest;
          if (value > 0) {
            const cell = at * CELLS_PER_FLOAT + k;
            perExperiment[cell % width]?.add(firstStep + value - 1, Math.floor(cell / width));
          }
        }
      });
      for (let slot = 0; slot < Math.min(cellOfSlot.length, slots); slot++) {
        const cell = cellOfSlot[slot]!;
        for (let bits = slotSpikes[window]![slot]!, step = firstStep; bits > 0; bits >>= 1, step++) {
          if (bits & 1) perExperiment[cell % width]!.add(step, Math.floor(cell / width));
        }
      }
    });
    return perExperiment.map((lists, experiment) => ({
      raster: lists.toRaster(),
      // Counted and not taken for granted: nobody's zeros may pass for a run without a flag.
      certified: sound.reduce((sum, chunk) => sum + chunk[experiment]!, 0) === this.wiring.neuronCount,
    }));
  }
}

/** Cells of all stimulated neurons, ascending: the place in this list is the slot of a cell. */
function kickTableOrder(trains: readonly InputEvents[], width: number): Float64Array {
  const cells = trains.flatMap(({ stimulated }, experiment) =>
    Array.from(stimulated, (neuron) => neuron * width + experiment),
  );
  return Float64Array.from(cells).sort();
}

function kickTable(trains: readonly InputEvents[], { width, windows, slots }: PipelineShape) {
  const order = kickTableOrder(trains, width);
  const stimulatedCells = new Float32Array(slots).fill(NO_CELL);
  stimulatedCells.set(order);
  const slotOfCell = new Map<number, number>();
  order.forEach((cell, slot) => slotOfCell.set(cell, slot));
  const kicks = new Float32Array(windows * slots);
  trains.forEach(({ steps, neurons }, experiment) => {
    for (let k = 0; k < steps.length; k++) {
      const window = Math.floor(steps[k]! / WINDOW_STEPS);
      if (window >= windows) break;
      const slot = slotOfCell.get(neurons[k]! * width + experiment)!;
      const bit = 2 ** (steps[k]! % WINDOW_STEPS);
      const table = window * slots + slot;
      if ((kicks[table]! & bit) !== 0) {
        throw new CodedError(
          'GPU_FAILED',
          `The GPU takes one input event a neuron and step; neuron ${neurons[k]} has two in step ${steps[k]}.`,
        );
      }
      kicks[table]! += bit;
    }
  });
  return { stimulatedCells, kicks };
}

/** Calls back with the index of every number that is not 0. */
function forEachNonZero(floats: Float32Array, found: (index: number) => void): void {
  const isAligned = floats.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0;
  const pairs = isAligned ? Math.floor(floats.length / 2) : 0;
  const asPairs = new Float64Array(floats.buffer, isAligned ? floats.byteOffset : 0, pairs);
  for (let pair = 0; pair < pairs; pair++) {
    if (asPairs[pair] !== 0) {
      if (floats[2 * pair] !== 0) found(2 * pair);
      if (floats[2 * pair + 1] !== 0) found(2 * pair + 1);
    }
  }
  for (let i = 2 * pairs; i < floats.length; i++) {
    if (floats[i] !== 0) found(i);
  }
}

/** Collects spikes that come by window, and within it by neuron, and orders them by step, then by neuron. */
class SpikeLists {
  readonly #neuronsOfStep: number[][];

  constructor(durationSteps: number) {
    this.#neuronsOfStep = Array.from({ length: durationSteps }, () => []);
  }

  /** Spikes of the last window that come after the end of the run are not part of it. */
  add(step: number, neuron: number): void {
    this.#neuronsOfStep[step]?.push(neuron);
  }

  toRaster(): SpikeRaster {
    const total = this.#neuronsOfStep.reduce((sum, neurons) => sum + neurons.length, 0);
    const raster = { steps: new Uint16Array(total), neurons: new Uint32Array(total) };
    let at = 0;
    this.#neuronsOfStep.forEach((neurons, step) => {
      raster.steps.fill(step, at, at + neurons.length);
      raster.neurons.set(neurons, at);
      raster.neurons.subarray(at, at + neurons.length).sort();
      at += neurons.length;
    });
    return raster;
  }
}
