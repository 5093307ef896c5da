/**
 * Reads CSV tables row by row, however long they are.
 *
 * Fields may be quoted after RFC 4180 (commas, doubled quotes and line breaks inside), lines end with LF or CRLF, a byte
 * order mark and empty lines are skipped. The first row names the columns. Everything else is a fault that names the
 * file and the line.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CodedError, describeValue } from '../errors.js';
import type { Progress } from './progress.js';
import { chosenColumns, type ColumnChoice, readingFault, tableFault, TableRow } from './table-row.js';

const CR = 13;
const READ_BYTES = 1 << 20;
const INFLATED_BYTES = 1 << 18;
/** A longer row has most likely lost a closing quote; reading on would swallow the rest of the table. */
const MAXIMUM_ROW_BYTES = 1 << 20;

/** A field as RFC 4180 writes it: quoted where it has to be, such as the type (SLP402,SMP426)a. */
export function csvField(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Reads a table from its first row to its last.
 * @param path a .csv.gz file, or one without compression by another name
 * @param columns those that `onRow` wants; the table may have others, in any order
 * @param onRow is called for each row below the header
 * @returns the SHA-256 of the bytes that were read, which may come from a pipe
 * @throws CodedError TABLE_INVALID with file, line, what was expected and what was found
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
      (path.endsWith('.gz') ? createGunzip({ chunkSize: INFLATED_BYTES }) : new PassThrough()).setEncoding(
        'utf8',
      ),
      async function (texts: AsyncIterable<string>) {
        for await (const text of texts) rows.scan(text);
        rows.end();
      },
    );
    return hash.digest('hex');
  } catch (error) {
    throw csvFault(path, rows, error as NodeJS.ErrnoException);
  }
}

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

/** A field of a row that has quotes, with the comma or the line break behind it. In quotes, two of them encode one. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|(?!")([^,\n]*?))(,|\r?\n)/y;
const QUOTED = /"[^"]*(?:""[^"]*)*"(?!")/y;

/** Cuts a stream of text into rows. */
class RowScanner {
  /** The physical line it stands at. */
  line = 1;
  #rest = '';
  /** Undefined until the header has been read. */
  #row: TableRow | undefined;
  /** Fields of that row; at first those of the header. */
  #fields: readonly string[] = [];
  #rowCount = 0;

  constructor(
    readonly file: string,
    readonly columns: ColumnChoice,
    private readonly onRow: (row: TableRow) => void,
  ) {}

  scan(text: string): void {
    const all = this.#rest + text;
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
    if (this.#rest.length > MAXIMUM_ROW_BYTES) {
      throw this.fault(
        `expected a row of at most ${MAXIMUM_ROW_BYTES} bytes, found a longer one: a closing quote may be missing`,
      );
    }
  }

  end(): void {
    // A last line without its line break is a row all the same.
    if (this.#rest !== '') this.scan('\n');
    if (this.#rest !== '') {
      throw this.fault('expected the closing quote of a field, found the end of the file');
    }
    if (this.#row === undefined) {
      const wanted = typeof this.columns === 'function' ? this.columns([]) : this.columns;
      throw this.fault(`expected a header with ${wanted.join(', ')}, found an empty file`);
    }
    if (this.#rowCount === 0) throw this.fault('expected rows below the header, found none');
  }

  /** @returns the fields of the row that begins here and where the next one begins, unless it is not all there yet */
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
      throw this.fault(`expected a comma after the closing quote, found ${found}`);
    }
  }

  #take(fields: readonly string[], lines: number): void {
    if (this.#row === undefined) {
      const names = chosenColumns(this.file, `line ${this.line}`, this.columns, fields);
      this.#row = new TableRow(this.file, 'line', names);
      this.#row.columns = names.map((name) => {
        const place = fields.indexOf(name);
        return () => this.#fields[place];
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
