import type { DecodedArray, KeyValue, SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnValues, TableColumn } from '../kinds/result-rows.js';
import { type TableBatch, TRUNCATED, type TableEncoder } from './tables.js';

/**
 * Small conditions share a row group until it has so many rows, because each group costs some hundred bytes a column. A group is
 * written without a pause, so larger ones would block the thread for longer.
 */
const SMALLEST_ROW_GROUP = 8192;

/** Writes Parquet with Snappy, which every reader supports. The footer lists the conditions with left-out rows. */
export class ParquetEncoder implements TableEncoder {
  readonly #bytes = new ByteWriter();
  readonly #metadata: KeyValue[] = [];
  readonly #truncated = new Set<number>();
  readonly #writer: ParquetWriter;
  #waiting: TableBatch[] = [];
  #waitingRows = 0;

  constructor(private readonly columns: readonly TableColumn[]) {
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'root', num_children: columns.length }, ...columns.map(schemaElement)],
      codec: 'SNAPPY',
      kvMetadata: this.#metadata,
      createdBy: 'neural-experiment-service',
    });
  }

  *begin(metadata: ReadonlyMap<string, string>): Iterable<Uint8Array> {
    for (const [key, value] of metadata) this.#metadata.push({ key, value });
    yield this.#take();
  }

  *append(batch: TableBatch): Iterable<Uint8Array> {
    if (batch.truncated) this.#truncated.add(batch.condition);
    this.#waiting.push(batch);
    this.#waitingRows += batch.rows;
    if (this.#waitingRows >= SMALLEST_ROW_GROUP) yield this.#rowGroup();
  }

  *end(): Iterable<Uint8Array> {
    if (this.#waitingRows > 0) yield this.#rowGroup();
    if (this.#truncated.size > 0) {
      this.#metadata.push({ key: TRUNCATED, value: JSON.stringify([...this.#truncated]) });
    }
    void this.#writer.finish();
    yield this.#take();
  }

  #rowGroup(): Uint8Array {
    const columnData = this.columns.map((column, at) => {
      const parts = this.#waiting.map(({ values }) => values[at]!);
      return {
        name: column.name,
        data: parquetValues(column, parts),
        // By default the library decides by a sample; it would not use a dictionary if events of many neurons are spread out.
        ...(column.type === 'text' || column.type === 'label' ? { encoding: 'RLE_DICTIONARY' as const } : {}),
      };
    });
    void this.#writer.write({ columnData, rowGroupSize: this.#waitingRows });
    this.#waiting = [];
    this.#waitingRows = 0;
    return this.#take();
  }

  /** Takes the written bytes. The writer's total offset is kept, because the footer has offsets in the file. */
  #take(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return bytes;
  }
}

const PHYSICAL_TYPES = {
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  label: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
} as const;

function schemaElement({ name, type, nullable = false }: TableColumn): SchemaElement {
  return { name, repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED', ...PHYSICAL_TYPES[type] };
}

function parquetValues(
  { type, nullable, labels }: TableColumn,
  parts: readonly ColumnValues[],
): DecodedArray {
  const values = joined(parts);
  if (type === 'label') return Array.from(values as Int32Array, (position) => labels![position]!);
  if (nullable) return Array.from(values as Float64Array, (value) => (Number.isNaN(value) ? null : value));
  return values as DecodedArray;
}

type TypedArrays = Int32Array | Float64Array | BigInt64Array;

/** Joins parts of a column. All have the same type. */
function joined(parts: readonly ColumnValues[]): ColumnValues {
  const first = parts[0]!;
  if (parts.length === 1) return first;
  if (Array.isArray(first)) return parts.flat() as string[];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new (first.constructor as new (length: number) => TypedArrays)(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part as never, at);
    at += part.length;
  }
  return whole;
}
