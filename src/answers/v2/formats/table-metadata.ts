import type { ExperimentHead } from '../result.js';

/** What a file of Arrow or Parquet tells beside its table, so that it can be understood on its own. */
export function tableMetadata(head: ExperimentHead): ReadonlyMap<string, string> {
  return new Map([
    ['id', head.id],
    ['model', head.model],
    ['wiring', head.wiring],
    ['side_convention', head.side_convention],
    ['experiment', JSON.stringify(head.experiment)],
  ]);
}

/** Beside a batch of Arrow, and in Parquet with the list of conditions: rows are missing beyond the limit. */
export const TRUNCATED = 'truncated';
