/**
 * Simulates a batch of trials at once on a GPU, with integers (see number-format.ts) instead of the doubles of the CPU
 * engines. Every trial comes with a certificate: whether v kept so far from the threshold that the CPU engines must have
 * found the very same spikes. A trial without it has to be computed on the CPU.
 */
import gpujs, { type GPU } from 'gpu.js';
import { LRUCache } from 'lru-cache';
import type { Wiring } from '../../../connectome/connectome.js';
import { CodedError } from '../../../errors.js';
import type { InputEvents } from '../../../experiment/input-events.js';
import { checkDuration, type SimulationOptions, type Trial } from '../../simulation.js';
import { statePlace } from './cells.js';
import { withDeliveredEvents } from './event-budget.js';
import { incomingConnections, type IncomingConnections } from './incoming.js';
import {
  bytesOf,
  NO_NEURON,
  statusHasState,
  windowPipeline,
  type PipelineResult,
  type PipelineShape,
  type WindowPipeline,
} from './kernels.js';
import { WINDOW_STEPS } from './number-format.js';
import { mostSpikesOf, rastersOf } from './spike-lists.js';

export interface GpuTrial {
  readonly events: InputEvents;
  readonly options: SimulationOptions;
}

export interface GpuRun {
  readonly trial: Trial;
  /** True when the trial is the one that the CPU engines compute. */
  readonly certified: boolean;
}

export interface GpuEngineOptions {
  /** `cpu` runs the same kernels as JavaScript, slowly: for tests without a GPU. */
  readonly mode: 'webgpu' | 'cpu';
  /** Powers of two, ascending: how many trials a pipeline can hold side by side. */
  readonly widths?: readonly number[];
  /** Of the adapter, as are the next: no array that a kernel binds is larger. */
  readonly largestArrayBytes?: number;
  readonly largestBufferBytes?: number;
}

const DEFAULT_WIDTHS = [1, 8, 32, 64];
/**
 * Pipelines kept compiled; each holds the wiring and the state on the GPU. There are more than batches in flight, because
 * a pipeline that is destroyed rejects those that wait for it.
 */
const PIPELINES = 4;
/** A batch with more to read back is split: this thread needs the memory twice. */
const LARGEST_READBACK_BYTES = 2 ** 29;
const FEWEST_PLACES = 16;
const FEWEST_SPIKES = 128;
/** Places for spikes beyond those that a batch needed, for the next one. All places are read back. */
const SPARE_SPIKES = 1.25;
/**
 * A pipeline with so many times more places than needed is replaced. With fewer it is kept: another one takes seconds to
 * compile.
 */
const SPIKES_TOO_MANY = 4;

