import type { Trial } from '../../simulation/simulation.js';
import type { Protocol } from '../../stimulus/protocol.js';
import type { GpuStage } from './gpu-stage.js';

/** A run or a trial that waits, as the queue offers it to the GPU. */
export interface BatchJob {
  readonly protocol: Protocol;
  /** Jobs of one group are alike: runs of one stimulus, trials of one experiment. */
  readonly group: object | string;
}

/** In the order of the jobs; undefined where the GPU has no certified trial and the CPU must simulate. */
export type BatchResult = readonly (Trial | undefined)[];

/** Batches that the GPU process may have: one is prepared, one submitted, one computed, one read. */
export const BATCHES_IN_FLIGHT = 4;

/** Simulates waiting jobs, many at once. */
export type BatchStage = Pick<
  GpuStage,
  'gpuComesFirst' | 'room' | 'isBusy' | 'jobsAhead' | 'batchSizeOf' | 'simulate'
>;
