/** Reads columns of a Parquet file, part of a row group at a time. Objects for rows would take too much memory. */
import { basename } from 'node:path';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type SchemaElement,
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
  /^(?:BOOLEAN|U?INT_?(?:8|16|32|64)|INTEGER|FLOAT|FLOAT16|DOUBLE|STRING|UTF8|JSON|ENUM|UUID|NULL|BYTE_ARRAY|FIXED_LEN_BYTE_ARRAY)$/;

/** Parsers that replace those of hyparquet. JSON stays text. */
const PARSERS = { jsonFromBytes: (bytes?: Uint8Array) => bytes && Buffer.from(bytes).toString() };

interface ParquetFile {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
}

/** @throws CodedError TABLE_INVALID */
export async function openParquet(path: string): Promise<ColumnarFile> {
  const table = await opened(path);
  const { children } = parquetSchema(table.metadata);
  const treeOf = (column: string) => children.find(({ element }) => element.name === column)!;
  const isWhole = (column: string) => isWholeDecimal(treeOf(column).element);
  return {
    columns: children.map(({ element }) => element.name),
    exactBelow: (column) => {
      const { type, logical_type } = treeOf(column).element;
      if (logical_type?.type === 'FLOAT16') return 2 ** 11;
      return type === 'FLOAT' ? EXACT_IN_FLOAT32 : undefined;
    },
    otherType: (column) => (isWhole(column) ? undefined : otherType(treeOf(column))),
    rowCount: table.metadata.row_groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0),
    parts: (names) =>
      partsOf(
        table,
        names,
        names.map((name) => (isWhole(name) ? wholeNumber : exact)),
      ),
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

/** DECIMAL(18, 0), the type that DuckDB, BigQuery and R may give ids. */
function isWholeDecimal({ logical_type, converted_type, scale }: SchemaElement): boolean {
  if (logical_type?.type === 'DECIMAL') return logical_type.scale === 0;
  return converted_type === 'DECIMAL' && !scale;
}

/** @param value of a whole decimal: an integer, or its bytes in two's complement, the highest first */
function wholeNumber(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return exact(value);
  return exact(BigInt.asIntN(8 * value.length, BigInt(`0x0${Buffer.from(value).toString('hex')}`)));
}

async function opened(path: string): Promise<ParquetFile> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    // hyparquet makes floats of `converted_type` DECIMAL, which round ids; it ignores the same `logical_type`.
    for (const element of metadata.schema.filter(isWholeDecimal)) {
      element.logical_type = { type: 'DECIMAL', scale: 0, precision: element.precision ?? 0 };
      delete element.converted_type;
    }
    return { file, metadata };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw readingFault(path, error as NodeJS.ErrnoException);
    const cause = `expected a Parquet file, found another format or a truncated file (${message})`;
    throw tableFault(basename(path), null, cause);
  }
}

/** @param convert converts the values, for each column */
async function* partsOf(
  table: ParquetFile,
  names: readonly string[],
  convert: readonly ((value: unknown) => unknown)[],
): AsyncGenerator<ColumnarPart> {
  let start = 0;
  for (const { num_rows } of table.metadata.row_groups) {
    const endOfGroup = start + Number(num_rows);
    while (start < endOfGroup) {
      const end = Math.min(start + ROWS_AT_A_TIME, endOfGroup);
      const columns: (readonly unknown[])[] = [];
      for (const name of names) columns.push(await valuesOf(table, name, start, end));
      yield {
        rowCount: end - start,
        values: columns.map((values, at) => (row) => convert[at]!(values[row])),
      };
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
    parsers: PARSERS,
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
