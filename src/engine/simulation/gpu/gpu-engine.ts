/**
 * Simulates a batch of trials at once on a GPU, with integers (number-format.ts) instead of the CPU engines' doubles. A
 * trial is certified if v stayed so far from the threshold that the CPU engines must find the same spikes. A trial
 * without this certificate must be computed on the CPU.
 */
import gpujs, { type GPU } from 'gpu.js';
import type { Wiring } from '../../connectome/connectome.js';
import { CodedError } from '../../errors.js';
import { maxSpikesOf, type BatchLists } from './batch-results.js';
import { spikeSlots, type BatchTables } from './batch-tables.js';
import { incomingConnections, type IncomingConnections } from './incoming.js';
import { fits, largestArrayBytes, type BatchRoom, type PipelineShape } from './pipeline-shape.js';
import { windowPipeline, type PipelineResult, type WindowPipeline } from './window-pipeline.js';

export interface GpuEngineOptions {
  /** `cpu` runs the same kernels as slow JavaScript, for tests without a GPU. */
  readonly mode: 'webgpu' | 'cpu';
  /** The possible numbers of trials side by side in a pipeline: powers of two, ascending. */
  readonly widths?: readonly number[];
  /** The adapter's limits for an array that a kernel binds and for a readback. */
  readonly largestArrayBytes?: number;
  readonly largestBufferBytes?: number;
}

const DEFAULT_WIDTHS = [1, 8, 32, 64];
/** The number of compiled pipelines. Each holds the wiring and the state on the GPU. */
const PIPELINES = 4;
/** A batch with a larger readback is split, because this thread needs the memory twice. */
const MAX_READBACK_BYTES = 2 ** 29;
/**
 * A pipeline with this many times the needed slots is replaced. Below that it stays, because another one takes seconds
 * to compile.
 */
const SPIKES_TOO_MANY = 4;

export class GpuEngine {
  readonly #gpu: GPU;
  readonly #incoming: IncomingConnections;
  readonly room: BatchRoom;
  /** The slots for spikes of the next batch, which is probably like the last. */
  #spikes = spikeSlots(0);
  /** The pipelines that no batch uses, the most recently used last. */
  readonly #idle: { readonly key: string; readonly pipeline: WindowPipeline }[] = [];
  #inUse = 0;

  /** @throws CodedError GPU_UNAVAILABLE if the wiring is too large for this number format or the adapter */
  constructor(
    private readonly wiring: Wiring,
    private readonly options: GpuEngineOptions,
  ) {
    this.#incoming = incomingConnections(wiring);
    const { groupCount, chunkCount } = this.#incoming;
    const {
      widths = DEFAULT_WIDTHS,
      largestArrayBytes: limit = Infinity,
      largestBufferBytes = Infinity,
    } = options;
    const sizes = { neuronCount: wiring.neuronCount, groupCount, chunkCount };
    const needed = (width: number) => largestArrayBytes(sizes, smallestShape(width));
    this.room = {
      ...sizes,
      widths: widths.filter((width) => needed(width) <= limit),
      largestArrayBytes: limit,
      largestReadbackBytes: Math.min(MAX_READBACK_BYTES, largestBufferBytes),
    };
    if (this.room.widths.length === 0) {
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `One trial needs an array of ${needed(widths[0]!)} bytes; the adapter binds at most ${limit}.`,
      );
    }
    this.#gpu = new gpujs.GPU({ mode: options.mode });
  }

  /**
   * Simulates a batch. It may be called again before it has resolved; then the next batch is submitted while the GPU
   * computes this one.
   * @param tables must be made for this engine's room
   * @returns undefined if the adapter has no room for the batch
   * @throws CodedError GPU_FAILED if the device is lost or refuses the work
   */
  async simulate(tables: BatchTables): Promise<BatchLists | undefined> {
    return (await this.simulateWithState(tables, false))?.result.lists;
  }

  /** The same with the state at the end of the batch, for tests of every bit. */
  async simulateWithState(
    tables: BatchTables,
    withState = true,
  ): Promise<{ readonly shape: PipelineShape; readonly result: PipelineResult } | undefined> {
    for (;;) {
      const shape = { ...tables.shape, spikes: this.#spikes, withState };
      if (!fits(this.room, shape)) {
        // Later batches begin with few slots again, or none would ever fit.
        if (this.#spikes === shape.spikes) this.#spikes = spikeSlots(0);
        return undefined;
      }
      const result = await this.#run(tables, shape);
      const maxSpikes = maxSpikesOf(result.lists);
      const wanted = spikeSlots(maxSpikes);
      const isTooMany = SPIKES_TOO_MANY * wanted <= shape.spikes;
      // A busier batch may have raised #spikes while this one was in flight.
      if (wanted > this.#spikes || (isTooMany && shape.spikes === this.#spikes)) this.#spikes = wanted;
      if (maxSpikes < shape.spikes) return { shape, result };
    }
  }

  /** Releases the GPU. Call it only if no batch is in flight. */
  async destroy(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(({ pipeline }) => pipeline.destroy()));
    await this.#gpu.destroy();
  }

  async #run(tables: BatchTables, shape: PipelineShape): Promise<PipelineResult> {
    // A pipeline gets one batch at a time. It would submit a second one only after the readback of the first, and it
    // rejects queued batches when it is destroyed.
    const key = JSON.stringify(shape);
    const found = this.#idle.findLastIndex((each) => each.key === key);
    let result: PipelineResult;
    try {
      const pipeline = found < 0 ? this.#newPipeline(shape) : this.#idle.splice(found, 1)[0]!.pipeline;
      this.#inUse++;
      try {
        result = await pipeline.run(tables);
      } finally {
        this.#inUse--;
        this.#idle.push({ key, pipeline });
      }
    } catch (error) {
      const message = `The GPU gave up on a batch: ${(error as Error).message}`;
      throw new CodedError('GPU_FAILED', message, { cause: error });
    }
    if (result.backend !== this.options.mode) {
      // gpu.js falls back to another backend silently. Its results would be right, but slow.
      throw new CodedError(
        'GPU_FAILED',
        `The kernels should run on ${this.options.mode}, but ran on ${result.backend}: ${result.fallbackReason}.`,
      );
    }
    return result;
  }

  #newPipeline(shape: PipelineShape): WindowPipeline {
    while (this.#idle.length > 0 && this.#idle.length + this.#inUse >= PIPELINES) {
      // A lost device refuses it, and the next batch tells so.
      this.#idle
        .shift()!
        .pipeline.destroy()
        .catch(() => undefined);
    }
    return windowPipeline(this.#gpu, this.wiring.neuronCount, this.#incoming, shape);
  }
}

function smallestShape(width: number): PipelineShape {
  return { width, windows: 1, stimulated: 1, silenced: 1, layers: 1, spikes: 1, withState: false };
}
