/**
 * The shape that a pipeline is compiled for, and the sizes of its arrays: needed also where there is no GPU.
 *
 * A state is that of one neuron in one trial, with the number (neuron << log2(width)) | trial: the states of a neuron in
 * all trials of a batch stand side by side and share the reads of its connections. A state has four parts; eight states
 * stand together, part by part, so that a warp has all their parts.
 */
import { CodedError } from '../../errors.js';
import { CHUNK_SUMS, GROUP_CONNECTIONS, type IncomingConnections } from './incoming.js';

/** Neurons whose activity stands in one float. */
export const WORD_NEURONS = 24;
/** Words that one thread counts up. */
export const BLOCK_WORDS = 64;
/** Neurons that one thread searches for flags. */
export const FLAG_NEURONS = 256;
/** Greater than every neuron: fills the unused slots of a list. */
export const NO_NEURON = 2 ** 24 - 1;
/** Bits for the step within its window in the number of a spike, see `spikes` in kernels.ts. */
export const STEP_BITS = 5;
/** The number of a spike is a float32, so it is below 2^24. */
const MAX_NEURONS = 2 ** (24 - STEP_BITS);
/** Threads are numbered by 32-bit integers. */
const MAX_THREADS = 2 ** 31;
/** u as high and low float, h as high and low float. The kernels know this number and the next, as shifts and bits. */
const STATE_PARTS = 4;
const BLOCK_STATES = 8;

/** The shape of the tables of a batch. */
export interface BatchShape {
  /** Trials side by side, a power of two. */
  readonly width: number;
  readonly windows: number;
  /** Slots for the stimulated and the silenced neurons of a trial: powers of two, not less than their number. */
  readonly stimulated: number;
  readonly silenced: number;
  /** Events that a neuron may get in one step. */
  readonly layers: number;
}

/** Another shape needs another pipeline. */
export interface PipelineShape extends BatchShape {
  /** Slots for the spikes of a trial in a window: a power of two, greater than their number. */
  readonly spikes: number;
  /** True if the state at the end is read back as well, for tests. */
  readonly withState: boolean;
}

type IncomingCounts = Pick<IncomingConnections, 'groupCount' | 'chunkCount'>;

/**
 * @param width a power of two
 * @returns the number of states and of the floats of all states. The last block of states may not be full; its other
 *   floats are never read
 * @throws CodedError GPU_UNAVAILABLE when the batch does not fit the index range of a GPU
 */
export function stateLayout(neuronCount: number, width: number): { stateCount: number; floatCount: number } {
  const stateCount = neuronCount * width;
  const floatCount = Math.ceil(stateCount / BLOCK_STATES) * BLOCK_STATES * STATE_PARTS;
  if (neuronCount > MAX_NEURONS || floatCount >= MAX_THREADS) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU takes networks of at most ${MAX_NEURONS} neurons and batches of fewer than ` +
        `${MAX_THREADS / STATE_PARTS} neurons in all, not ${width} trials of ${neuronCount} neurons.`,
    );
  }
  return { stateCount, floatCount };
}

export const wordsOf = (neuronCount: number) => Math.ceil((neuronCount + 1) / WORD_NEURONS);
export const blocksOf = (neuronCount: number) => Math.ceil(wordsOf(neuronCount) / BLOCK_WORDS);
export const unflaggedChunks = (neuronCount: number) => Math.ceil(neuronCount / FLAG_NEURONS);
export const inputRows = ({ windows, layers }: BatchShape) => 1 + windows * layers;
/** Floats in a row of inputs. */
export const slotsOf = ({ width, stimulated }: BatchShape) => width * stimulated;
export const hubSumsAt = ({ groupCount }: IncomingCounts, shape: BatchShape) =>
  groupCount + (1 + shape.layers) * slotsOf(shape);
export const arrivalsOf = (incoming: IncomingCounts, shape: BatchShape) =>
  hubSumsAt(incoming, shape) + incoming.chunkCount * CHUNK_SUMS * shape.width;

/** Capacity of an adapter for batches of one wiring. Plain data: it is sent to the threads that prepare batches. */
export interface BatchRoom extends IncomingCounts {
  readonly neuronCount: number;
  /** Powers of two, ascending: how many trials a pipeline can hold side by side. */
  readonly widths: readonly number[];
  /** Limit of an array that a kernel binds. */
  readonly largestArrayBytes: number;
  /** Limit of all that is read back. */
  readonly largestReadbackBytes: number;
}

/** @returns the size of the largest array that a kernel binds */
export function largestArrayBytes(
  room: Pick<BatchRoom, 'neuronCount'> & IncomingCounts,
  shape: PipelineShape,
): number {
  const { neuronCount, groupCount } = room;
  const { width, spikes } = shape;
  const largest = Math.max(
    stateLayout(neuronCount, width).floatCount + neuronCount,
    GROUP_CONNECTIONS * groupCount,
    arrivalsOf(room, shape),
    inputRows(shape) * slotsOf(shape),
    width * spikes,
  );
  return Float32Array.BYTES_PER_ELEMENT * largest;
}

export function fits(room: BatchRoom, shape: PipelineShape): boolean {
  const { width, windows, spikes } = shape;
  const readback = windows * width * spikes + unflaggedChunks(room.neuronCount) * width;
  return (
    largestArrayBytes(room, shape) <= room.largestArrayBytes &&
    Float32Array.BYTES_PER_ELEMENT * readback <= room.largestReadbackBytes
  );
}