export class GpuEngine {
  readonly #gpu: GPU;
  readonly #incoming: IncomingConnections;
  readonly #outDegree: Uint32Array;
  /** Trials that a pipeline can hold side by side, ascending. */
  readonly widths: readonly number[];
  /** What the last batch needed: the next one is probably like it. */
  #spikes = FEWEST_SPIKES;
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
    const { neuronCount, rowStart } = wiring;
    this.#outDegree = Uint32Array.from({ length: neuronCount }, (_, i) => rowStart[i + 1]! - rowStart[i]!);
    const { widths = DEFAULT_WIDTHS, largestArrayBytes: limit = Infinity } = options;
    const needed = (width: number) =>
      bytesOf(wiring.neuronCount, this.#incoming, smallestShape(width)).largestArray;
    this.widths = widths.filter((width) => needed(width) <= limit);
    if (this.widths.length === 0) {
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `One experiment needs an array of ${needed(widths[0]!)} bytes; the adapter binds at most ${limit}.`,
      );
    }
    this.#gpu = new gpujs.GPU({ mode: options.mode });
  }

  /** Trials that one submission can hold. */
  get widest(): number {
    return this.widths.at(-1)!;
  }

  /**
   * May be called again before it has resolved: the next batch is submitted before rasters are made of the last.
   * @param trials any number, of any durations; more than fit side by side run one batch after another, and a batch takes
   *   as long as its longest trial
   * @returns the runs in the order of the trials; undefined for a trial that the adapter has no room for
   * @throws CodedError GPU_FAILED when the device is lost or refuses the work
   * @throws RangeError for a duration that is not 1 to MAXIMUM_TRIAL_STEPS
   */
  async simulateBatch(trials: readonly GpuTrial[]): Promise<(GpuRun | undefined)[]> {
    const runs: (GpuRun | undefined)[] = [];
    let most = this.widest;
    while (runs.length < trials.length) {
      const batch = trials.slice(runs.length, runs.length + most);
      const submitted = await this.#submit(batch, false);
      if (submitted !== undefined) {
        runs.push(...submitted.runs);
      } else if (batch.length > this.widths[0]!) {
        most = this.widths.findLast((width) => width < batch.length)!;
      } else {
        runs.push(...batch.map(() => undefined));
      }
    }
    return runs;
  }

  /** One batch with the state at its end: for tests of every bit. */
  async simulateWithState(trials: readonly GpuTrial[]): Promise<{
    runs: GpuRun[];
    /** Of which the state is the end: the batch's, in whole windows. */
    stateSteps: number;
    stateFloats(experiment: number, neuron: number): number[];
  }> {
    const { runs, shape, result } = (await this.#submit(trials, true))!;
    return {
      runs,
      stateSteps: shape.windows * WINDOW_STEPS,
      stateFloats: (experiment, neuron) => {
        const cell = neuron * shape.width + experiment;
        // Of a cell without a state nothing was written.
        const hasState = statusHasState(result.statuses![cell]!);
        return [0, 1, 2, 3].map((part) => (hasState ? result.states![statePlace(cell, part)]! + 0 : 0));
      },
    };
  }

  async destroy(): Promise<void> {
    this.#pipelines.clear();
    await this.#gpu.destroy();
  }

  /** @returns undefined when the adapter has no room for the batch */
  async #submit(
    trials: readonly GpuTrial[],
    withState: boolean,
  ): Promise<{ runs: GpuRun[]; shape: PipelineShape; result: PipelineResult } | undefined> {
    for (const { options } of trials) checkDuration(options.durationSteps);
    for (;;) {
      const shape = this.#shapeOf(trials, withState);
      if (!this.#fits(shape)) return undefined;
      const result = await this.#run(trials, shape);
      const mostSpikes = mostSpikesOf(result.spikes, shape);
      const wanted = powerOfTwo(Math.max(FEWEST_SPIKES, SPARE_SPIKES * mostSpikes));
      const isTooMany = SPIKES_TOO_MANY * wanted <= shape.spikes;
      // A busier batch may have raised it while this one was in flight.
      if (wanted > this.#spikes || (isTooMany && shape.spikes === this.#spikes)) this.#spikes = wanted;
      if (mostSpikes < shape.spikes) return { runs: this.#runsOf(trials, shape, result), shape, result };
    }
  }

  async #run(trials: readonly GpuTrial[], shape: PipelineShape): Promise<PipelineResult> {
    let result: PipelineResult;
    try {
      result = await this.#pipelineFor(shape).run(
        silencedTable(trials, shape),
        inputTable(trials, shape, this.wiring),
      );
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
    return result;
  }

  #fits(shape: PipelineShape): boolean {
    const { largestArrayBytes = Infinity, largestBufferBytes = Infinity } = this.options;
    const { largestArray, readback } = bytesOf(this.wiring.neuronCount, this.#incoming, shape);
    return (
      largestArray <= largestArrayBytes && readback <= Math.min(LARGEST_READBACK_BYTES, largestBufferBytes)
    );
  }

  #shapeOf(trials: readonly GpuTrial[], withState: boolean): PipelineShape {
    const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 1);
    return {
      width: this.widths.find((width) => width >= trials.length)!,
      windows: roundedWindows(
        Math.ceil(most(trials.map(({ options }) => options.durationSteps)) / WINDOW_STEPS),
      ),
      stimulated: placesFor(most(trials.map(({ events }) => events.stimulated.length))),
      silenced: placesFor(most(trials.map(({ options }) => options.silenced?.length ?? 0))),
      layers: powerOfTwo(most(trials.map(({ events }) => mostAtOnce(events)))),
      spikes: this.#spikes,
      withState,
    };
  }

  #pipelineFor(shape: PipelineShape): WindowPipeline {
    const key = JSON.stringify(shape);
    let pipeline = this.#pipelines.get(key);
    if (pipeline === undefined) {
      pipeline = windowPipeline(this.#gpu, this.wiring.neuronCount, this.#incoming, shape);
      this.#pipelines.set(key, pipeline);
    }
    return pipeline;
  }

  #runsOf(trials: readonly GpuTrial[], shape: PipelineShape, { spikes, sound }: PipelineResult): GpuRun[] {
    const durations = trials.map(({ options }) => options.durationSteps);
    const rasters = rastersOf(spikes, shape, durations);
    return trials.map(({ options }, experiment) => {
      // Counted and not taken for granted: nobody's zeros may pass for a trial without a flag.
      let soundNeurons = 0;
      for (let at = experiment; at < sound.length; at += shape.width) soundNeurons += sound[at]!;
      return {
        trial: withDeliveredEvents(rasters[experiment]!, this.#outDegree, options),
        certified: soundNeurons === this.wiring.neuronCount,
      };
    });
  }
}

