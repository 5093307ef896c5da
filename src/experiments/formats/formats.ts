/** The formats of answers, by their names in `?format=`. */
export const FORMATS = {
  json: { mediaType: 'application/json', parameters: '; charset=utf-8', extension: 'json' },
  ndjson: { mediaType: 'application/x-ndjson', parameters: '; charset=utf-8', extension: 'ndjson' },
  csv: { mediaType: 'text/csv', parameters: '; charset=utf-8; header=present', extension: 'csv' },
  arrow: { mediaType: 'application/vnd.apache.arrow.stream', parameters: '', extension: 'arrow' },
  parquet: { mediaType: 'application/vnd.apache.parquet', parameters: '', extension: 'parquet' },
  svg: { mediaType: 'image/svg+xml', parameters: '; charset=utf-8', extension: 'svg' },
} as const;

export type Format = keyof typeof FORMATS;

export function contentTypeOf(format: Format): string {
  return FORMATS[format].mediaType + FORMATS[format].parameters;
}

/** The formats that hold one table. */
export const TABLE_FORMATS = ['csv', 'arrow', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** The name of a table, one of TABLES. */
export type TableName = string;

/**
 * The names of other programs for the columns of a table of spikes (`?names=`).
 * - `shiu`: the spike files of Shiu et al. 2024, which their scripts read.
 * - `sonata`: the spike files of BMTK.
 */
export const COLUMN_NAMES = ['shiu', 'sonata'] as const;
export type ColumnNames = (typeof COLUMN_NAMES)[number];
