/** Feather files for tests: real ones, in several record batches, with buffers compressed as Arrow compresses them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  compressionRegistry,
  CompressionType,
  DataType,
  Field,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { BufferRegion } from 'apache-arrow/ipc/metadata/message';

export interface FeatherColumn {
  readonly type: DataType;
  readonly values: readonly unknown[];
}

/**
 * Compresses all buffers and stores their lengths, as the C++ library of Arrow does, and with it pandas. The JavaScript
 * library leaves a buffer as it is if the compressed one is larger.
 */
class CompressingWriter extends RecordBatchFileWriter {
  protected override _compressBodyBuffers(buffers: ArrayBufferView[]) {
    const { encode } = compressionRegistry.get(this._compression!.type)!;
    let byteLength = 0;
    const compressed = buffers.map((buffer) => {
      const data = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      if (data.length === 0) return { region: new BufferRegion(byteLength, 0), parts: [data, data] };
      const length = new Uint8Array(BigInt64Array.of(BigInt(data.length)).buffer);
      const frame = encode!(data);
      const region = new BufferRegion(byteLength, length.length + frame.length);
      byteLength += (region.length + 7) & ~7;
      return { region, parts: [length, frame] };
    });
    return {
      byteLength,
      bufferRegions: compressed.map(({ region }) => region),
      buffers: compressed.flatMap(({ parts }) => parts),
    };
  }
}

const LZ4_BLOCK_BYTES = 1 << 16;
/** Magic number, blocks of 64 KiB that refer to earlier ones, no checksums; and the checksum of that. */
const LZ4_HEADER = Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0);
const ZSTD_RAW_BYTES = 1 << 16;

/** @returns the path of a new file */
export function writeFeather(
  name: string,
  columns: Readonly<Record<string, FeatherColumn>>,
  compression: 'lz4' | 'zstd' | 'none' = 'lz4',
  rowsPerBatch = 400,
  dir = mkdtempSync(join(tmpdir(), 'feather-')),
): string {
  compressionRegistry.set(CompressionType.LZ4_FRAME, { encode: lz4Frame });
  compressionRegistry.set(CompressionType.ZSTD, { encode: zstdFrame });
  const types = { lz4: CompressionType.LZ4_FRAME, zstd: CompressionType.ZSTD, none: null };
  const fields = Object.entries(columns).map(([column, { type }]) => new Field(column, type, true));
  const schema = new Schema(fields);
  const writer = new CompressingWriter({ compressionType: types[compression] });
  writer.reset(undefined, schema);
  // Whole columns first: the batches of a file share the values of their dictionaries.
  const vectors = Object.values(columns).map(vectorOf);
  const rowCount = Math.max(...vectors.map(({ length }) => length));
  for (let row = 0; row < rowCount; row += rowsPerBatch) {
    const end = Math.min(row + rowsPerBatch, rowCount);
    const children = vectors.map((vector) => vector.slice(row, end).data[0]!);
    const type = new Struct(fields);
    writer.write(new RecordBatch(schema, makeData({ type, length: end - row, nullCount: 0, children })));
  }
  writer.finish();
  const path = join(dir, name);
  writeFileSync(path, writer.toUint8Array(true));
  return path;
}

function vectorOf({ type, values }: FeatherColumn): Vector {
  if (!DataType.isDictionary(type)) return vectorFromArray(values, type);
  // Arrow's own builder cannot number the entries of a dictionary in 64 bits.
  const entries: unknown[] = [...new Set(values.filter((value) => value !== null))];
  const { bitWidth }: { bitWidth: number } = type.indices;
  const indexOf = (value: unknown) =>
    bitWidth === 64 ? BigInt(entries.indexOf(value)) : entries.indexOf(value);
  const numbers = values.map((value) => (value === null ? null : indexOf(value)));
  const { length, nullCount, nullBitmap, values: data } = vectorFromArray(numbers, type.indices).data[0]!;
  const dictionary = vectorFromArray(entries, type.dictionary);
  return makeVector(makeData({ type, length, nullCount, nullBitmap, data, dictionary }));
}

/** A frame with real matches, some of which begin in an earlier block, as Arrow's own writer makes them. */
export function lz4Frame(data: Uint8Array): Uint8Array {
  const out: number[] = [...LZ4_HEADER];
  const seen = new Map<number, number>();
  for (let begin = 0; begin < data.length; begin += LZ4_BLOCK_BYTES) {
    const block = lz4Block(data, begin, Math.min(begin + LZ4_BLOCK_BYTES, data.length), seen);
    out.push(...word(block.length), ...block);
  }
  out.push(...word(0));
  return Uint8Array.from(out);
}

function lz4Block(data: Uint8Array, begin: number, end: number, seen: Map<number, number>): number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const out: number[] = [];
  const length = (rest: number) => {
    for (let left = rest - 15; left >= 0; left -= 255) out.push(Math.min(left, 255));
  };
  let literals = begin;
  const sequence = (at: number, offset: number, match: number) => {
    const count = at - literals;
    out.push((Math.min(count, 15) << 4) | (offset === 0 ? 0 : Math.min(match - 4, 15)));
    length(count);
    for (let i = literals; i < at; i++) out.push(data[i]!);
    if (offset === 0) return;
    out.push(offset & 255, offset >> 8);
    length(match - 4);
  };
  // The last five bytes of a block are literals, and no match begins in its last twelve.
  for (let at = begin; at < end - 12;) {
    const key = view.getUint32(at, true);
    const earlier = seen.get(key);
    seen.set(key, at);
    if (earlier === undefined || at - earlier > 0xffff) {
      at++;
      continue;
    }
    let match = 4;
    while (at + match < end - 5 && data[earlier + match] === data[at + match]) match++;
    sequence(at, at - earlier, match);
    at += match;
    literals = at;
  }
  sequence(end, 0, 0);
  return out;
}

/** A frame of raw blocks, or of run-length blocks if a block is one repeated byte. */
function zstdFrame(data: Uint8Array): Uint8Array {
  const out: number[] = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...word(data.length)];
  for (let begin = 0; begin < data.length; begin += ZSTD_RAW_BYTES) {
    const block = data.subarray(begin, begin + ZSTD_RAW_BYTES);
    const isLast = begin + ZSTD_RAW_BYTES >= data.length;
    const isRun = block.every((byte) => byte === block[0]);
    out.push(...word((block.length << 3) | (isRun ? 2 : 0) | (isLast ? 1 : 0)).slice(0, 3));
    out.push(...(isRun ? block.subarray(0, 1) : block));
  }
  return Uint8Array.from(out);
}

function word(value: number): number[] {
  return [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24];
}
