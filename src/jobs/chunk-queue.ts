import type { Chunk } from './job.js';

/** A chunk that was tried so often is given up. */
export const MAX_TRIES = 5;
export const RETRY_MS = 1_000;

/** How a process computes chunks. */
export interface ChunkWork {
  /** The model that this process serves; undefined while it serves none. */
  readonly model: string | undefined;
  /** Chunks that are computed at the same time, at most. */
  readonly atOnce: number;
  /** Tells whether the workers have nothing more urgent to do. Asked often. */
  hasRoom(): boolean;
  /** Rejects where the chunk is to be tried again, here or elsewhere. */
  compute(chunk: Chunk): Promise<void>;
  /** The chunk was tried MAX_TRIES times. */
  giveUp(chunk: Chunk, error: unknown): Promise<void>;
}

/** Chunks that wait for a process with free workers. Those of jobs of which little has begun come first. */
export interface ChunkQueue {
  /** Adding a chunk twice does no harm. */
  add(chunks: readonly Chunk[]): Promise<void>;
  /** Removes the chunks of a job that have not begun, in the background: some may begin meanwhile. */
  remove(job: string, model: string): void;
  /** Chunks of a model that no process computes yet. */
  waiting(model: string): Promise<number>;
  /** Begins to compute chunks in this process. */
  start(work: ChunkWork): void;
  /** Takes no further chunk. Resolves when none is being computed. */
  close(): Promise<void>;
}
