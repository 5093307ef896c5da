/** Reads a table row by row, in the format that the name of its file says. */
import type { SourceFile } from '../connectome/connectome.js';
import { readCsv } from './csv.js';
import { readFeather } from './feather.js';
import { readParquet } from './parquet.js';
import type { Progress } from './progress.js';
import type { TableRow } from './table-row.js';

/** Names of the columns that are wanted, or a function that chooses them among those of the table. */
export type ColumnChoice = readonly string[] | ((found: readonly string[]) => readonly string[]);

/**
 * @param path a .parquet file, a .feather or .arrow file, or CSV by any other name, gzipped where that ends with .gz
 * @param onRow is called for each row with the columns in the order in which they were chosen
 * @returns the file with the SHA-256 of its bytes
 * @throws CodedError TABLE_INVALID
 */
export function readTable(
  path: string,
  columns: ColumnChoice,
  progress: Progress,
  onRow: (row: TableRow) => void,
): Promise<SourceFile> {
  if (/\.parquet$/i.test(path)) return readParquet(path, columns, progress, onRow);
  if (/\.(feather|ftr|arrow)$/i.test(path)) return readFeather(path, columns, progress, onRow);
  return readCsv(path, columns, progress, onRow);
}
