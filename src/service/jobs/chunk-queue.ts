import type { Chunk, JobRecord } from './job.js';

/** How this process computes chunks. */
export interface ChunkWork {
  /** The model of this process; undefined while it has none. */
  readonly model: string | undefined;
  /** Maximum number of chunks computed at the same time. */
  readonly atOnce: number;
  /** True if the workers have nothing more urgent to do. The queue asks often. */
  hasRoom(): boolean;
  /** Rejects if the chunk should be retried, here or elsewhere. */
  compute(chunk: Chunk): Promise<void>;
  /** Called if the chunk is not retried: its job fails. */
  giveUp(chunk: Chunk, error: unknown): Promise<void>;
}

/** Chunks that wait for a process with free workers. Jobs take turns, and new ones overtake no chunk for ever. */
export interface ChunkQueue {
  /** Adds chunks of one model. Adding one twice is harmless. */
  add(chunks: readonly Chunk[]): Promise<void>;
  /** Removes chunks of a job that have not begun. This happens in the background, so some may still begin. */
  remove(job: string, model: string): void;
  /** Number of a model's chunks that no process has begun. */
  waiting(model: string): Promise<number>;
  /** Starts computing chunks in this process. */
  start(work: ChunkWork): void;
  /** Stops taking chunks; resolves when none is being computed. */
  close(): Promise<void>;
}

/** Target CPU time of a chunk: long enough to make the cost of handing it out negligible. */
const CHUNK_MS = 500;
/** Limit of conditions in a chunk, even if they are cheap. If its process dies, all are computed again. */
const MAX_CHUNK_LENGTH = 256;

/**
 * @param costMs CPU time of the most expensive condition so far; 0 if none is known
 * @returns number of conditions for the next chunks
 */
export function chunkLength(costMs: number): number {
  if (costMs === 0) return 1;
  return Math.max(1, Math.min(MAX_CHUNK_LENGTH, Math.floor(CHUNK_MS / costMs)));
}

/** A chunk without conditions: whoever computes it adds the chunks that its job needs next. */
export function resumingChunk(job: string, model: string): Chunk {
  return { job, model, phase: 0, from: 0, to: 0, before: 0 };
}

/**
 * Divides a phase into chunks. A chunk covers positions [from, to) of the phase's indices; `before` counts the
 * conditions of earlier phases.
 * @param length number of conditions in each chunk; the last one may have fewer
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
