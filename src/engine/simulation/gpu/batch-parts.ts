import type { BatchLists } from './batch-results.js';
import type { BatchTables } from './batch-tables.js';
import type { BatchRoom } from './pipeline-shape.js';

/** The three parts of simulating a batch. Each may run on another thread. */
export interface BatchParts<Trial, Run> {
  /** @returns undefined if the adapter has no room for the batch */
  prepare(batch: readonly Trial[]): BatchTables | undefined | Promise<BatchTables | undefined>;
  /** @returns undefined if the adapter has no room for the batch */
  simulate(tables: BatchTables): Promise<BatchLists | undefined>;
  /** @returns the runs in the order of the batch */
  read(lists: BatchLists, batch: readonly Trial[]): readonly Run[] | Promise<readonly Run[]>;
}

/**
 * Simulates trials as one batch, or as several smaller ones if the adapter has no room for all side by side.
 * @returns the runs in the order of the trials; undefined for a trial that does not fit even in the smallest batch
 */
export async function simulateInParts<Trial, Run>(
  trials: readonly Trial[],
  { widths }: Pick<BatchRoom, 'widths'>,
  { prepare, simulate, read }: BatchParts<Trial, Run>,
): Promise<(Run | undefined)[]> {
  const runs: (Run | undefined)[] = [];
  let max = widths.at(-1)!;
  while (runs.length < trials.length) {
    const batch = trials.slice(runs.length, runs.length + max);
    const tables = await prepare(batch);
    const lists = tables && (await simulate(tables));
    if (lists !== undefined) {
      runs.push(...(await read(lists, batch)));
    } else if (batch.length > widths[0]!) {
      max = widths.findLast((width) => width < batch.length)!;
    } else {
      runs.push(...batch.map(() => undefined));
    }
  }
  return runs;
}
