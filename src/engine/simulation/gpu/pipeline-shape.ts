/**
 * The shape that a pipeline is compiled for, and the sizes of its arrays. Threads without a GPU need it too.
 *
 * A state belongs to one neuron in one trial and has the number (neuron << log2(width)) | trial. So the states of a
 * neuron in all trials of a batch are adjacent and share the reads of its connections. A state has four parts. Blocks
 * of eight states are stored part by part, so that a warp handles all parts of its states.
 */
import { CodedError } from '../../errors.js';
import { CHUNK_SUMS, GROUP_CONNECTIONS, type IncomingConnections } from './incoming.js';

/** The number of neurons in a word: a float has an exact bit for the activity of each. */
export const WORD_NEURONS = 24;
/** The number of words whose spikes one thread counts. */
export const BLOCK_WORDS = 64;
/** The number of neurons that one thread searches for flags. */
export const FLAG_NEURONS = 256;
/** Fills the unused slots of a list. It is greater than every neuron, so the list stays sorted. */
export const NO_NEURON = 2 ** 24 - 1;
/** The bits of a spike's number that hold its step within the window; see `spikes` in kernels.ts. */
export const STEP_BITS = 5;
/** The number of a spike is a float32, so it is below 2^24. */
const MAX_NEURONS = 2 ** (24 - STEP_BITS);
/** Threads are numbered by 32-bit integers. */
const MAX_THREADS = 2 ** 31;
/** u and h, each as a high and a low float. The kernels contain this number and the next as literal shifts and bits. */
const STATE_PARTS = 4;
const BLOCK_STATES = 8;

/** The shape of the tables of a batch. */
export interface BatchShape {
  /** The number of trials side by side, a power of two. */
  readonly width: number;
  readonly windows: number;
  /** The numbers of slots for stimulated and silenced neurons of a trial: powers of two. */
  readonly stimulated: number;
  readonly silenced: number;
  /** The highest number of events of a neuron in one step. */
  readonly layers: number;
}

/** The shape of a pipeline. Another shape needs another pipeline. */
export interface PipelineShape extends BatchShape {
  /** The number of slots of a trial in a window: a power of two, greater than the number of spikes. */
  readonly spikes: number;
  /** True if the state at the end is read back as well, for tests. */
  readonly withState: boolean;
}

type IncomingCounts = Pick<IncomingConnections, 'groupCount' | 'chunkCount'>;

/**
 * @param width a power of two
 * @returns the number of states, and the number of their floats. The last block may not be full; its unused floats are
 *   never read
 * @throws CodedError GPU_UNAVAILABLE if the batch exceeds the index range of a GPU
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
/** The number of floats in a row of inputs. */
export const slotsOf = ({ width, stimulated }: BatchShape) => width * stimulated;
export const hubSumsAt = ({ groupCount }: IncomingCounts, shape: BatchShape) =>
  groupCount + (1 + shape.layers) * slotsOf(shape);
export const arrivalsOf = (incoming: IncomingCounts, shape: BatchShape) =>
  hubSumsAt(incoming, shape) + incoming.chunkCount * CHUNK_SUMS * shape.width;

/**
 * The capacity of an adapter for batches of one wiring. Plain data, because it is sent to threads that prepare
 * batches.
 */
export interface BatchRoom extends IncomingCounts {
  readonly neuronCount: number;
  /** The possible numbers of trials side by side in a pipeline: powers of two, ascending. */
  readonly widths: readonly number[];
  /** The largest size of an array that a kernel binds. */
  readonly largestArrayBytes: number;
  /** The largest size of a readback. */
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
