/** Reads columns of a Parquet file, part of a row group at a time. Objects for rows would take too much memory. */
import { basename } from 'node:path';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import {
  type ColumnarFile,
  type ColumnarPart,
  exact,
  EXACT_IN_FLOAT32,
  readingFault,
  tableFault,
} from './table-row.js';

/** Rows read at a time. A file may have a single row group of 15 million rows. */
const ROWS_AT_A_TIME = 1 << 18;

/** Logical or physical types of text, numbers and truth values. */
const READABLE =
  /^(?:BOOLEAN|U?INT_?(?:8|16|32|64)|INTEGER|FLOAT|FLOAT16|DOUBLE|STRING|UTF8|ENUM|UUID|NULL|BYTE_ARRAY|FIXED_LEN_BYTE_ARRAY)$/;

interface ParquetFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
}

/** @throws CodedError TABLE_INVALID */
export async function openParquet(path: string): Promise<ColumnarFile> {
  const table = await opened(path);
  const { children } = parquetSchema(table.metadata);
  const treeOf = (column: string) => children.find(({ element }) => element.name === column)!;
  return {
    columns: children.map(({ element }) => element.name),
    exactBelow: (column) => {
      const { type, logical_type } = treeOf(column).element;
      if (logical_type?.type === 'FLOAT16') return 2 ** 11;
      return type === 'FLOAT' ? EXACT_IN_FLOAT32 : undefined;
    },
    otherType: (column) => otherType(treeOf(column)),
    rowCount: table.metadata.row_groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0),
    parts: (names) => partsOf(table, names),
    // hyparquet opens the file for each read, so there is nothing to close.
    close: async () => {},
  };
}

function otherType({ element, children }: SchemaTree): string | undefined {
  const { type, logical_type, converted_type } = element;
  const annotation = logical_type?.type ?? converted_type;
  if (annotation === 'LIST') {
    // Some writers leave the group between a list and its items out.
    const [items] = children;
    return otherType(items!.children[0] ?? items!);
  }
  const name = annotation ?? type ?? 'STRUCT';
  return READABLE.test(name) ? undefined : name;
}

async function opened(path: string): Promise<ParquetFile> {
  try {
    const file = await asyncBufferFromFile(path);
    return { file, metadata: await parquetMetadataAsync(file) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw readingFault(path, error as NodeJS.ErrnoException);
    const cause = `expected a Parquet file, found another format or a truncated file (${message})`;
    throw tableFault(basename(path), null, cause);
  }
}

async function* partsOf(table: ParquetFile, names: readonly string[]): AsyncGenerator<ColumnarPart> {
  let start = 0;
  for (const { num_rows } of table.metadata.row_groups) {
    const endOfGroup = start + Number(num_rows);
    while (start < endOfGroup) {
      const end = Math.min(start + ROWS_AT_A_TIME, endOfGroup);
      const columns: (readonly unknown[])[] = [];
      for (const name of names) columns.push(await valuesOf(table, name, start, end));
      yield { rowCount: end - start, values: columns.map((values) => (row) => exact(values[row])) };
      start = end;
    }
  }
}

async function valuesOf(
  table: ParquetFile,
  column: string,
  rowStart: number,
  rowEnd: number,
): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  let count = 0;
  await parquetRead({
    ...table,
    columns: [column],
    compressors,
    // Bytes without a type stay bytes, so that TableRow can refuse those that are not UTF-8.
    utf8: false,
    rowStart,
    rowEnd,
    // A chunk is whole pages, so it may begin before `rowStart` and end after `rowEnd`.
    onChunk: ({ columnData, rowStart: first }) => {
      const from = Math.max(rowStart, first);
      const to = Math.min(rowEnd, first + columnData.length);
      for (let row = from; row < to; row++) values[row - rowStart] = columnData[row - first];
      count += Math.max(0, to - from);
    },
  });
  if (count === rowEnd - rowStart) return values;
  throw new Error(`${column} has ${count} of ${rowEnd - rowStart} rows`);
}
