/** Reads columns of whole numbers from a Parquet file, one column after the other and never as objects of rows. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
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
import { CodedError, describeValue } from '../errors.js';
import { tableFault } from './csv.js';
import type { Progress } from './progress.js';

type Value = number | bigint | null | undefined;

/** Rows of a column that are asked for at once: a file may have one row group of 15 million. */
const ROWS_AT_A_TIME = 1 << 18;

export class ParquetTable {
  readonly rowCount: number;

  private constructor(
    private readonly path: string,
    readonly file: string,
    private readonly buffer: AsyncBuffer,
    private readonly metadata: FileMetaData,
  ) {
    this.rowCount = metadata.row_groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
  }

  /**
   * @param columns must be there, and hold whole numbers
   * @throws CodedError TABLE_INVALID for what is no Parquet file, or lacks a column
   */
  static async open(path: string, columns: readonly string[]): Promise<ParquetTable> {
    const file = basename(path);
    const fault = (what: string) => tableFault(file, null, what);
    let table: ParquetTable;
    try {
      const buffer = await asyncBufferFromFile(path);
      table = new ParquetTable(path, file, buffer, await parquetMetadataAsync(buffer));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw fault(`expected a file at ${path}, found none`);
      throw fault(
        code === undefined
          ? `expected a Parquet file, found another format or a truncated file (${message})`
          : `cannot be read at ${path}: ${message}`,
      );
    }
    const found = parquetSchema(table.metadata).children.map(({ element }) => element);
    const missing = columns.filter((column) => !found.some(({ name }) => name === column));
    if (missing.length > 0) {
      const names = describeValue(found.map(({ name }) => name).join(', '), 200);
      throw fault(`expected a column ${missing.join(', ')}, found the columns ${names}`);
    }
    for (const { name, type, logical_type, converted_type } of found) {
      const annotated = logical_type?.type ?? converted_type;
      const isWhole = annotated === undefined || /^U?INT(EGER|_\d+)$/.test(annotated);
      if (columns.includes(name) && !(isWhole && ['INT32', 'INT64'].includes(type ?? ''))) {
        const described = [type ?? 'a group', annotated].filter(Boolean).join(', ');
        throw fault(`expected ${name} to hold whole numbers, found ${described}`);
      }
    }
    if (table.rowCount === 0) throw fault('expected rows, found none');
    return table;
  }

  /** A fault of a row; rows are counted from 0, as pandas does. */
  fault(row: number, what: string): CodedError {
    return new CodedError('TABLE_INVALID', `${this.file}, row ${row}: ${what}.`);
  }

  /**
   * Reads one column from its first row to its last, a part of a row group at a time.
   * @param onValue returns a phrase on what a value should be, if it is wrong
   * @throws CodedError TABLE_INVALID for a row without a value, and for damaged data
   */
  async readColumn(
    column: string,
    progress: Progress,
    onValue: (value: number | bigint, row: number) => string | undefined,
  ): Promise<void> {
    progress.begin(`Reading ${column}`, this.rowCount, 'items');
    let row = 0;
    let endOfGroup = 0;
    const groups = this.metadata.row_groups.values();
    while (row < this.rowCount) {
      if (row === endOfGroup) endOfGroup += Number(groups.next().value!.num_rows);
      for (const value of await this.#valuesOf(column, row, Math.min(row + ROWS_AT_A_TIME, endOfGroup))) {
        if (value === null || value === undefined) {
          throw this.fault(row, `expected ${column} to be a whole number, found nothing`);
        }
        const expected = onValue(value, row);
        if (expected !== undefined) {
          throw this.fault(row, `expected ${column} to be ${expected}, found ${value}`);
        }
        row++;
      }
      progress.reached(row);
    }
  }

  async #valuesOf(column: string, rowStart: number, rowEnd: number): Promise<Value[]> {
    const values: Value[] = [];
    let count = 0;
    try {
      await parquetRead({
        file: this.buffer,
        metadata: this.metadata,
        columns: [column],
        compressors,
        rowStart,
        rowEnd,
        // Whole pages, which may begin before the first row that is wanted and end behind the last.
        onChunk: ({ columnData, rowStart: first }) => {
          const from = Math.max(rowStart, first);
          const to = Math.min(rowEnd, first + columnData.length);
          for (let row = from; row < to; row++) values[row - rowStart] = columnData[row - first] as Value;
          count += Math.max(0, to - from);
        },
      });
      if (count === rowEnd - rowStart) return values;
      throw new Error(`${count} of ${rowEnd - rowStart} rows`);
    } catch (error) {
      const why = (error as Error).message;
      throw this.fault(rowStart, `${column} cannot be read from here on: the file is damaged (${why})`);
    }
  }

  /** The file with the SHA-256 of its bytes. */
  async source(): Promise<SourceFile> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(this.path)) hash.update(chunk as Buffer);
    return { file: this.file, sha256: hash.digest('hex') };
  }
}
