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
import { CodedError } from '../errors.js';
import { chosenColumns, ColumnRow, type ColumnValues, exact, sourceOf } from './column-row.js';
import type { Progress } from './progress.js';
import type { ColumnChoice } from './read-table.js';
import { tableFault, type TableRow } from './table-row.js';

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
    const table = await ParquetTable.opened(path);
    chosenColumns(table.file, columns, table.columnNames);
    for (const { name, type, logical_type, converted_type } of table.#fields) {
      const annotated = logical_type?.type ?? converted_type;
      const isWhole = annotated === undefined || /^U?INT(EGER|_\d+)$/.test(annotated);
      if (columns.includes(name) && !(isWhole && ['INT32', 'INT64'].includes(type ?? ''))) {
        const described = [type ?? 'a group', annotated].filter(Boolean).join(', ');
        throw tableFault(table.file, null, `expected ${name} to hold whole numbers, found ${described}`);
      }
    }
    return table;
  }

  /** @throws CodedError TABLE_INVALID for what is no Parquet file, or has no rows */
  static async opened(path: string): Promise<ParquetTable> {
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
    if (table.rowCount === 0) throw fault('expected rows, found none');
    return table;
  }

  get #fields() {
    return parquetSchema(this.metadata).children.map(({ element }) => element);
  }

  get columnNames(): string[] {
    return this.#fields.map(({ name }) => name);
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
    for (const [start, end] of this.#parts()) {
      let row = start;
      for (const value of (await this.#valuesOf(column, start, end)) as Value[]) {
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

  /** Calls back for each row, with columns of any type. */
  async readRows(
    names: readonly string[],
    progress: Progress,
    onRow: (row: TableRow) => void,
  ): Promise<void> {
    progress.begin(`Reading ${this.file}`, this.rowCount, 'items');
    const row = new ColumnRow(this.file, names);
    for (const [start, end] of this.#parts()) {
      const columns: ColumnValues[] = [];
      for (const name of names) {
        const values = await this.#valuesOf(name, start, end);
        columns.push((at) => exact(values[at]));
      }
      row.take(columns, start, end - start, onRow);
      progress.reached(end);
    }
  }

  /** Ranges of rows that are read at once. */
  *#parts(): Iterable<[start: number, end: number]> {
    let start = 0;
    for (const { num_rows } of this.metadata.row_groups) {
      const endOfGroup = start + Number(num_rows);
      while (start < endOfGroup) {
        const end = Math.min(start + ROWS_AT_A_TIME, endOfGroup);
        yield [start, end];
        start = end;
      }
    }
  }

  async #valuesOf(column: string, rowStart: number, rowEnd: number): Promise<unknown[]> {
    const values: unknown[] = [];
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
          for (let row = from; row < to; row++) values[row - rowStart] = columnData[row - first];
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

  source(): Promise<SourceFile> {
    return sourceOf(this.path);
  }
}

/** @throws CodedError TABLE_INVALID */
export async function readParquet(
  path: string,
  columns: ColumnChoice,
  progress: Progress,
  onRow: (row: TableRow) => void,
): Promise<SourceFile> {
  const table = await ParquetTable.opened(path);
  await table.readRows(chosenColumns(table.file, columns, table.columnNames), progress, onRow);
  return table.source();
}
