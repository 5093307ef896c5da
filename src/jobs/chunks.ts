/** Chunks of a phase: how many conditions are computed together, by one process. */
import type { Chunk, JobRecord } from './job.js';

/** Duration of a chunk on one core, as measured: so long that handing it out costs nothing beside it. */
const CHUNK_MS = 500;
/** However cheap conditions are: what a chunk holds is done again where its process ends. */
const LONGEST_CHUNK = 256;

/** @param costMs the most that a condition took so far; 0 where none was run */
export function chunkLength(costMs: number): number {
  if (costMs === 0) return 1;
  return Math.max(1, Math.min(LONGEST_CHUNK, Math.floor(CHUNK_MS / costMs)));
}

/** @param length conditions of each chunk; the last one has the rest */
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
