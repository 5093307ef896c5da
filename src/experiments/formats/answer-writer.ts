import { JsonWriter } from './answer-json.js';
import type { TableColumn } from '../kinds/result-rows.js';
import type { ExperimentEvent } from '../document/result.js';
import type { Format, TableFormat } from './formats.js';
import { tableMetadata, tableOf, type TableRequest, type TableEncoder } from './tables.js';

/**
 * Turns the events of an experiment into the bytes of one answer. Equal events give equal bytes. It holds in memory only one
 * condition, or a row group of Parquet; of a figure all that it shows.
 */
export interface AnswerWriter {
  /**
   * @returns the bytes of the event in pieces. They are made on demand, so a slow reader delays the work. At an empty piece
   *   the thread may serve other clients.
   */
  write(event: ExperimentEvent): Iterable<Uint8Array>;
}

/** A piece at which the thread may serve other clients. */
export const NO_BYTES = new Uint8Array(0);

/**
 * Makes the writer of a format. The libraries of Arrow, Parquet and figures are loaded on first use.
 * @throws CodedError INVALID_PARAMETER if the experiment has no such table, or its columns cannot have the requested names
 */
export async function answerWriter(format: Format, options: TableRequest): Promise<AnswerWriter> {
  if (format === 'json' || format === 'ndjson')
    return new JsonWriter(options.connectome, format === 'ndjson');
  if (format === 'svg') return new (await import('./svg.js')).SvgWriter(options.connectome);
  const table = tableOf(options);
  // BMTK reads columns that are separated by spaces.
  const separator = options.names === 'sonata' ? ' ' : ',';
  const encoder = await encoderOf(format, table.columns, separator);
  return {
    *write(event) {
      switch (event.kind) {
        case 'head':
          yield* encoder.begin(tableMetadata(event.head));
          break;
        case 'condition':
          for (const batch of table.batchesOf(event.condition)) {
            yield NO_BYTES;
            yield* encoder.append(batch);
          }
          break;
        case 'totals':
          yield* encoder.end();
      }
    },
  };
}

/** @param separator separates columns of CSV */
export async function encoderOf(
  format: TableFormat,
  columns: readonly TableColumn[],
  separator: ',' | ' ' = ',',
): Promise<TableEncoder> {
  if (format === 'csv') return new (await import('./csv.js')).CsvEncoder(columns, separator);
  if (format === 'arrow') return new (await import('./arrow.js')).ArrowEncoder(columns);
  return new (await import('./parquet.js')).ParquetEncoder(columns);
}
