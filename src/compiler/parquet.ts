/** Reads columns of a Parquet file, a part of a row group at a time and never as objects of rows. */
import { basename } from 'node:path';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { SourceFile } from '../connectome/connectome.js';
import { chosenColumns, ColumnRow, type ColumnValues, exact, sourceOf } from './column-row.js';
import type { Progress } from './progress.js';
import type { ColumnChoice } from './read-table.js';
import { readingFault, tableFault, type TableRow } from './table-row.js';

/** Rows of a column that are asked for at once: a file may have one row group of 15 million. */
const ROWS_AT_A_TIME = 1 << 18;

/** @throws CodedError TABLE_INVALID */
export async function readParquet(
  path: string,
  columns: ColumnChoice,
  progress: Progress,
  onRow: (row: TableRow) => void,
): Promise<SourceFile> {
  const file = basename(path);
  const { buffer, metadata } = await opened(path, file);
  const found = parquetSchema(metadata).children.map(({ element }) => element.name);
  const names = chosenColumns(file, columns, found);
  const rowCount = metadata.row_groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
  if (rowCount === 0) throw tableFault(file, null, 'expected rows, found none');
  progress.begin(`Reading ${file}`, rowCount, 'items');
  const row = new ColumnRow(file, names);
  for (const [start, end] of partsOf(metadata)) {
    const parts: ColumnValues[] = [];
    for (const name of names) {
      const values = await valuesOf({ file: buffer, metadata }, name, start, end).catch((error: Error) => {
        throw tableFault(
          file,
          `row ${start}`,
          `${name} cannot be read from here on: the file is damaged (${error.message})`,
        );
      });
      parts.push((at) => exact(values[at]));
    }
    row.take(parts, start, end - start, onRow);
    progress.reached(end);
  }
  return sourceOf(path);
}

async function opened(path: string, file: string): Promise<{ buffer: AsyncBuffer; metadata: FileMetaData }> {
  try {
    const buffer = await asyncBufferFromFile(path);
    return { buffer, metadata: await parquetMetadataAsync(buffer) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw readingFault(path, error as NodeJS.ErrnoException);
    const cause = `expected a Parquet file, found another format or a truncated file (${message})`;
    throw tableFault(file, null, cause);
  }
}

/** Ranges of rows that are read at once. */
function* partsOf({ row_groups: groups }: FileMetaData): Iterable<[start: number, end: number]> {
  let start = 0;
  for (const { num_rows } of groups) {
    const endOfGroup = start + Number(num_rows);
    while (start < endOfGroup) {
      const end = Math.min(start + ROWS_AT_A_TIME, endOfGroup);
      yield [start, end];
      start = end;
    }
  }
}

async function valuesOf(
  table: { readonly file: AsyncBuffer; readonly metadata: FileMetaData },
  column: string,
  rowStart: number,
  rowEnd: number,
): Promise<unknown[]> {
  const values: unknown[] = [];
  let count = 0;
  await parquetRead({
    ...table,
    columns: [column],
    compressors,
    rowStart,
    rowEnd,
    // Whole pages, which may begin before the first row that is wanted and end behind the last.
    onChunk: ({ columnData, rowStart: first }) => {
      const from = Math.max(rowStart, first);
      const to = Math.min(rowEnd, first + columnData.length);
      for (let row = from; row < to; row++) values[row - rowStart] = columnData[row - first];
      count += Math.max(0, to - from);
    },
  });
  if (count === rowEnd - rowStart) return values;
  throw new Error(`${count} of ${rowEnd - rowStart} rows`);
}
