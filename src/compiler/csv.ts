/**
 * Reads CSV tables as a stream of bytes: millions of rows without a string a row.
 *
 * A row is a line of comma-separated fields; fields may be quoted after RFC 4180 (commas, doubled quotes and
 * line breaks inside), lines end with LF or CRLF, a byte order mark and empty lines are skipped. The first row
 * names the columns. Everything else is a fault that names the file and the line.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CodedError, describeValue } from '../errors.js';
import type { SourceFile } from '../connectome/connectome.js';
import type { Progress } from './progress.js';

const LF = 10;
const CR = 13;
const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const READ_BYTES = 1 << 20;
const INFLATED_BYTES = 1 << 18;
/** A longer row has most likely lost a closing quote; reading on would swallow the rest of the table. */
const MAXIMUM_ROW_BYTES = 1 << 20;
/** Digits of the lower half of a root id, so that each half is a small integer. */
const LOW_DIGITS = 9;
const MAXIMUM_ID_DIGITS = 2 * LOW_DIGITS;
const MAXIMUM_COUNT_DIGITS = 9;

/** A field as RFC 4180 writes it: quoted where it has to be, such as the type (SLP402,SMP426)a. */
export function csvField(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @throws CodedError TABLE_INVALID */
export function tableFault(file: string, line: number | null, what: string): CodedError {
  return new CodedError('TABLE_INVALID', `${file}${line === null ? '' : `, line ${line}`}: ${what}.`);
}

/** A root id in two halves of nine digits, which unlike the whole fit into small integers. */
export interface RootId {
  high: number;
  low: number;
}

export function rootIdText({ high, low }: RootId): string {
  return high === 0 ? String(low) : `${high}${String(low).padStart(LOW_DIGITS, '0')}`;
}

/**
 * The row a reader stands at. There is one such object a table, so what is wanted of a row must be taken
 * before the next one. Columns are numbered in the order in which the reader asked for them.
 */
export class CsvRow {
  /** Physical line on which the row begins, counted from 1. */
  line = 0;
  bytes: Buffer = Buffer.alloc(0);
  /** Where the fields begin and end in `bytes`, in the order of the file. */
  starts = new Int32Array(0);
  ends = new Int32Array(0);
  places: readonly number[] = [];
  readonly #id: RootId = { high: 0, low: 0 };
  readonly #names = new Map<number, { readonly bytes: Buffer; readonly text: string }>();

  constructor(
    readonly file: string,
    readonly columns: readonly string[],
  ) {}

  text(column: number): string {
    const place = this.places[column]!;
    return this.bytes.toString('utf8', this.starts[place]!, this.ends[place]!);
  }

  /** A text of which a column has few different ones: each is made once and found again by its bytes. */
  name(column: number): string {
    const place = this.places[column]!;
    const start = this.starts[place]!;
    const end = this.ends[place]!;
    let hash = end - start;
    for (let i = start; i < end; i++) {
      hash = Math.imul(hash, 31) + this.bytes[i]!;
    }
    const known = this.#names.get(hash);
    if (known !== undefined && this.#isAt(start, end, known.bytes)) {
      return known.text;
    }
    const name = { bytes: Buffer.from(this.bytes.subarray(start, end)), text: this.text(column) };
    this.#names.set(hash, name);
    return name.text;
  }

  /** A root id; the object is overwritten by the next call. */
  rootId(column: number): RootId {
    const place = this.places[column]!;
    const start = this.starts[place]!;
    const end = this.ends[place]!;
    const split = end - LOW_DIGITS;
    const high = this.#digits(start, split);
    const low = this.#digits(split < start ? start : split, end);
    const length = end - start;
    if (high < 0 || low < 0 || length < 1 || length > MAXIMUM_ID_DIGITS || this.bytes[start] === ZERO) {
      throw this.fault(column, `a root id of 1 to ${MAXIMUM_ID_DIGITS} digits`);
    }
    this.#id.high = high;
    this.#id.low = low;
    return this.#id;
  }

  /** A whole number from 1 on. */
  count(column: number): number {
    const place = this.places[column]!;
    const start = this.starts[place]!;
    const end = this.ends[place]!;
    const value = end - start <= MAXIMUM_COUNT_DIGITS ? this.#digits(start, end) : -1;
    if (value < 1) {
      throw this.fault(column, `a whole number from 1 to ${10 ** MAXIMUM_COUNT_DIGITS - 1}`);
    }
    return value;
  }

  /** A whole number from 0 on; an empty field counts as 0. */
  countOrNone(column: number): number {
    const place = this.places[column]!;
    const start = this.starts[place]!;
    const end = this.ends[place]!;
    const value = end - start <= MAXIMUM_COUNT_DIGITS ? this.#digits(start, end) : -1;
    if (value < 0) {
      throw this.fault(column, `a whole number from 0 to ${10 ** MAXIMUM_COUNT_DIGITS - 1}, or empty`);
    }
    return value;
  }

  /** A decimal number from 0 on; an empty field counts as 0. */
  fraction(column: number): number {
    const text = this.text(column);
    if (!/^(\d+(\.\d*)?([eE][-+]?\d+)?)?$/.test(text)) {
      throw this.fault(column, 'a decimal number of at least 0, or empty');
    }
    return Number(text);
  }

  fault(column: number, expected: string): CodedError {
    return tableFault(
      this.file,
      this.line,
      `expected ${this.columns[column]!} to be ${expected}, found ${describeValue(this.text(column))}`,
    );
  }

  #isAt(start: number, end: number, expected: Buffer): boolean {
    if (end - start !== expected.length) {
      return false;
    }
    for (let i = start; i < end; i++) {
      if (this.bytes[i] !== expected[i - start]) {
        return false;
      }
    }
    return true;
  }

  /** The number that these digits spell, 0 for none; -1 where there is anything else. */
  #digits(start: number, end: number): number {
    let value = 0;
    for (let i = start; i < end; i++) {
      const digit = this.bytes[i]! - ZERO;
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value;
  }
}

