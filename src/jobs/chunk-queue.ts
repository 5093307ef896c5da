import type { Chunk, JobRecord } from './job.js';

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
  /** The chunk is not tried again: its job fails. */
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

/** Duration of a chunk on one core, as measured: so long that the time to hand it out does not count. */
const CHUNK_MS = 500;
/** Most conditions of a chunk, however cheap they are: if its process ends, all are computed again. */
const LONGEST_CHUNK = 256;

/** @param costMs the most that a condition took so far; 0 where none was run */
export function chunkLength(costMs: number): number {
  if (costMs === 0) return 1;
  return Math.max(1, Math.min(LONGEST_CHUNK, Math.floor(CHUNK_MS / costMs)));
}

/**
 * Chunks of a phase: from place `from` up to, not including, `to` of its indices, behind `before` in earlier phases.
 * @param length conditions of each chunk; the last one has the rest
 */
export function chunksOf(
  { id, model }: Pick<JobRecord, 'id' | 'model'>,
  phases: readonly (readonly number[])[],
  phase: number,
  length: number,
): Chunk[] {
  const conditions = phases[phase]!.length;
  const before = phases.slice(0, phase).reduce((sum, each) => sum + each.length, 0);
  return Array.from({ length: Math.ceil(conditions / length) }, (_, at) => ({
    job: id,
    model,
    phase,
    from: at * length,
    to: Math.min(conditions, (at + 1) * length),
    before,
  }));
}
