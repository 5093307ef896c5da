/**
 * Common parts of all table formats: choosing columns, converting the values of a row, and errors with file and location.
 */
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { CodedError, describeValue } from '../../engine/errors.js';

const MAX_COUNT = 999_999_999;
const ROOT_ID = /^(?:0|[1-9]\d{0,17})$/;
const ID = /^\d{1,20}$/;
/** Source of a regular expression for a decimal number, such as -1.5e3. */
export const DECIMAL = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`;
const NUMBER = new RegExp(`^${DECIMAL}$`);
/** Whole numbers below this are exact in floats of 64 bits. */
const EXACT_IN_FLOAT64 = 2 ** 53;
export const EXACT_IN_FLOAT32 = 2 ** 24;

/** An id in the type that the table's format gives it. NeuronIds accepts all of them. */
export type IdValue = string | number | bigint;

/** @param index of a row in the current part of the table */
export type ColumnValues = (index: number) => unknown;

/**
 * @param location such as line 7; null for the whole file
 * @throws CodedError TABLE_INVALID
 */
export function tableFault(file: string, location: string | null, what: string): CodedError {
  return new CodedError('TABLE_INVALID', `${file}${location === null ? '' : `, ${location}`}: ${what}.`);
}

/** @param hint advice if the file does not exist */
export function readingFault(path: string, { code, message }: NodeJS.ErrnoException, hint = ''): CodedError {
  const what =
    code === 'ENOENT'
      ? `expected a file at ${path}, found none${hint}`
      : `cannot be read at ${path}: ${message}`;
  return tableFault(basename(path), null, what);
}

/** Names of the columns to read, or a function that chooses them among those of the table. */
export type ColumnChoice = readonly string[] | ((found: readonly string[]) => readonly string[]);

/** An open file of a columnar format. Its values have types, so numbers need no conversion to text. */
export interface ColumnarFile {
  readonly columns: readonly {
    readonly name: string;
    /** Whole numbers below this are exact in a column of floats; undefined for other columns and 64-bit floats. */
    readonly exactBelow: number | undefined;
    /** Name of the type if the values are neither text, numbers, truth values nor lists of them. */
    readonly otherType: string | undefined;
  }[];
  /** 0 if it is not known in advance. */
  readonly rowCount: number;
  /** The values of some columns, in consecutive parts. @throws Error if the file is damaged */
  parts(columns: readonly string[]): AsyncIterator<ColumnarPart>;
  close(): Promise<void>;
}

export interface ColumnarPart {
  readonly rowCount: number;
  readonly values: readonly ColumnValues[];
}

/**
 * The current row of a table. A table has one such object, so callers must read a row's values before the next row.
 * Columns are numbered in the order in which they were chosen.
 */
export class TableRow {
  /** Number of the row in the file. */
  at = 0;
  columns: readonly ColumnValues[] = [];
  /** Index of the row in the current part of the table. */
  index = 0;

  /**
   * @param noun unit of `at`: the line of a text, counted from 1, or the row, counted from 0 as in pandas
   * @param exactBelow for each column of floats with fewer than 64 bits
   */
  constructor(
    readonly file: string,
    readonly noun: 'line' | 'row',
    private readonly names: readonly string[],
    private readonly exactBelow: readonly (number | undefined)[] = [],
  ) {}

  get location(): string {
    return `${this.noun} ${this.at}`;
  }

  /** Empty if the table has no value. */
  text(column: number): string {
    return textOf(this.#value(column));
  }

  /** The text in the form that it has in every format of tables. */
  label(column: number): string {
    return labelOf(this.text(column));
  }

  rootId(column: number): string {
    const allowed = 'a root id of 1 to 18 digits';
    const id = String(this.#wholeNumber(column, allowed));
    if (ROOT_ID.test(id)) return id;
    throw this.fault(column, allowed);
  }

  /** An id that may be unknown. @throws CodedError TABLE_INVALID, as all methods below */
  id(column: number): IdValue {
    const value = this.columns[column]!(this.index);
    // A fast path: hundreds of millions of rows have an id in one of these forms.
    if (typeof value === 'string' && ID.test(value)) return value;
    if (typeof value === 'number' && this.#isExact(column, value)) return value;
    if (typeof value === 'bigint' && value >= 0) return value;
    return this.#wholeNumber(column, 'an id of 1 to 20 digits');
  }

  /** A whole number of at least 1. */
  count(column: number): number {
    const count = this.#number(column);
    if (Number.isInteger(count) && count >= 1 && count <= MAX_COUNT) return count;
    const isFraction = count > 0 && count < MAX_COUNT;
    const hint =
      count < 0 ? ': use the column sign' : isFraction ? ': synapses are counts, not fractions' : '';
    throw this.fault(column, `a whole number from 1 to ${MAX_COUNT}`, hint);
  }

  /** A decimal number of at least 0; an empty field counts as 0. */
  fraction(column: number): number {
    const fraction = this.text(column) === '' ? 0 : this.#number(column);
    if (fraction >= 0 && fraction < Infinity) return fraction;
    throw this.fault(column, 'a decimal number of at least 0, or empty');
  }

  /** The sign of a neuron's outputs. */
  sign(column: number): number {
    const sign = this.#number(column);
    if (sign === 1 || sign === -1 || sign === 0) return sign;
    throw this.fault(column, '1, -1 or 0');
  }

  finiteNumber(column: number): number {
    const number = this.#number(column);
    if (Number.isFinite(number)) return number;
    throw this.fault(column, 'a number');
  }

  fault(column: number, expected: string, hint = ''): CodedError {
    const found = describeValue(this.text(column));
    const what = `expected ${this.names[column]!} to be ${expected}, found ${found}${hint}`;
    return tableFault(this.file, this.location, what);
  }

  /** A value in the form that all formats share. Bytes without a type are text: Python and HDF5 store text so. */
  #value(column: number): unknown {
    const value = this.columns[column]!(this.index);
    if (typeof value === 'number' && this.exactBelow[column] === EXACT_IN_FLOAT32) return asPrinted(value);
    if (!(value instanceof Uint8Array)) return value;
    if (isUtf8(value)) return Buffer.from(value).toString();
    const what = `expected ${this.names[column]!} to be UTF-8, found other bytes: save it as text`;
    throw tableFault(this.file, this.location, what);
  }

  /** Converts a value by the same rule in all formats: `12.0`, ` 12` and `1e3` are 12, 12 and 1000. NaN if it is none. */
  #number(column: number): number {
    const value = this.#value(column);
    if (typeof value === 'number') return value;
    const text = textOf(value).trim();
    return NUMBER.test(text) ? Number(text) : NaN;
  }

  #isExact(column: number, value: number): boolean {
    return value >= 0 && value < (this.exactBelow[column] ?? EXACT_IN_FLOAT64) && Number.isInteger(value);
  }

  /** An id in any form. Large ids in floats are refused: they were rounded and may name another neuron. */
  #wholeNumber(column: number, allowed: string): IdValue {
    const value = this.#value(column);
    const text = textOf(value).trim();
    const isFloat = typeof value === 'number' || /[.eE]/.test(text);
    if (!isFloat && ID.test(text)) return text;
    const number = this.#number(column);
    if (isFloat && this.#isExact(column, number)) return number;
    if (!isFloat || !Number.isInteger(number) || number < 0) throw this.fault(column, allowed);
    throw this.fault(column, '64-bit integers or text', ': floats round ids of this size');
  }
}

/**
 * A number as programs print a float: pandas writes 12.0 and 1e-05, R 1e+05. Other texts, such as 007, 1.10 and 5E3, may
 * be names.
 */
const PRINTED_FLOAT = /^-?(?:0|[1-9]\d*)(?:\.(?:0|\d*[1-9]))?(?:e[-+]\d+)?$/;
/** A truth value as pandas and polars write it; R and `textOf` write TRUE. */
const PRINTED_BOOLEAN = /^(?:True|False|true|false)$/;

/** Gives a number or truth value the same text in all formats: columnar ones store its value, CSV the text of a program. */
function labelOf(text: string): string {
  const trimmed = text.trim();
  if (PRINTED_BOOLEAN.test(trimmed)) return trimmed.toUpperCase();
  const value = Number(trimmed);
  // Beyond these, different labels would become one number.
  const isExact = Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isExact && PRINTED_FLOAT.test(trimmed) && /[.e]/.test(trimmed) ? String(value) : text;
}

/** A float of 32 bits as programs print it, with the fewest digits that give it back: 0.1, not 0.10000000149011612. */
function asPrinted(float32: number): number {
  // Most are counts, and a conversion to text takes over 1 µs.
  if (Number.isInteger(float32) && Math.abs(float32) < EXACT_IN_FLOAT32) return float32;
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(float32.toPrecision(digits));
    if (Math.fround(shorter) === float32) return shorter;
  }
  return Number(float32.toPrecision(9));
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  // An object is a list, such as a position.
  return typeof value === 'object' ? Array.from(value as Iterable<unknown>, String).join(' ') : String(value);
}

/**
 * @param location location of the header
 * @param found columns of the table
 * @throws CodedError TABLE_INVALID if one is missing
 */
export function chosenColumns(
  file: string,
  location: string | null,
  columns: ColumnChoice,
  found: readonly string[],
): readonly string[] {
  const chosen = typeof columns === 'function' ? columns(found) : columns;
  const repeated = chosen.find((column) => found.indexOf(column) !== found.lastIndexOf(column));
  if (repeated !== undefined) {
    throw tableFault(file, location, `expected one column ${repeated}, found several`);
  }
  const missing = chosen.filter((column) => !found.includes(column));
  if (missing.length === 0) return chosen;
  const names = missing.map((column) => column || 'without a name').join(', ');
  const columnNames = describeValue(found.join(','), 200);
  throw tableFault(
    file,
    location,
    `expected a column ${names}, found the columns ${columnNames}${hintOn(missing, found)}`,
  );
}

/** Separators of other tables than CSV. */
const SEPARATORS: ReadonlyMap<string, string> = new Map([
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'bars'],
]);

/** Advice on a table with another separator than the comma; empty for other characters. */
export function hintOnSeparator(character: string): string {
  const name = SEPARATORS.get(character);
  return name === undefined ? '' : `: it is separated by ${name}, save it with commas`;
}

/** Advice on missing columns, if the cause is clear. */
function hintOn(missing: readonly string[], found: readonly string[]): string {
  for (const separator of SEPARATORS.keys()) {
    const parts = found.flatMap((each) => each.split(separator)).map(withoutQuotes);
    if (missing.every((column) => parts.includes(column))) return hintOnSeparator(separator);
  }
  const renamed = missing.flatMap((column) => {
    const alike = likeColumn(column, found);
    return alike === undefined ? [] : [`rename ${describeValue(alike)} to ${column}`];
  });
  return renamed.length === 0 ? '' : `: ${renamed.join(', ')}`;
}

/** A field between other separators, which the reader of CSV took for a part of one. */
function withoutQuotes(field: string): string {
  return /^".*"$/.test(field) ? field.slice(1, -1) : field;
}

/** A column whose name differs only in letter case or surrounding blanks. */
export function likeColumn(column: string, found: readonly string[]): string | undefined {
  const plain = (name: string) => name.trim().toLowerCase();
  return found.find((each) => plain(each) === plain(column));
}

/** Converts a BigInt to a number if that is exact. */
export function exact(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
