/** Saves what is shown: the figure, and the rates in the formats of the service, byte for byte the same. */
import { ratesTableOf } from '../../../answers/v2/formats/tables.js';
import type { ConditionResult, ExperimentHead } from '../../../answers/v2/result.js';
import type { ConditionLine } from '../service/open-experiments.js';

export type TableFormat = 'csv' | 'arrow';

const MEDIA_TYPES: Readonly<Record<TableFormat, string>> = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
};

/** The table `rates` of these conditions. The writers are loaded when they are needed. */
export async function ratesFile(
  format: TableFormat,
  head: ExperimentHead,
  conditions: readonly ConditionLine[],
): Promise<Blob> {
  const table = ratesTableOf(head.experiment);
  const encoder =
    format === 'csv'
      ? new (await import('../../../answers/v2/formats/csv.js')).CsvEncoder(table.columns, ',')
      : new (await import('../../../answers/v2/formats/arrow.js')).ArrowEncoder(table.columns);
  const pieces = [...encoder.begin(head)];
  for (const condition of conditions) {
    // Reports that are tables differ between lines and results; this table does not read them.
    for (const batch of table.batchesOf(condition as unknown as ConditionResult)) {
      pieces.push(...encoder.append(batch));
    }
  }
  pieces.push(...encoder.end());
  return new Blob(pieces as BlobPart[], { type: MEDIA_TYPES[format] });
}

/** Gives a file to the reader. */
export function save(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** A name of a file from that of the experiment. */
export function fileName(experiment: string | undefined, id: string, extension: string): string {
  const name = (experiment ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return `${name || 'experiment'}-${id.slice(0, 8)}.${extension}`;
}
