/** Saves what is shown: the figure, and its numbers in the formats of the service, byte for byte the same. */
import { type TableColumns, spikeTableOf } from '../../../answers/v2/formats/table-columns.js';
import { groupTableOf, type Table, tableOf } from '../../../answers/v2/formats/tables.js';
import type { TableName } from '../../../answers/v2/formats/formats.js';
import type { ConditionResult, ExperimentHead, ReportResult } from '../../../answers/v2/result.js';
import type { NeuronIndex } from '../service/neuron-labels.js';
import type { ConditionLine } from '../service/open-experiments.js';

export type TableFormat = 'csv' | 'arrow';

const MEDIA_TYPES: Readonly<Record<TableFormat, string>> = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
};

/**
 * A table of these conditions. The writers are loaded when they are needed.
 * @param neurons which tables of spikes and of input events need
 */
export async function tableFile(
  format: TableFormat,
  name: TableName,
  head: ExperimentHead,
  conditions: readonly ConditionLine[],
  neurons: NeuronIndex | undefined,
): Promise<Blob> {
  const table = tableNamed(name, head, neurons);
  const encoder =
    format === 'csv'
      ? new (await import('../../../answers/v2/formats/csv.js')).CsvEncoder(table.columns, ',')
      : new (await import('../../../answers/v2/formats/arrow.js')).ArrowEncoder(table.columns);
  const pieces = [...encoder.begin(head)];
  for (const condition of conditions) {
    for (const batch of table.batchesOf(resultOf(condition, head, neurons))) {
      pieces.push(...encoder.append(batch));
    }
  }
  pieces.push(...encoder.end());
  return new Blob(pieces as BlobPart[], { type: MEDIA_TYPES[format] });
}

function tableNamed(
  name: TableName,
  { experiment }: ExperimentHead,
  neurons: NeuronIndex | undefined,
): Table {
  if (name === 'rates' || name === 'histogram') return groupTableOf(name, experiment);
  return tableOf({ connectome: neurons!, experiment, table: name });
}

/** Lines of the answer have the ids of the neurons, results their places. Without neurons tables are left out. */
function resultOf(
  { reports, ...condition }: ConditionLine,
  { experiment }: ExperimentHead,
  neurons: NeuronIndex | undefined,
): ConditionResult {
  const inputNames = Object.keys(experiment.inputs);
  const results = Object.entries(reports).flatMap(([name, report]): [string, ReportResult][] => {
    if (Array.isArray(report)) return [[name, report]];
    if (neurons === undefined) return [];
    return [[name, spikeTableOf(report as TableColumns, inputNames, (id) => neurons.indexOf(id))]];
  });
  return { ...condition, reports: Object.fromEntries(results) };
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
