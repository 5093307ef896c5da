/** How a job is divided: into phases, which follow one another, and these into chunks, which do not. */
import type { Grid } from '../answers/v2/sweep.js';
import type { Chunk, JobRecord } from './job.js';

/** What a chunk takes of one core, as measured: so long that handing it out costs nothing beside it. */
const CHUNK_MS = 500;
/** However cheap conditions are: what a chunk holds is done again where its process ends. */
const LONGEST_CHUNK = 256;

/**
 * The conditions of each phase, ascending, as far as results from a condition on need them. A phase begins when the one
 * before it is done: then the baselines are known that decide on its conditions. The first conditions of a level are a
 * phase of their own; what they take says how many of the others make a chunk.
 */
export function phasesOf(grid: Pick<Grid, 'neededFrom' | 'levelOf'>, from: number): number[][] {
  const levels: number[][] = [];
  grid.neededFrom(from).forEach((isNeeded, index) => {
    if (isNeeded === 1) (levels[grid.levelOf(index)] ??= []).push(index);
  });
  return levels.flatMap((level) => {
    const samples = [...new Set([0, Math.floor(level.length / 2), level.length - 1])];
    const others = level.filter((_, at) => !samples.includes(at));
    return [samples.map((at) => level[at]!), others].filter((phase) => phase.length > 0);
  });
}

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
