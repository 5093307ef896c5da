/** Reads columns of a Parquet file, part of a row group at a time. Objects for rows would take too much memory. */
import { basename } from 'node:path';
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetScan,
  type ParquetScan,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import {
  type ColumnarFile,
  type ColumnarPart,
  type ColumnValues,
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

/** @throws CodedError TABLE_INVALID */
export async function openParquet(path: string): Promise<ColumnarFile> {
  const scan = await opened(path);
  const { children } = parquetSchema(scan.metadata);
  const wholeDecimals = new Set(
    children.filter(({ element }) => isWholeDecimal(element)).map(({ element }) => element.name),
  );
  return {
    columns: children.map((column) => ({
      name: column.element.name,
      exactBelow: exactBelow(column.element),
      otherType: wholeDecimals.has(column.element.name) ? undefined : otherType(column),
    })),
    rowCount: Number(scan.metadata.num_rows),
    parts: (names) => partsOf(scan, names, wholeDecimals),
    // hyparquet opens the file for each read, so there is nothing to close.
    close: async () => {},
  };
}

function exactBelow({ type, logical_type }: SchemaElement): number | undefined {
  if (logical_type?.type === 'FLOAT16') return 2 ** 11;
  return type === 'FLOAT' ? EXACT_IN_FLOAT32 : undefined;
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

async function opened(path: string): Promise<ParquetScan> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    // hyparquet makes floats of `converted_type` DECIMAL, which round ids; it ignores the same `logical_type`.
    for (const element of metadata.schema.filter(isWholeDecimal)) {
      element.logical_type = { type: 'DECIMAL', scale: 0, precision: element.precision ?? 0 };
      delete element.converted_type;
    }
    // Bytes without a type stay bytes, so that TableRow can refuse those that are not UTF-8.
    return await parquetScan({ file, metadata, compressors, parsers: PARSERS, utf8: false });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw readingFault(path, error as NodeJS.ErrnoException);
    const cause = `expected a Parquet file, found another format or a truncated file (${message})`;
    throw tableFault(basename(path), null, cause);
  }
}

async function* partsOf(
  scan: ParquetScan,
  names: readonly string[],
  wholeDecimals: ReadonlySet<string>,
): AsyncGenerator<ColumnarPart> {
  for (const group of scan.ranges) {
    for (let rowStart = group.rowStart; rowStart < group.rowEnd; rowStart += ROWS_AT_A_TIME) {
      const rowEnd = Math.min(rowStart + ROWS_AT_A_TIME, group.rowEnd);
      const rowCount = rowEnd - rowStart;
      const values: ColumnValues[] = [];
      for (const column of names) {
        const data = await scan.readColumn({ column, rowStart, rowEnd });
        if (data.length !== rowCount) throw new Error(`${column} has ${data.length} of ${rowCount} rows`);
        const converted = wholeDecimals.has(column) ? wholeNumber : exact;
        values.push((row) => converted(data[row]));
      }
      yield { rowCount, values };
    }
  }
}
