/** One row of a table, whatever the format of its file: how values are taken from it, and how a fault names its place. */
import { basename } from 'node:path';
import { CodedError, describeValue } from '../errors.js';

const MAXIMUM_COUNT = 999_999_999;

/** An id as the format of a table has it; NeuronIndex finds each of them. */
export type IdValue = string | number | bigint;

/**
 * @param place a line, or words such as row 7; null where the file as a whole is meant
 * @throws CodedError TABLE_INVALID
 */
export function tableFault(file: string, place: number | string | null, what: string): CodedError {
  const where = typeof place === 'number' ? `line ${place}` : place;
  return new CodedError('TABLE_INVALID', `${file}${where === null ? '' : `, ${where}`}: ${what}.`);
}

/** @param hint on what to do about a file that is not there */
export function readingFault(path: string, { code, message }: NodeJS.ErrnoException, hint = ''): CodedError {
  const what =
    code === 'ENOENT'
      ? `expected a file at ${path}, found none${hint}`
      : `cannot be read at ${path}: ${message}`;
  return tableFault(basename(path), null, what);
}

/** Columns are numbered in the order in which the reader asked for them. */
export abstract class TableRow {
  /** How a person finds the row: by the line of a text, counted from 1, or by its number, from 0 as pandas counts. */
  abstract readonly noun: 'line' | 'row';
  at = 0;

  constructor(
    readonly file: string,
    private readonly names: readonly string[],
  ) {}

  /** Empty where the table has no value. */
  abstract text(column: number): string;

  rootId(column: number): string {
    const text = this.text(column);
    if (!/^[1-9]\d{0,17}$/.test(text)) throw this.fault(column, 'a root id of 1 to 18 digits');
    return text;
  }

  /** An id that need not be one of a neuron. */
  id(column: number): IdValue {
    const text = this.text(column);
    if (!/^\d{1,20}$/.test(text)) throw this.fault(column, 'a root id of 1 to 18 digits');
    return text;
  }

  /** A whole number from 1 on. */
  count(column: number): number {
    const text = this.text(column);
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw this.fault(column, `a whole number from 1 to ${MAXIMUM_COUNT}`);
  }

  /** A decimal number from 0 on; an empty field counts as 0. */
  fraction(column: number): number {
    const text = this.text(column);
    if (!/^(\d+(\.\d*)?([eE][-+]?\d+)?)?$/.test(text)) {
      throw this.fault(column, 'a decimal number of at least 0, or empty');
    }
    return Number(text);
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
    return tableFault(
      this.file,
      `${this.noun} ${this.at}`,
      `expected ${this.names[column]!} to be ${expected}, found ${found}`,
    );
  }
}