/**
 * Reads a table from its first row to its last.
 * @param path a .csv.gz file, or one without compression by another name
 * @param columns those that `onRow` wants; the table may have others, in any order
 * @param onRow is called for each row below the header
 * @returns the file with the SHA-256 of its bytes (the compressed ones)
 * @throws CodedError TABLE_INVALID with file, line, what was expected and what was found
 */
export async function readCsv(
  path: string,
  columns: readonly string[],
  progress: Progress,
  onRow: (row: CsvRow) => void,
): Promise<SourceFile> {
  const file = basename(path);
  const hash = createHash('sha256');
  const scanner = new CsvScanner(file, columns, onRow);
  try {
    progress.begin(`Reading ${file}`, (await stat(path)).size, 'bytes');
    let bytesRead = 0;
    await pipeline(
      createReadStream(path, { highWaterMark: READ_BYTES }),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          bytesRead += chunk.length;
          progress.reached(bytesRead);
          yield chunk;
        }
      },
      path.endsWith('.gz') ? createGunzip({ chunkSize: INFLATED_BYTES }) : new PassThrough(),
      async function (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          scanner.scan(chunk);
        }
        scanner.end();
      },
    );
  } catch (error) {
    throw readingFault(file, path, scanner.line, error as NodeJS.ErrnoException);
  }
  return { file, sha256: hash.digest('hex') };
}

function readingFault(file: string, path: string, line: number, error: NodeJS.ErrnoException): Error {
  if (error instanceof CodedError || error.code === undefined) {
    return error;
  }
  if (error.code === 'Z_BUF_ERROR') {
    return tableFault(file, line, 'expected more gzip data, found the end of the file: it is truncated');
  }
  if (error.code.startsWith('Z_')) {
    return tableFault(
      file,
      line,
      `expected gzip data, found ${describeValue(error.message)}: the file is damaged`,
    );
  }
  if (error.code === 'ENOENT') {
    return tableFault(
      file,
      null,
      `expected a file at ${path}, found none${path.endsWith('.gz') ? '; npm run model:download fetches it' : ''}`,
    );
  }
  return tableFault(file, null, `cannot be read at ${path}: ${error.message}`);
}

/** Cuts a stream of bytes into rows. */
class CsvScanner {
  /** The physical line it stands at. */
  line = 1;
  readonly #row: CsvRow;
  readonly #onRow: (row: CsvRow) => void;
  #rest: Buffer = Buffer.alloc(0);
  #starts = new Int32Array(256);
  #ends = new Int32Array(256);
  /** 0 until the header has been read. */
  #columnCount = 0;
  #rowCount = 0;
  #atStart = true;

  constructor(
    readonly file: string,
    readonly columns: readonly string[],
    onRow: (row: CsvRow) => void,
  ) {
    this.#row = new CsvRow(file, columns);
    this.#row.starts = this.#starts;
    this.#row.ends = this.#ends;
    this.#onRow = onRow;
  }

  scan(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let position = 0;
    if (this.#atStart) {
      if (bytes.length < BYTE_ORDER_MARK.length) {
        this.#rest = bytes;
        return;
      }
      this.#atStart = false;
      position = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
    }
    this.#scanRows(bytes, position);
  }

  end(): void {
    // A last line without its line break is a row all the same.
    if (this.#rest.length > 0) {
      this.#atStart = false;
      const rest = this.#rest;
      this.#scanRows(Buffer.concat([rest, Buffer.from([LF])]), 0);
      if (this.#rest.length > 0) {
        throw tableFault(
          this.file,
          this.line,
          'expected the closing quote of a field, found the end of the file',
        );
      }
    }
    if (this.#columnCount === 0) {
      throw tableFault(
        this.file,
        1,
        `expected a header with ${this.columns.join(', ')}, found an empty file`,
      );
    }
    if (this.#rowCount === 0) {
      throw tableFault(this.file, this.line, 'expected rows below the header, found none');
    }
  }

