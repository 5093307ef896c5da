import type { Protocol } from '../../experiment/protocol.js';
import type { BatchResult } from '../task.js';

/** What the queue offers to the GPU: a run or a trial that waits. */
export interface BatchJob {
  readonly protocol: Protocol;
  /** Jobs of one group are alike: runs of one stimulus, trials of one experiment. */
  readonly group: object | string;
}

/** Simulates waiting jobs, many at once. */
export interface BatchStage {
  /** Whether every job goes through it before a worker gets it. */
  readonly comesFirst: boolean;
  /** How many jobs it may take at once; 0 while it is busy or away. */
  readonly room: number;
  /** How many jobs should wait to keep it busy; 0 while it is away. */
  readonly jobsAhead: number;
  /** How many of these jobs, in their order and no more than `room`, it would take now. */
  batchOf(jobs: readonly BatchJob[]): number;
  /** Never rejects: what it could not simulate is undefined and left to the workers. */
  simulate(jobs: readonly BatchJob[]): Promise<BatchResult>;
}
