/** In which formats an open experiment is answered; the names are those of `?format=`. */
export const FORMATS = {
  json: { mediaType: 'application/json', parameters: '; charset=utf-8', extension: 'json' },
  ndjson: { mediaType: 'application/x-ndjson', parameters: '; charset=utf-8', extension: 'ndjson' },
  csv: { mediaType: 'text/csv', parameters: '; charset=utf-8; header=present', extension: 'csv' },
  arrow: { mediaType: 'application/vnd.apache.arrow.stream', parameters: '', extension: 'arrow' },
  parquet: { mediaType: 'application/vnd.apache.parquet', parameters: '', extension: 'parquet' },
} as const;

export type Format = keyof typeof FORMATS;

/** Those that hold one table. */
export const TABLE_FORMATS = ['csv', 'arrow', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** Content of a table, one of TABLES. */
export type TableName = string;

/**
 * How the columns of a table of spikes are named; the names are those of `?names=`.
 * - `shiu`: as the spike files of Shiu et al. 2024, which their scripts read.
 * - `sonata`: as the spike files of BMTK.
 * - `indexed`: with the place of a neuron beside its id, as simulators that read the list of Shiu et al. write spikes.
 */
export const COLUMN_NAMES = ['shiu', 'sonata', 'indexed'] as const;
export type ColumnNames = (typeof COLUMN_NAMES)[number];
