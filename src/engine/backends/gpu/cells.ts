/**
 * How a batch of experiments lies in the arrays of the GPU. A cell is one neuron in one experiment, with the number
 * (neuron << shift) | experiment. So the cells of a neuron stand side by side and share the reading of its connections.
 * The state of a cell has four parts; eight cells stand together, part by part, so that a warp has all their parts.
 */
import { CodedError } from '../../../errors.js';

/** u as high and low float, h as high and low float. The kernels know this number and the next, as shifts and bits. */
export const STATE_PARTS = 4;
export const BLOCK_CELLS = 8;

/** Threads are numbered by 32-bit integers. */
const MOST_THREADS = 2 ** 31;
/** Of the steps of a window, in the number of a spike, see `spikes` in kernels.ts. */
export const STEP_BITS = 5;
/** The number of a spike is a float32, so it is below 2^24. */
const MOST_NEURONS = 2 ** (24 - STEP_BITS);

export interface Cells {
  /** Experiments side by side, a power of two: 2^shift. */
  readonly width: number;
  readonly shift: number;
  readonly neuronCount: number;
  /** Cells, and floats of all statuses. */
  readonly count: number;
  /** Floats of all states. The last block of cells may not be full; nobody reads what stands in its other places. */
  readonly stateCount: number;
}

/**
 * @param width a power of two
 * @throws CodedError GPU_UNAVAILABLE when the batch does not fit the index range of a GPU
 */
export function cellsOf(neuronCount: number, width: number): Cells {
  const count = neuronCount * width;
  const stateCount = Math.ceil(count / BLOCK_CELLS) * BLOCK_CELLS * STATE_PARTS;
  if (neuronCount > MOST_NEURONS || stateCount >= MOST_THREADS) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The GPU takes networks of at most ${MOST_NEURONS} neurons and batches of fewer than ` +
        `${MOST_THREADS / STATE_PARTS} neurons in all, not ${width} experiments of ${neuronCount} neurons.`,
    );
  }
  return { width, shift: Math.log2(width), neuronCount, count, stateCount };
}

/** Where a part of a state stands. */
export function statePlace(cell: number, part: number): number {
  const inBlock = cell % BLOCK_CELLS;
  return (cell - inBlock) * STATE_PARTS + part * BLOCK_CELLS + inBlock;
}
