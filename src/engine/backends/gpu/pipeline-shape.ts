/** What a pipeline is compiled for, and the sizes of its arrays: needed also where there is no GPU. */
import { cellsOf } from './cells.js';
import { CHUNK_SUMS, GROUP_CONNECTIONS, type IncomingConnections } from './incoming.js';

/** Neurons whose activity stands in one float. */
export const WORD_NEURONS = 24;
/** Words that one thread counts up. */
export const BLOCK_WORDS = 64;
/** Neurons that one thread searches for flags. */
export const FLAG_NEURONS = 256;
/** Greater than every neuron: fills the unused places of a list. */
export const NO_NEURON = 2 ** 24 - 1;

/** What the tables of a batch are made for. */
export interface BatchShape {
  /** Experiments side by side, a power of two. */
  readonly width: number;
  readonly windows: number;
  /** Places for the stimulated and the silenced neurons of an experiment: powers of two, greater than their number. */
  readonly stimulated: number;
  readonly silenced: number;
  /** Events that a neuron may get in one step. */
  readonly layers: number;
}

/** Another shape needs another pipeline. */
export interface PipelineShape extends BatchShape {
  /** Places for the spikes of an experiment in a window: a power of two, greater than their number. */
  readonly spikes: number;
  /** Whether the state at the end is read back as well, for tests. */
  readonly withState: boolean;
}

type IncomingCounts = Pick<IncomingConnections, 'groupCount' | 'chunkCount'>;

export const wordsOf = (neuronCount: number) => Math.ceil((neuronCount + 1) / WORD_NEURONS);
export const blocksOf = (neuronCount: number) => Math.ceil(wordsOf(neuronCount) / BLOCK_WORDS);
export const soundChunks = (neuronCount: number) => Math.ceil(neuronCount / FLAG_NEURONS);
export const inputRows = ({ windows, layers }: BatchShape) => 1 + windows * layers;
/** Floats in a row of inputs. */
export const placesOf = ({ width, stimulated }: BatchShape) => width * stimulated;
export const hubSumsAt = ({ groupCount }: IncomingCounts, shape: BatchShape) =>
  groupCount + (1 + shape.layers) * placesOf(shape);
export const arrivalsOf = (incoming: IncomingCounts, shape: BatchShape) =>
  hubSumsAt(incoming, shape) + incoming.chunkCount * CHUNK_SUMS * shape.width;

/** What an adapter has room for with one wiring. Plain data: it is sent to the threads that prepare batches. */
export interface BatchRoom extends IncomingCounts {
  readonly neuronCount: number;
  /** Powers of two, ascending: how many trials a pipeline can hold side by side. */
  readonly widths: readonly number[];
  /** Of an array that a kernel binds. */
  readonly largestArrayBytes: number;
  /** Of all that is read back. */
  readonly largestReadbackBytes: number;
}

/** @returns of the largest array that a kernel binds */
export function largestArrayBytes(
  room: Pick<BatchRoom, 'neuronCount'> & IncomingCounts,
  shape: PipelineShape,
): number {
  const { neuronCount, groupCount } = room;
  const { width, spikes } = shape;
  const largest = Math.max(
    cellsOf(neuronCount, width).stateCount + neuronCount,
    GROUP_CONNECTIONS * groupCount,
    arrivalsOf(room, shape),
    inputRows(shape) * placesOf(shape),
    width * spikes,
  );
  return Float32Array.BYTES_PER_ELEMENT * largest;
}

export function fits(room: BatchRoom, shape: PipelineShape): boolean {
  const { width, windows, spikes } = shape;
  const readback = windows * width * spikes + soundChunks(room.neuronCount) * width;
  return (
    largestArrayBytes(room, shape) <= room.largestArrayBytes &&
    Float32Array.BYTES_PER_ELEMENT * readback <= room.largestReadbackBytes
  );
}
