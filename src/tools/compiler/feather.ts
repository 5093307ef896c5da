/** Reads Feather (the Arrow file format) one record batch at a time, so a file of 1 GB needs far less memory. */
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AsyncRecordBatchFileReader, DataType, Dictionary, Vector } from 'apache-arrow';
import { CodedError } from '../../engine/errors.js';
import {
  type ColumnarFile,
  type ColumnarPart,
  type ColumnValues,
  EXACT_IN_FLOAT32,
  exact,
  readingFault,
  tableFault,
} from './table-row.js';

const MAGIC = 'ARROW1';
/** Feather version 1 is another format. No library has written it by default since 2020. */
const OLD_MAGIC = 'FEA1';
/** First bytes of an Arrow stream, which is no file: it has no index of its parts. */
const STREAM = '\xff\xff\xff\xff';
/** A 64-bit integer is exact as a double if its upper word is from -EXACT_HIGH_WORDS to below EXACT_HIGH_WORDS. */
const EXACT_HIGH_WORDS = 1 << 21;

/** Below these, whole numbers are exact in a column of this type. */
const FLOATS_EXACT_BELOW: Readonly<Record<string, number | undefined>> = {
  Float16: 2 ** 11,
  Float32: EXACT_IN_FLOAT32,
};

/** Types of text, numbers and truth values, as Arrow prints them. */
const READABLE =
  /^(?:Null|Bool|U?[Ii]nt\d+|Float\d+|(?:Large)?Utf8|Utf8View|(?:Large|FixedSize)?Binary|BinaryView)\b/;
const LIST = /^(?:Large|FixedSize)?List\b/;

/** @throws CodedError TABLE_INVALID */
export async function openFeather(path: string): Promise<ColumnarFile> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw readingFault(path, error);
  });
  try {
    const reader = await readerOf(handle, (what) => tableFault(basename(path), null, what));
    return {
      columns: reader.schema.fields.map(({ name, type }) => ({
        name,
        exactBelow: FLOATS_EXACT_BELOW[String(entryType(type))],
        otherType: otherType(entryType(type)),
      })),
      rowCount: 0,
      parts: (names) => partsOf(reader, names),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    // Reading a folder fails, opening it does not.
    throw error instanceof CodedError ? error : readingFault(path, error as NodeJS.ErrnoException);
  }
}

/** The type of a column's values, also if a dictionary holds them. */
function entryType(type: DataType): DataType {
  return (type as Partial<Dictionary>).dictionary ?? type;
}

function otherType(type: DataType): string | undefined {
  const name = String(type);
  if (LIST.test(name)) {
    const item = type.children[0]!.type as DataType;
    // Arrow cannot read dictionaries with indices of 64 bits, and `valuesOf` replaces only those of whole columns.
    const isRefused = String((item as Partial<Dictionary>).indices).endsWith('64');
    return otherType(isRefused ? item : entryType(item));
  }
  return READABLE.test(name) ? undefined : /^\w+/.exec(name)![0];
}

async function* partsOf(
  reader: AsyncRecordBatchFileReader,
  names: readonly string[],
): AsyncGenerator<ColumnarPart> {
  for (let batch = 0; batch < reader.numRecordBatches; batch++) {
    const read = await reader.readRecordBatch(batch);
    if (read === null) throw new Error(`${batch} of ${reader.numRecordBatches} record batches`);
    yield { rowCount: read.numRows, values: names.map((name) => valuesOf(read.getChild(name)!)) };
  }
}

/** @throws CodedError TABLE_INVALID for another format or a truncated file */
async function readerOf(
  handle: FileHandle,
  fault: (what: string) => Error,
): Promise<AsyncRecordBatchFileReader> {
  const { size } = await handle.stat();
  const textAt = async (position: number) =>
    (await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, position)).buffer.toString('latin1');
  const start = await textAt(0);
  if (start.startsWith(OLD_MAGIC)) {
    throw fault(
      'expected Feather of version 2, found version 1: pyarrow.feather.write_feather writes version 2',
    );
  }
  if (start.startsWith(STREAM)) {
    throw fault('expected a Feather file, found an Arrow stream: save it with pyarrow.feather.write_feather');
  }
  if (start !== MAGIC || (await textAt(Math.max(0, size - MAGIC.length))) !== MAGIC) {
    throw fault('expected a Feather file, found another format or a truncated file');
  }
  try {
    const { RecordBatchReader } = await arrowWithCodecs();
    const reader = await RecordBatchReader.from(handle);
    return (await reader.open()) as AsyncRecordBatchFileReader;
  } catch (error) {
    const { message } = error as Error;
    const type = /^Unrecognized type: "(\w+)"/.exec(message)?.[1];
    throw fault(
      type === undefined
        ? `expected a Feather file, found a damaged one (${message})`
        : `expected columns of text and numbers, found one of type ${type}: save the table as Parquet or CSV`,
    );
  }
}

/** Arrow and its decompression, imported only when such a file is read. */
async function arrowWithCodecs() {
  const [arrow, { default: decompressLz4 }, { decompressZstd }] = await Promise.all([
    import('apache-arrow'),
    import('@foxglove/wasm-lz4'),
    import('hyparquet-compressors'),
  ]);
  await decompressLz4.isLoaded;
  const { compressionRegistry, CompressionType } = arrow;
  // Each buffer is one LZ4 frame. The length before it is unreliable: the JavaScript writer of Arrow stores the
  // compressed length there.
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: (frame) => decompressLz4(frame, greatestLength(frame)),
  });
  // Copied, because Arrow needs buffers that begin at a multiple of 8 bytes, and fzstd returns one at byte 12 of another.
  compressionRegistry.set(CompressionType.ZSTD, { decode: (frame) => decompressZstd(frame).slice() });
  return arrow;
}

/** Upper bound of the decompressed length of an LZ4 frame: its number of blocks times the largest block size. */
function greatestLength(frame: Uint8Array): number {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const [flags = 0, sizes = 0] = frame.subarray(4, 6);
  const blockBytes = 1 << (8 + 2 * ((sizes >> 4) & 7));
  const hasChecksums = (flags & 0x10) !== 0;
  let at = 7 + ((flags & 0x08) === 0 ? 0 : 8);
  let length = 0;
  for (let block: number; at + 4 <= frame.length && (block = view.getUint32(at, true)) !== 0;) {
    at += 4 + (block & 0x7fffffff) + (hasChecksums ? 4 : 0);
    length += blockBytes;
  }
  return length;
}

/** Converts 64-bit integers to numbers if that is exact, because a BigInt for each takes ten times as long. */
function valuesOf(vector: Vector): ColumnValues {
  const { values, dictionary }: { values: unknown; dictionary?: Vector } = vector.data[0]!;
  // Arrow itself finds no entry of a dictionary by an index of 64 bits, which is a BigInt.
  if (vector.data.length === 1 && dictionary !== undefined) {
    const entries = valuesOf(dictionary);
    const indices = values as ArrayLike<number | bigint>;
    return (row) => (vector.isValid(row) ? entries(Number(indices[row])) : null);
  }
  if (vector.data.length !== 1 || vector.nullCount > 0 || !(values instanceof BigInt64Array)) {
    return (row) => exact(vector.get(row));
  }
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  return (row) => {
    const high = words[2 * row + 1]!;
    return high >= -EXACT_HIGH_WORDS && high < EXACT_HIGH_WORDS
      ? high * 2 ** 32 + (words[2 * row]! >>> 0)
      : values[row];
  };
}
