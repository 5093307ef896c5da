/** Rows of tables that are stored by columns: values have types, so numbers need no text on their way. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { SourceFile } from '../connectome/connectome.js';
import { describeValue } from '../errors.js';
import type { ColumnChoice } from './read-table.js';
import { type IdValue, tableFault, TableRow } from './table-row.js';

/** @returns the value of a column in a row of the batch that is being read */
export type ColumnValues = (row: number) => unknown;

/** The row that a reader stands at; see CsvRow. */
export class ColumnRow extends TableRow {
  readonly noun = 'row';
  /** Those of the batch that is being read, in the order of the names. */
  columns: readonly ColumnValues[] = [];
  /** Its place in the batch. */
  index = 0;

  text(column: number): string {
    return textOf(this.columns[column]!(this.index));
  }

  override id(column: number): IdValue {
    const value = this.columns[column]!(this.index);
    const isId = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
    return isId && value >= 0 ? value : super.id(column);
  }

  override count(column: number): number {
    const value = this.columns[column]!(this.index);
    return typeof value === 'number' && value >= 1 && value <= 0x7fff && Number.isInteger(value)
      ? value
      : super.count(column);
  }

  /** Calls back for each row of a batch. @param first number of its first row in the table */
  take(columns: readonly ColumnValues[], first: number, rowCount: number, onRow: (row: this) => void): void {
    this.columns = columns;
    for (let index = 0; index < rowCount; index++) {
      this.index = index;
      this.at = first + index;
      onRow(this);
    }
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  // A list, such as a position.
  return typeof value === 'object' ? Array.from(value as Iterable<unknown>, String).join(' ') : String(value);
}

/** A whole number of 64 bits as a number where that is exact. */
export function exact(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/**
 * @param found columns of the table
 * @throws CodedError TABLE_INVALID where one is missing
 */
export function chosenColumns(
  file: string,
  columns: ColumnChoice,
  found: readonly string[],
): readonly string[] {
  const chosen = typeof columns === 'function' ? columns(found) : columns;
  const missing = chosen.filter((column) => !found.includes(column));
  if (missing.length === 0) return chosen;
  throw tableFault(
    file,
    null,
    `expected a column ${missing.join(', ')}, found the columns ${describeValue(found.join(', '), 200)}`,
  );
}

/** The file with the SHA-256 of its bytes. */
export async function sourceOf(path: string): Promise<SourceFile> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return { file: basename(path), sha256: hash.digest('hex') };
}
