/**
 * How a batch of experiments lies in the arrays of the GPU. A cell is one neuron in one experiment; cell =
 * neuron * width + experiment, so the experiments of a neuron stand side by side and share the reading of its
 * connections. The width is a power of two: dividing by it is an exact multiplication.
 */
import { CodedError } from '../../../errors.js';

/** Packed spikes: cells to a float32. 19 values (no spike, or one of 18 steps), 19^5 < 2^24. */
export const CELLS_PER_FLOAT = 5;

/** WebGPU lets a dispatch have this many workgroups along each axis; gpu.js makes them 8 x 8. */
const WORKGROUPS = 65_535;
const WORKGROUP_SIDE = 8;
/** Indices of cells are float32 numbers on the GPU. */
const MOST_CELLS = 2 ** 24;

export interface Cells {
  /** Experiments side by side. */
  readonly width: number;
  /** neuronCount * width, padded so that rows are whole; the cells of the padding stay silent. */
  readonly count: number;
  /** Cells stand in a grid, because an axis of a dispatch is too short for all of them. */
  readonly rowLength: number;
  readonly rows: number;
  /** Floats with the spikes of a window, packed. */
  readonly packedLength: number;
}

/**
 * @param width a power of two
 * @throws CodedError GPU_UNAVAILABLE when the batch does not fit the index range of a GPU
 */
export function cellsOf(neuronCount: number, width: number): Cells {
  const wanted = neuronCount * width;
  const rowLength = [16, 32, 64].find((length) => wanted / length <= WORKGROUPS * WORKGROUP_SIDE);
  const perTile = (rowLength ?? 0) * WORKGROUP_SIDE;
  const count = Math.ceil(wanted / perTile) * perTile;
  if (rowLength === undefined || count >= MOST_CELLS) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `A batch may have fewer than ${MOST_CELLS} cells; ${width} experiments of ${neuronCount} neurons are ${wanted}.`,
    );
  }
  return {
    width,
    count,
    rowLength,
    rows: count / rowLength,
    packedLength: Math.ceil(count / CELLS_PER_FLOAT),
  };
}
