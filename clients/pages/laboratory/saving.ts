/** Saves the numbers of a figure in the formats of the service. CSV gets a heading. */
import type { Findings } from '../../../src/experiments/figures/figure-kind.js';
import { type LabelledNeurons, tableMetadata, tableOf } from '../../../src/experiments/formats/tables.js';
import { factLines, provenanceOf } from '../../../src/experiments/figures/provenance.js';
import type { ExperimentHead } from '../../../src/experiments/document/result.js';
import type { NeuronIndex } from '../service/neuron-index.js';

type TableFormat = 'csv' | 'arrow';

const MEDIA_TYPES: Readonly<Record<TableFormat, string>> = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
};

/**
 * Writes one table of the findings to a file. The writers are loaded on demand.
 * @param neurons required by tables of events
 */
export async function tableFile(
  format: TableFormat,
  table: string,
  { head, conditions }: Findings,
  neurons: NeuronIndex | undefined,
): Promise<Blob> {
  const { experiment } = head;
  // Tables of groups do not use neurons.
  const { columns, batchesOf } = tableOf({ connectome: neurons as LabelledNeurons, experiment, table });
  const encoder =
    format === 'csv'
      ? new (await import('../../../src/experiments/formats/csv.js')).CsvEncoder(columns, ',')
      : new (await import('../../../src/experiments/formats/arrow.js')).ArrowEncoder(columns);
  const pieces = [...encoder.begin(tableMetadata(head))];
  for (const { groups, tables, ...condition } of conditions) {
    // Without neurons, tables of events are omitted.
    const reports = { ...groups, ...(neurons !== undefined && tables) };
    for (const batch of batchesOf({ ...condition, reports })) pieces.push(...encoder.append(batch));
  }
  pieces.push(...encoder.end());
  return new Blob(pieces as BlobPart[], { type: MEDIA_TYPES[format] });
}

/** Lines before the header of a table; readers skip lines that begin with #. */
export function csvHeading(head: ExperimentHead): string {
  return factLines(provenanceOf(head))
    .map((line) => `# ${line}\r\n`)
    .join('');
}

/** A file name from the name of the experiment. */
export function fileName(experiment: string | undefined, id: string, extension: string): string {
  const name = (experiment ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return `${name || 'experiment'}-${id.slice(0, 8)}.${extension}`;
}
