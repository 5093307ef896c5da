import type { ColumnValues, TableColumn } from '../kinds/result-rows.js';
import type { TableBatch, TableEncoder } from './tables.js';

/** Required by RFC 4180. */
const LINE_END = '\r\n';
const PIECE_ROWS = 4096;

/**
 * Writes comma-separated values (RFC 4180) with a header, in UTF-8. A missing value is an empty field. A text that a spreadsheet
 * would take for a formula gets an apostrophe before it; the other formats leave it unchanged.
 */
export class CsvEncoder implements TableEncoder {
  readonly #special: RegExp;
  readonly #encoder = new TextEncoder();

  constructor(
    private readonly columns: readonly TableColumn[],
    private readonly separator: ',' | ' ',
  ) {
    this.#special = new RegExp(`["\r\n${separator}]`);
  }

  *begin(): Iterable<Uint8Array> {
    yield this.#bytes([this.columns.map(({ name }) => this.#text(name))]);
  }

  *append({ rows, values }: TableBatch): Iterable<Uint8Array> {
    const fields = this.columns.map((column, at) => this.#fieldsOf(column, values[at]!));
    for (let from = 0; from < rows; from += PIECE_ROWS) {
      const length = Math.min(PIECE_ROWS, rows - from);
      yield this.#bytes(Array.from({ length }, (_, row) => fields.map((field) => field(from + row))));
    }
  }

  *end(): Iterable<Uint8Array> {}

  #bytes(rows: readonly (readonly string[])[]): Uint8Array {
    return this.#encoder.encode(rows.map((fields) => fields.join(this.separator) + LINE_END).join(''));
  }

  #fieldsOf({ type, labels }: TableColumn, values: ColumnValues): (row: number) => string {
    switch (type) {
      case 'label': {
        const texts = labels!.map((label) => this.#text(label));
        return (row) => texts[values[row] as number]!;
      }
      case 'text':
        return (row) => this.#text(values[row] as string);
      case 'double':
        return (row) => (Number.isNaN(values[row]) ? '' : String(values[row]));
      default:
        return (row) => String(values[row]);
    }
  }

  #text(text: string): string {
    const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return this.#special.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  }
}
