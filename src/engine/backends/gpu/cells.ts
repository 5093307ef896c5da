/**
 * How a batch of experiments lies in the arrays of the GPU. A cell is one neuron in one experiment. The records of a
 * neuron stand together, and in each of them the experiments stand side by side, so they share the reading of its
 * connections: part p of a cell is at ((neuron * CELL_PARTS + p) << shift) | experiment.
 */
import { CodedError } from '../../../errors.js';

/** u as high and low float, h as high and low float, the status (see kernels.ts). */
export const CELL_PARTS = 5;
export const STATUS_PART = 4;

/** Threads are numbered by 32-bit integers. */
const MOST_THREADS = 2 ** 31;
/**
 * A kernel divides n by 5 or 20 as floor((n + 1/2) * (1/5)), in float32. For n below this the result is right: it is at
 * least 1/40 away from an integer, and two roundings of at most 2^-24 of it each are less.
 */
export const MOST_DIVIDED = 2 ** 21;

export interface Cells {
  /** Experiments side by side, a power of two: 2^shift. */
  readonly width: number;
  readonly shift: number;
  readonly neuronCount: number;
  /** Floats of all records. */
  readonly count: number;
}

/**
 * @param width a power of two
 * @throws CodedError GPU_UNAVAILABLE when the batch does not fit the index range of a GPU
 */
export function cellsOf(neuronCount: number, width: number): Cells {
  const count = neuronCount * CELL_PARTS * width;
  if (neuronCount * CELL_PARTS >= MOST_DIVIDED || count >= MOST_THREADS) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU takes networks of fewer than ${Math.ceil(MOST_DIVIDED / CELL_PARTS)} neurons and batches of fewer than ` +
        `${Math.floor(MOST_THREADS / CELL_PARTS)} neurons in all, not ${width} experiments of ${neuronCount} neurons.`,
    );
  }
  return { width, shift: Math.log2(width), neuronCount, count };
}
