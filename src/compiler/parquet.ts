/** Reads columns of whole numbers from a Parquet file, one column after the other and never as objects of rows. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type DecodedArray,
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

/**
 * So many rows are asked for at a time. The library hands on whole pages, so a file of one page is one piece; but of a
 * column of many pages no more than these are in memory as numbers.
 */
const ROWS_AT_A_TIME = 1 << 18;

/** Rows are counted from 0, as pandas does. */
export function rowFault(file: string, row: number, what: string): CodedError {
  return new CodedError('TABLE_INVALID', `${file}, row ${row}: ${what}.`);
}

export class ParquetTable {
  private constructor(
    private readonly path: string,
    readonly file: string,
    private readonly buffer: AsyncBuffer,
    private readonly metadata: FileMetaData,
    readonly rowCount: number,
  ) {}

  /**
   * @param columns must be there, and hold whole numbers
   * @throws CodedError TABLE_INVALID for what is no Parquet file, or lacks a column
   */
  static async open(path: string, columns: readonly string[]): Promise<ParquetTable> {
    const file = basename(path);
    let buffer: AsyncBuffer;
    let metadata: FileMetaData;
    try {
      buffer = await asyncBufferFromFile(path);
      metadata = await parquetMetadataAsync(buffer);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') {
        throw tableFault(file, null, `expected a file at ${path}, found none`);
      }
      throw tableFault(
        file,
        null,
        code === undefined
          ? `expected a Parquet file, found another format or a truncated file (${message})`
          : `cannot be read at ${path}: ${message}`,
      );
    }
    const found = parquetSchema(metadata).children;
    const missing = columns.filter((name) => !found.some(({ element }) => element.name === name));
    if (missing.length > 0) {
      const names = found.map(({ element }) => element.name).join(', ');
      throw tableFault(
        file,
        null,
        `expected a column ${missing.join(', ')}, found the columns ${describeValue(names, 200)}`,
      );
    }
    for (const name of columns) {
      const { element } = found.find((each) => each.element.name === name)!;
      const annotated = element.logical_type?.type ?? element.converted_type;
      if (
        !['INT32', 'INT64'].includes(element.type ?? '') ||
        !(annotated === undefined || /^U?INT(EGER|_\d+)$/.test(annotated))
      ) {
        const type = [element.type ?? 'a group', annotated].filter(Boolean).join(', ');
        throw tableFault(file, null, `expected ${name} to hold whole numbers, found ${type}`);
      }
    }
    const rowCount = Number(metadata.num_rows);
    if (rowCount === 0) {
      throw tableFault(file, null, 'expected rows, found none');
    }
    return new ParquetTable(path, file, buffer, metadata, rowCount);
  }

  /**
   * Reads one column from its first row to its last.
   * @throws CodedError TABLE_INVALID for a row without a value, and for damaged data
   */
  async readColumn(
    column: string,
    progress: Progress,
    onValue: (value: number | bigint, row: number) => void,
  ): Promise<void> {
    progress.begin(`Reading ${column}`, this.rowCount, 'items');
    let next = 0;
    const take = (values: DecodedArray, rowStart: number) => {
      if (rowStart > next) throw this.#damaged(column, next, `its next rows are ${rowStart} and on`);
      for (let k = Math.max(0, next - rowStart); k < values.length && next < this.rowCount; k++) {
        const value = values[k] as number | bigint | null | undefined;
        if (value === null || value === undefined) {
          throw rowFault(this.file, next, `expected ${column} to be a whole number, found nothing`);
        }
        onValue(value, next++);
      }
    };
    // Never across the end of a row group: the library reads several at once, and hands on their pages in any order.
    let endOfGroup = 0;
    const groups = this.metadata.row_groups.map(({ num_rows }) => Number(num_rows)).values();
    while (next < this.rowCount) {
      while (endOfGroup <= next) endOfGroup += groups.next().value ?? Infinity;
      const before = next;
      try {
        await parquetRead({
          file: this.buffer,
          metadata: this.metadata,
          columns: [column],
          compressors,
          rowStart: before,
          rowEnd: Math.min(before + ROWS_AT_A_TIME, endOfGroup, this.rowCount),
          onPage: ({ columnData, rowStart }) => take(columnData, rowStart),
        });
      } catch (error) {
        if (error instanceof CodedError) throw error;
        throw this.#damaged(column, next, (error as Error).message);
      }
      if (next === before) throw this.#damaged(column, next, `there are ${this.rowCount} rows`);
      progress.reached(next);
    }
  }

  /** The file with the SHA-256 of its bytes. */
  async source(): Promise<SourceFile> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(this.path)) hash.update(chunk as Buffer);
    return { file: this.file, sha256: hash.digest('hex') };
  }

  #damaged(column: string, row: number, why: string): CodedError {
    return rowFault(this.file, row, `${column} cannot be read from here on: the file is damaged (${why})`);
  }
}
