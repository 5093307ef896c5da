/**
 * Common parts of the formats of tables: columns are chosen, values taken from a row, and faults named by their place.
 */
import { basename } from 'node:path';
import { CodedError, describeValue } from '../errors.js';

const MAXIMUM_COUNT = 999_999_999;
const COUNT = /^[1-9]\d{0,8}$/;
const COUNT_WORDS = `a whole number from 1 to ${MAXIMUM_COUNT}`;
const ROOT_ID = /^[1-9]\d{0,17}$/;
const ID = /^\d{1,20}$/;
const FRACTION = /^(\d+(\.\d*)?([eE][-+]?\d+)?)?$/;

/** An id as the format of a table has it; NeuronIds finds each of them. */
export type IdValue = string | number | bigint;

/** @returns the value of a column in a row of the part of the table that is being read */
export type ColumnValues = (index: number) => unknown;

/**
 * @param place such as line 7; null where the file as a whole is meant
 * @throws CodedError TABLE_INVALID
 */
export function tableFault(file: string, place: string | null, what: string): CodedError {
  return new CodedError('TABLE_INVALID', `${file}${place === null ? '' : `, ${place}`}: ${what}.`);
}

/** @param hint on what to do about a file that is not there */
export function readingFault(path: string, { code, message }: NodeJS.ErrnoException, hint = ''): CodedError {
  const what =
    code === 'ENOENT'
      ? `expected a file at ${path}, found none${hint}`
      : `cannot be read at ${path}: ${message}`;
  return tableFault(basename(path), null, what);
}

/** Names of the columns that are wanted, or a function that chooses them among those of the table. */
export type ColumnChoice = readonly string[] | ((found: readonly string[]) => readonly string[]);

/** An open file that is stored by columns: its values have types, so numbers need no text on their way. */
export interface ColumnarFile {
  readonly columns: readonly string[];
  /** 0 where it is not known beforehand. */
  readonly rowCount: number;
  /** The values of some columns, in parts that follow one another. @throws Error where the file is damaged */
  parts(columns: readonly string[]): AsyncIterator<ColumnarPart>;
  close(): Promise<void>;
}

export interface ColumnarPart {
  readonly rowCount: number;
  readonly values: readonly ColumnValues[];
}

/**
 * The row that a reader stands at. There is one such object a table, so what is wanted of a row is taken before the next
 * one. Columns are numbered in the order in which the reader asked for them.
 */
export class TableRow {
  /** Its number in the file. */
  at = 0;
  columns: readonly ColumnValues[] = [];
  /** Its place in the part of the table that is being read. */
  index = 0;

  /** @param noun how a person finds it: the line of a text, counted from 1, or the row, counted from 0 as pandas does */
  constructor(
    readonly file: string,
    readonly noun: 'line' | 'row',
    private readonly names: readonly string[],
  ) {}

  get place(): string {
    return `${this.noun} ${this.at}`;
  }

  /** Empty where the table has no value. */
  text(column: number): string {
    return textOf(this.columns[column]!(this.index));
  }

  rootId(column: number): string {
    return this.#matching(column, ROOT_ID, 'a root id of 1 to 18 digits');
  }

  /** An id that need not be one of a neuron. */
  id(column: number): IdValue {
    const value = this.columns[column]!(this.index);
    if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) {
      if (value >= 0) return value;
    }
    return this.#matching(column, ID, 'an id of 1 to 20 digits');
  }

  /** A whole number from 1 on. */
  count(column: number): number {
    const value = this.columns[column]!(this.index);
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAXIMUM_COUNT) {
      return value;
    }
    return Number(this.#matching(column, COUNT, COUNT_WORDS));
  }

  /** A decimal number from 0 on; an empty field counts as 0. */
  fraction(column: number): number {
    const allowed = 'a decimal number of at least 0, or empty';
    return Number(this.#matching(column, FRACTION, allowed));
  }

  /** The sign of a neuron's outputs. */
  sign(column: number): number {
    const text = this.text(column);
    const sign = text === '' ? NaN : Number(text);
    if (sign === 1 || sign === -1 || sign === 0) return sign;
    throw this.fault(column, '1, -1 or 0');
  }

  fault(column: number, expected: string): CodedError {
    const found = describeValue(this.text(column));
    const what = `expected ${this.names[column]!} to be ${expected}, found ${found}`;
    return tableFault(this.file, this.place, what);
  }

  #matching(column: number, pattern: RegExp, expected: string): string {
    const text = this.text(column);
    if (pattern.test(text)) return text;
    throw this.fault(column, expected);
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  // A list, such as a position.
  return typeof value === 'object' ? Array.from(value as Iterable<unknown>, String).join(' ') : String(value);
}

/**
 * @param place of the names of the columns
 * @param found columns of the table
 * @throws CodedError TABLE_INVALID where one is missing
 */
export function chosenColumns(
  file: string,
  place: string | null,
  columns: ColumnChoice,
  found: readonly string[],
): readonly string[] {
  const chosen = typeof columns === 'function' ? columns(found) : columns;
  const missing = chosen.filter((column) => !found.includes(column));
  if (missing.length === 0) return chosen;
  const names = missing.map((column) => column || 'without a name').join(', ');
  const what = `expected a column ${names}, found the columns ${describeValue(found.join(','), 200)}`;
  throw tableFault(file, place, what);
}

/** A whole number of 64 bits as a number where that is exact. */
export function exact(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
