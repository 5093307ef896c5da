import type { Trial } from '../../engine/simulation.js';
import type { Protocol } from '../../experiment/protocol.js';

/** What the queue offers to the GPU: a run or a trial that waits. */
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
export interface BatchStage {
  /** Whether every job goes through it before a worker gets it. */
  readonly comesFirst: boolean;
  /** How many jobs it may take at once; 0 while it has enough to do, or is away. */
  readonly room: number;
  /**
   * Whether it computes another batch. It then takes a full one only: jobs that do not fill it would wait in it, while
   * more may come before its turn, or a worker be free.
   */
  readonly isBusy: boolean;
  /** How many jobs should wait to keep it busy; 0 while it is away. */
  readonly jobsAhead: number;
  /** How many of these jobs, in their order and no more than `room`, it would take now. */
  batchOf(jobs: readonly BatchJob[]): number;
  /** Never rejects: what it could not simulate is undefined and left to the workers. */
  simulate(jobs: readonly BatchJob[]): Promise<BatchResult>;
}
