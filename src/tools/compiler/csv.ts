/**
 * Reads CSV tables of any length, row by row.
 *
 * Fields may be quoted as in RFC 4180, with commas, doubled quotes and line breaks inside. Lines end with LF or CRLF. A
 * byte order mark and empty lines are skipped. The first row names the columns. Any other input is an error that names
 * the file and the line.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CodedError, describeValue } from '../../engine/errors.js';
import type { Progress } from './progress.js';
import {
  chosenColumns,
  type ColumnChoice,
  hintOnSeparator,
  readingFault,
  tableFault,
  TableRow,
} from './table-row.js';

const [LF, CR] = [10, 13];
const READ_BYTES = 1 << 20;
const INFLATED_BYTES = 1 << 18;
/** A longer row probably lacks a closing quote. Without a limit, it would take the rest of the table for one field. */
const MAX_ROW_BYTES = 1 << 20;

/** A field as in RFC 4180: quoted if necessary, such as the type (SLP402,SMP426)a. */
export function csvField(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Reads a table from its first row to its last.
 * @param path a file, gzipped or not; may be a pipe
 * @param columns the columns that `onRow` needs; the table may have others, in any order
 * @param onRow called for each row below the header
 * @returns the SHA-256 of the bytes read
 * @throws CodedError TABLE_INVALID with file, line, the expected text and the text found
 */
export async function readCsv(
  path: string,
  columns: ColumnChoice,
  progress: Progress,
  onRow: (row: TableRow) => void,
): Promise<string> {
  const file = basename(path);
  const hash = createHash('sha256');
  const rows = new RowScanner(file, columns, onRow);
  try {
    progress.begin(`Reading ${file}`, (await stat(path)).size, 'bytes');
    const read = createReadStream(path, { highWaterMark: READ_BYTES });
    const chunks = read[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
    let next = await chunks.next();
    const isGzip = path.endsWith('.gz') || next.value?.subarray(0, GZIP.length).equals(GZIP) === true;
    await pipeline(
      async function* () {
        let bytesRead = 0;
        for (; next.done !== true; next = await chunks.next()) {
          hash.update(next.value);
          bytesRead += next.value.length;
          progress.reached(bytesRead);
          yield next.value;
        }
      },
      isGzip ? createGunzip({ chunkSize: INFLATED_BYTES }) : new PassThrough(),
      (inflated: AsyncIterable<Buffer>) => rows.read(inflated),
    ).finally(() => read.destroy());
    return hash.digest('hex');
  } catch (error) {
    throw csvFault(path, rows, error as NodeJS.ErrnoException);
  }
}

const GZIP = Buffer.from([0x1f, 0x8b]);
/** Other formats by their first bytes, each with advice. */
const OTHER_FORMATS: readonly (readonly [magic: string, what: string])[] = [
  ['PK\x03\x04', 'a zip archive or an Excel file: unpack it, or save the sheet as CSV'],
  ['\xd0\xcf\x11\xe0', 'an Excel file: save the sheet as CSV'],
  ['PAR1', 'a Parquet file: its name has to end with .parquet'],
  ['ARROW1', 'a Feather file: its name has to end with .feather'],
  ['BZh', 'a bzip2 file: unpack it, or compress it with gzip'],
  ['\xfd7zXZ', 'an xz file: unpack it, or compress it with gzip'],
  ['\x28\xb5\x2f\xfd', 'a Zstandard file: unpack it, or compress it with gzip'],
  ['\xff\xfe', 'UTF-16: save the table as UTF-8'],
  ['\xfe\xff', 'UTF-16: save the table as UTF-8'],
];

function csvFault(path: string, rows: RowScanner, error: NodeJS.ErrnoException): Error {
  const { code, message } = error;
  if (error instanceof CodedError || code === undefined) return error;
  if (code === 'Z_BUF_ERROR') {
    return rows.fault('expected more gzip data, found the end of the file: it is truncated');
  }
  if (code.startsWith('Z_')) {
    return rows.fault(`expected gzip data, found ${describeValue(message)}: the file is damaged`);
  }
  const hint = path.endsWith('.gz') ? '; npm run model:download fetches it' : '';
  return readingFault(path, error, hint);
}

/** A field of a row with quotes, and the comma or line break after it. Inside quotes, "" stands for one quote. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|(?!")([^,\n]*?))(,|\r?\n)/y;
const QUOTED = /"[^"]*(?:""[^"]*)*"(?!")/y;

/** Divides a stream of text into rows. */
class RowScanner {
  /** Number of the current line of the file; a quoted field may span several lines. */
  line = 1;
  #rest = '';
  /** Undefined until the header has been read. */
  #row: TableRow | undefined;
  /** Fields of the current row; first those of the header. */
  #fields: readonly string[] = [];
  #rowCount = 0;

  constructor(
    readonly file: string,
    readonly columns: ColumnChoice,
    private readonly onRow: (row: TableRow) => void,
  ) {}

  /** Decodes bytes up to a line break, so that no UTF-8 character is cut. */
  async read(chunks: AsyncIterable<Buffer>): Promise<void> {
    let isFirst = true;
    let pending = Buffer.alloc(0);
    for await (const chunk of chunks) {
      if (isFirst) this.#checkFormat(chunk);
      isFirst = false;
      const end = chunk.lastIndexOf(LF) + 1;
      if (end > 0) this.#scan(Buffer.concat([pending, chunk.subarray(0, end)]));
      pending = end > 0 ? Buffer.from(chunk.subarray(end)) : Buffer.concat([pending, chunk]);
      this.#checkLength(pending.length);
    }
    // The last line may lack its line break.
    if (pending.length > 0) this.#scan(Buffer.concat([pending, Buffer.of(LF)]));
    this.#end();
  }

  #scan(lines: Buffer): void {
    if (!isUtf8(lines)) this.#refuseEncoding(lines);
    const all = this.#rest + lines.toString('utf8');
    const hasQuotes = all.includes('"');
    let at = this.#row === undefined && all.startsWith('\ufeff') ? 1 : 0;
    for (let end: number; (end = all.indexOf('\n', at)) >= 0;) {
      const line = all.slice(at, all.charCodeAt(end - 1) === CR ? Math.max(at, end - 1) : end);
      if (hasQuotes && line.includes('"')) {
        const row = this.#quotedRow(all, at);
        if (row === undefined) break;
        const lines = all.slice(at, row.end).split('\n').length - 1;
        at = row.end;
        this.#take(row.fields, lines);
      } else {
        at = end + 1;
        if (line === '') this.line++;
        else this.#take(line.split(','), 1);
      }
    }
    this.#rest = all.slice(at);
    this.#checkLength(this.#rest.length);
  }

  #checkLength(length: number): void {
    if (length <= MAX_ROW_BYTES) return;
    throw this.fault(
      `expected a row of at most ${MAX_ROW_BYTES} bytes, found a longer one: a closing quote may be missing`,
    );
  }

  #end(): void {
    if (this.#rest !== '') {
      throw this.fault('expected the closing quote of a field, found the end of the file');
    }
    if (this.#row === undefined) {
      const wanted = typeof this.columns === 'function' ? this.columns([]) : this.columns;
      throw this.fault(`expected a header with ${wanted.join(', ')}, found an empty file`);
    }
    if (this.#rowCount === 0) throw this.fault('expected rows below the header, found none');
  }

  #checkFormat(begin: Buffer): void {
    const format = OTHER_FORMATS.find(([magic]) => begin.toString('latin1', 0, magic.length) === magic);
    if (format !== undefined) throw tableFault(this.file, null, `expected CSV, found ${format[1]}`);
    if (begin.includes(0)) {
      const found = 'found bytes of zero, as in UTF-16: save the table as UTF-8';
      throw tableFault(this.file, null, `expected CSV, ${found}`);
    }
  }

  #refuseEncoding(lines: Buffer): never {
    this.line += this.#rest.split('\n').length - 1;
    for (let begin = 0; ; this.line++) {
      const end = lines.indexOf(LF, begin) + 1;
      if (!isUtf8(lines.subarray(begin, end))) break;
      begin = end;
    }
    throw this.fault('expected UTF-8, found another encoding, such as Latin-1: save the table as UTF-8');
  }

  /** @returns the fields of the row at `begin` and the position after it; undefined if the row is not complete yet */
  #quotedRow(text: string, begin: number): { fields: string[]; end: number } | undefined {
    const fields: string[] = [];
    for (let at = begin; ; at = FIELD.lastIndex) {
      FIELD.lastIndex = at;
      const found = FIELD.exec(text);
      if (found === null) {
        this.#checkClosingQuote(text, at);
        return undefined;
      }
      const [, quoted, plain, separator] = found;
      fields.push(quoted?.replaceAll('""', '"') ?? plain!);
      if (separator !== ',') return { fields, end: FIELD.lastIndex };
    }
  }

  #checkClosingQuote(text: string, at: number): void {
    QUOTED.lastIndex = at;
    const behind = QUOTED.test(text) ? /^([^\n]*?)\r?\n/.exec(text.slice(QUOTED.lastIndex)) : null;
    if (behind !== null) {
      const found = describeValue(behind[1]!.slice(0, 20));
      const hint = hintOnSeparator(behind[1]!.charAt(0));
      throw this.fault(`expected a comma after the closing quote, found ${found}${hint}`);
    }
  }

  #take(fields: readonly string[], lines: number): void {
    if (this.#row === undefined) {
      const names = chosenColumns(this.file, `line ${this.line}`, this.columns, fields);
      this.#row = new TableRow(this.file, 'line', names);
      this.#row.columns = names.map((name) => {
        const index = fields.indexOf(name);
        return () => this.#fields[index];
      });
      this.#fields = fields;
    } else if (fields.length !== this.#fields.length) {
      throw this.fault(`expected ${this.#fields.length} fields, found ${fields.length}`);
    } else {
      this.#rowCount++;
      this.#row.at = this.line;
      this.#fields = fields;
      this.onRow(this.#row);
    }
    this.line += lines;
  }

  fault(what: string): CodedError {
    return tableFault(this.file, `line ${this.line}`, what);
  }
}
