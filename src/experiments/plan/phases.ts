/** How a job is divided: into phases, which follow one another, and these into chunks, which do not (jobs/chunk-queue.ts). */
import type { Grid } from './sweep.js';

/**
 * The indices of each phase, ascending, as far as results from a condition on need them. A phase begins when the one before it
 * is done. Each level (Grid.levelOf) comes after the baselines that decide which of its conditions are run. Its first, middle
 * and last index are a phase of their own: the time that these take says how many of the others make a chunk.
 */
export function phasesOf(grid: Pick<Grid, 'neededFrom' | 'levelOf'>, from: number): number[][] {
  const levels: number[][] = [];
  for (const index of grid.neededFrom(from)) (levels[grid.levelOf(index)] ??= []).push(index);
  return levels.flatMap((level) => {
    const samples = [...new Set([0, Math.floor(level.length / 2), level.length - 1])];
    const others = level.filter((_, at) => !samples.includes(at));
    return [samples.map((at) => level[at]!), others].filter((phase) => phase.length > 0);
  });
}
