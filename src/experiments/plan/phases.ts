/** Divides a job into phases, which run one after the other. Chunks of a phase run in any order (jobs/chunk-queue.ts). */
import type { Grid } from '../kinds/grid.js';

/**
 * The cells of each phase, for results that start at a condition.
 *
 * Each level of the grid (Grid.levelOf) needs the results of lower levels, so it has phases of its own. There are two for each
 * level: first its first, middle and last cell, then all others. The time of the first phase tells how many cells of the
 * second make a chunk.
 */
export function phasesOf(grid: Pick<Grid, 'neededFrom' | 'levelOf'>, from: number): number[][] {
  const levels: number[][] = [];
  for (const cell of grid.neededFrom(from)) (levels[grid.levelOf(cell)] ??= []).push(cell);
  return levels.flatMap((level) => {
    const samples = [...new Set([0, Math.floor(level.length / 2), level.length - 1])];
    const others = level.filter((_, at) => !samples.includes(at));
    return [samples.map((at) => level[at]!), others].filter((phase) => phase.length > 0);
  });
}
