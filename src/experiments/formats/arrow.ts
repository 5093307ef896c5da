import {
  Dictionary,
  Field,
  Float64,
  Int16,
  Int32,
  Int64,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Utf8,
  type Data,
  type DataType,
  type Vector,
} from 'apache-arrow';
import { AsyncByteQueue } from 'apache-arrow/io/stream';
import type { ColumnValues, TableColumn } from '../kinds/result-rows.js';
import { type TableBatch, TRUNCATED, type TableEncoder } from './tables.js';

/**
 * Writes the streaming format of Arrow: the schema, then a record batch for each batch of the table. Label columns are
 * dictionaries. They are sent once, before the first batch, because many readers support only that.
 */
export class ArrowEncoder implements TableEncoder {
  readonly #columns: readonly ArrowColumn[];
  readonly #sink = new PieceQueue();
  readonly #writer = new RecordBatchStreamWriter();
  #schema = new Schema();

  constructor(columns: readonly TableColumn[]) {
    this.#columns = columns.map(arrowColumn);
  }

  begin(metadata: ReadonlyMap<string, string>): Iterable<Uint8Array> {
    const fields = this.#columns.map(({ field }) => field);
    this.#schema = new Schema(fields, new Map(metadata));
    // The schema is written even if no batch follows.
    this.#writer.reset(this.#sink, this.#schema);
    return this.#sink.take();
  }

  append({ rows, values, truncated }: TableBatch): Iterable<Uint8Array> {
    const data = makeData({
      type: new Struct(this.#schema.fields),
      length: rows,
      nullCount: 0,
      children: this.#columns.map((column, at) => column.dataOf(values[at]!)),
    });
    const metadata = truncated ? new Map([[TRUNCATED, 'true']]) : undefined;
    this.#writer.write(new RecordBatch(this.#schema, data, metadata));
    return this.#sink.take();
  }

  end(): Iterable<Uint8Array> {
    this.#writer.finish();
    return this.#sink.take();
  }
}

/** Holds the bytes written since the last take(). The queue of the library would hold all of them until somebody awaits it. */
class PieceQueue extends AsyncByteQueue {
  #pieces: Uint8Array[] = [];

  override write(piece: Uint8Array): void {
    this.#pieces.push(piece);
  }

  take(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}

interface ArrowColumn {
  readonly field: Field;
  dataOf(values: ColumnValues): Data;
}

function arrowColumn({ name, type, nullable = false, labels }: TableColumn, place: number): ArrowColumn {
  const column = (of: DataType, dataOf: (values: never) => Data) => ({
    field: new Field(name, of, nullable),
    dataOf: dataOf as ArrowColumn['dataOf'],
  });
  switch (type) {
    case 'int32':
      return column(new Int32(), (data: Int32Array) => makeData({ type: new Int32(), data, nullCount: 0 }));
    case 'int64':
      return column(new Int64(), (data: BigInt64Array) =>
        makeData({ type: new Int64(), data, nullCount: 0 }),
      );
    case 'double':
      return column(new Float64(), doubles);
    case 'text':
      return column(new Utf8(), utf8);
    case 'label': {
      const Indices = labels!.length < 2 ** 15 ? Int16 : Int32;
      // An explicit id: by default the library numbers dictionaries over the whole process, so equal answers would differ.
      const of = new Dictionary(new Utf8(), new Indices(), place);
      const dictionary = makeVector(utf8(labels!)) as Vector<Utf8>;
      return column(of, (values: Int32Array) =>
        makeData({ type: of, data: new Indices().ArrayType.from(values), nullCount: 0, dictionary }),
      );
    }
  }
}

function doubles(values: Float64Array): Data<Float64> {
  const nullCount = values.reduce((count, value) => count + Number(Number.isNaN(value)), 0);
  if (nullCount === 0) return makeData({ type: new Float64(), data: values, nullCount });
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  for (const [row, value] of values.entries()) {
    if (!Number.isNaN(value)) nullBitmap[row >> 3]! |= 1 << (row & 7);
  }
  const data = values.map((value) => (Number.isNaN(value) ? 0 : value));
  return makeData({ type: new Float64(), data, nullCount, nullBitmap });
}

function utf8(texts: readonly string[]): Data<Utf8> {
  const encoder = new TextEncoder();
  const joined = texts.join('');
  const data = encoder.encode(joined);
  // Fast path: nearly all texts are ASCII, with one byte for each character.
  const isAscii = data.length === joined.length;
  const valueOffsets = new Int32Array(texts.length + 1);
  for (const [row, text] of texts.entries()) {
    valueOffsets[row + 1] = valueOffsets[row]! + (isAscii ? text.length : encoder.encode(text).length);
  }
  return makeData({ type: new Utf8(), length: texts.length, nullCount: 0, valueOffsets, data });
}
