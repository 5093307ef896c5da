/** Reads Feather, which is the file format of Arrow, one record batch at a time: 1 GB of it needs no 1 GB of memory. */
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AsyncRecordBatchFileReader, Vector } from 'apache-arrow';
import {
  type ColumnarFile,
  type ColumnarPart,
  type ColumnValues,
  exact,
  readingFault,
  tableFault,
} from './table-row.js';

const MAGIC = 'ARROW1';
/** Version 1 of Feather, another format, which nothing writes by default since 2020. */
const OLD_MAGIC = 'FEA1';
/** A whole number is exact as a double where its upper word is within these. */
const EXACT_HIGH_WORDS = 1 << 21;

/** @throws CodedError TABLE_INVALID */
export async function openFeather(path: string): Promise<ColumnarFile> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw readingFault(path, error);
  });
  try {
    const reader = await readerOf(handle, (what) => tableFault(basename(path), null, what));
    return {
      columns: reader.schema.fields.map(({ name }) => name),
      rowCount: 0,
      parts: (names) => partsOf(reader, names),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
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

/** @throws CodedError TABLE_INVALID for what is no file of Arrow, or is cut off */
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
  if (start !== MAGIC || (await textAt(Math.max(0, size - MAGIC.length))) !== MAGIC) {
    throw fault('expected a Feather file, found another format or a truncated file');
  }
  try {
    const { RecordBatchReader } = await arrowWithCodecs();
    const reader = await RecordBatchReader.from(handle);
    return (await reader.open()) as AsyncRecordBatchFileReader;
  } catch (error) {
    throw fault(`expected a Feather file, found a damaged one (${(error as Error).message})`);
  }
}

/** Arrow and its decompression, loaded by those who read such a file. */
async function arrowWithCodecs() {
  const [arrow, { default: decompressLz4 }, { decompressZstd }] = await Promise.all([
    import('apache-arrow'),
    import('@foxglove/wasm-lz4'),
    import('hyparquet-compressors'),
  ]);
  await decompressLz4.isLoaded;
  const { compressionRegistry, CompressionType } = arrow;
  // Each buffer is a frame of its own. The lengths that stand before them are not always right: Arrow's own writer in
  // JavaScript puts those of the compressed bytes.
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: (frame) => decompressLz4(frame, greatestLength(frame)),
  });
  compressionRegistry.set(CompressionType.ZSTD, { decode: (frame) => decompressZstd(frame) });
  return arrow;
}

/** The most bytes that a frame of LZ4 may hold: all its blocks, as large as its header allows. */
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

/** Whole numbers of 64 bits become numbers where these are exact, since a BigInt each takes ten times as long. */
function valuesOf(vector: Vector): ColumnValues {
  const values: unknown = vector.data[0]?.values;
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