  #scanRows(bytes: Buffer, from: number): void {
    this.#row.bytes = bytes;
    let position = from;
    for (;;) {
      const next = this.#scanRow(bytes, position);
      if (next < 0) {
        break;
      }
      position = next;
    }
    this.#rest = bytes.subarray(position);
    if (this.#rest.length > MAXIMUM_ROW_BYTES) {
      throw tableFault(
        this.file,
        this.line,
        `expected a row of at most ${MAXIMUM_ROW_BYTES} bytes, found a longer one: a closing quote may be missing`,
      );
    }
  }

  /** Hands on the row that begins at `from`; gives where the next one begins, or -1 if this one is not all there. */
  #scanRow(bytes: Buffer, from: number): number {
    const starts = this.#starts;
    const ends = this.#ends;
    const end = bytes.length;
    let fields = 0;
    let start = from;
    for (let i = from; i < end; i++) {
      const byte = bytes[i]!;
      if (byte > COMMA) {
        continue;
      }
      if (byte === COMMA) {
        starts[fields] = start;
        ends[fields++] = i;
        start = i + 1;
      } else if (byte === LF) {
        const last = i > start && bytes[i - 1] === CR ? i - 1 : i;
        if (last > from) {
          starts[fields] = start;
          ends[fields++] = last;
          this.#emit(fields, 1);
        } else {
          this.line += 1;
        }
        return i + 1;
      } else if (byte === QUOTE && i === start) {
        return this.#scanQuotedRow(bytes, from);
      }
    }
    return -1;
  }

  /** The same for a row with quotes, which are taken off in place once the whole row is there. */
  #scanQuotedRow(bytes: Buffer, from: number): number {
    const rowEnd = this.#quotedRowEnd(bytes, from);
    if (rowEnd < 0) {
      return -1;
    }
    const last = bytes[rowEnd - 1] === CR ? rowEnd - 1 : rowEnd;
    let fields = 0;
    let lines = 1;
    for (let i = from; i <= last; i++) {
      if (bytes[i] !== QUOTE || i === last) {
        this.#starts[fields] = i;
        while (i < last && bytes[i] !== COMMA) {
          i++;
        }
        this.#ends[fields++] = i;
        continue;
      }
      let write = i;
      this.#starts[fields] = write;
      for (i++; bytes[i] !== QUOTE || bytes[i + 1] === QUOTE; i++) {
        if (bytes[i] === QUOTE) {
          i++;
        }
        lines += bytes[i] === LF ? 1 : 0;
        bytes[write++] = bytes[i]!;
      }
      this.#ends[fields++] = write;
      i++;
      if (i < last && bytes[i] !== COMMA) {
        const found = describeValue(bytes.toString('utf8', i, Math.min(last, i + 20)));
        throw tableFault(this.file, this.line, `expected a comma after the closing quote, found ${found}`);
      }
    }
    this.#emit(fields, lines);
    return rowEnd + 1;
  }

  /** Position of the line break that ends the row, -1 if it is not there yet. */
  #quotedRowEnd(bytes: Buffer, from: number): number {
    let fieldStart = true;
    let fieldQuoted = false;
    let quoted = false;
    for (let i = from; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (quoted) {
        quoted = byte !== QUOTE;
        continue;
      }
      if (byte === LF) {
        return i;
      }
      if (byte === QUOTE && fieldStart) {
        quoted = fieldQuoted = true;
      } else if (byte === QUOTE && fieldQuoted && bytes[i - 1] === QUOTE) {
        // The quote before this one did not close the field: two quotes encode one.
        quoted = true;
      }
      fieldStart = byte === COMMA;
      fieldQuoted &&= !fieldStart;
    }
    return -1;
  }

  #emit(fields: number, lines: number): void {
    this.#row.line = this.line;
    if (this.#columnCount === 0) {
      this.#readHeader(fields);
    } else if (fields !== this.#columnCount) {
      throw tableFault(this.file, this.line, `expected ${this.#columnCount} fields, found ${fields}`);
    } else {
      this.#rowCount += 1;
      this.#onRow(this.#row);
    }
    this.line += lines;
  }

  #readHeader(fields: number): void {
    const names = Array.from({ length: fields }, (_, i) =>
      this.#row.bytes.toString('utf8', this.#starts[i]!, this.#ends[i]!),
    );
    const places = this.columns.map((column) => names.indexOf(column));
    const missing = this.columns.filter((_, i) => places[i]! < 0);
    if (missing.length > 0) {
      throw tableFault(
        this.file,
        this.line,
        `expected a column ${missing.map((column) => column || 'without a name').join(', ')}, found the columns ${describeValue(names.join(','), 200)}`,
      );
    }
    this.#columnCount = fields;
    this.#row.places = places;
  }
}