const powerOfTwo = (atLeast: number) => 2 ** Math.ceil(Math.log2(atLeast));
const placesFor = (count: number) => powerOfTwo(Math.max(FEWEST_PLACES, count));

/** Up to a quarter more, so that few durations need a pipeline of their own. */
function roundedWindows(windows: number): number {
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(windows)) - 2);
  return Math.ceil(windows / unit) * unit;
}

function smallestShape(width: number): PipelineShape {
  return { width, windows: 1, stimulated: 1, silenced: 1, layers: 1, spikes: 1, withState: false };
}

/** How many events a neuron gets at most in one step. Equal events stand side by side. */
function mostAtOnce({ steps, neurons }: InputEvents): number {
  let most = 1;
  for (let at = 1, same = 1; at < steps.length; at++) {
    same = steps[at] === steps[at - 1] && neurons[at] === neurons[at - 1] ? same + 1 : 1;
    most = Math.max(most, same);
  }
  return most;
}

function ascending(neurons: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(neurons)).sort();
}

function silencedTable(
  trials: readonly GpuTrial[],
  { width, silenced: places }: PipelineShape,
): Float32Array {
  const table = new Float32Array(width * places).fill(NO_NEURON);
  trials.forEach(({ options }, experiment) =>
    table.set(ascending(options.silenced ?? new Uint32Array(0)), experiment * places),
  );
  return table;
}

/** See `inputs` in kernels.ts. */
function inputTable(
  trials: readonly GpuTrial[],
  { width, windows, stimulated: places, layers }: PipelineShape,
  { neuronCount }: Wiring,
): Float32Array {
  const rowLength = width * places;
  const table = new Float32Array(rowLength * (1 + windows * layers));
  table.fill(NO_NEURON, 0, rowLength);
  // Of the neurons that the trial stimulates; what other trials have left here is not read.
  const placeOf = new Uint32Array(neuronCount);
  trials.forEach(({ events, options }, experiment) => {
    const { steps, neurons, stimulated } = events;
    const ordered = ascending(stimulated);
    table.set(ordered, experiment * places);
    ordered.forEach((neuron, place) => (placeOf[neuron] = place));
    let layer = 0;
    for (let k = 0; k < steps.length && steps[k]! < options.durationSteps; k++) {
      layer = steps[k] === steps[k - 1] && neurons[k] === neurons[k - 1] ? layer + 1 : 0;
      const row = 1 + Math.floor(steps[k]! / WINDOW_STEPS) * layers + layer;
      const at = row * rowLength + experiment * places + placeOf[neurons[k]!]!;
      table[at]! += 1 << (steps[k]! % WINDOW_STEPS);
    }
  });
  return table;
}
