import type { ExperimentDocument } from '../document.js';
import type { ExperimentEvent, ExperimentHead } from '../result.js';
import type { ColumnNames, TableFormat, TableName } from './formats.js';
import { NdjsonWriter } from './ndjson.js';
import { tableOf, type LabelledNeurons, type Table, type TableBatch } from './tables.js';

/**
 * Turns the events of an experiment into the bytes of one answer. Equal events give equal bytes.
 * What it holds at a time is bounded by one condition.
 */
export interface AnswerWriter {
  /**
   * @returns the bytes that the event adds, in pieces; lazily, so that a slow reader delays their making. An empty
   *   piece parts two pieces of work, between which the thread may serve others.
   */
  write(event: ExperimentEvent): Iterable<Uint8Array>;
}

export interface AnswerOptions {
  readonly connectome: LabelledNeurons;
  readonly experiment: ExperimentDocument;
  /** By default `rates`; where all reports are tables, that of the first of them. */
  readonly table?: TableName;
  /** Of a table of spikes alone. */
  readonly names?: ColumnNames;
}

/** From the batches of a table to bytes. */
export interface TableEncoder {
  begin(head: ExperimentHead): Iterable<Uint8Array>;
  /** @param batch rows of one condition; batches of a condition follow one another */
  append(batch: TableBatch): Iterable<Uint8Array>;
  end(): Iterable<Uint8Array>;
}

/**
 * The libraries of Arrow and Parquet are loaded when the first such answer is written.
 * @throws CodedError INVALID_PARAMETER where the experiment has no such table, or its columns cannot be named so
 */
export async function answerWriter(
  format: TableFormat | 'ndjson',
  options: AnswerOptions,
): Promise<AnswerWriter> {
  if (format === 'ndjson') return new NdjsonWriter(options.connectome);
  const table = tableOf(options);
  return new TableWriter(table, await encoderOf(format, table, options));
}

async function encoderOf(format: TableFormat, table: Table, { names }: AnswerOptions): Promise<TableEncoder> {
  switch (format) {
    case 'csv': {
      const { CsvEncoder } = await import('./csv.js');
      // BMTK reads columns that are separated by spaces.
      return new CsvEncoder(table.columns, names === 'sonata' ? ' ' : ',');
    }
    case 'arrow': {
      const { ArrowEncoder } = await import('./arrow.js');
      return new ArrowEncoder(table.columns);
    }
    case 'parquet': {
      const { ParquetEncoder } = await import('./parquet.js');
      return new ParquetEncoder(table.columns);
    }
  }
}

const NO_BYTES = new Uint8Array(0);

class TableWriter implements AnswerWriter {
  constructor(
    private readonly table: Table,
    private readonly encoder: TableEncoder,
  ) {}

  *write(event: ExperimentEvent): Iterable<Uint8Array> {
    switch (event.kind) {
      case 'head':
        yield* this.encoder.begin(event.head);
        break;
      case 'condition':
        for (const batch of this.table.batchesOf(event.condition)) {
          yield NO_BYTES;
          yield* this.encoder.append(batch);
        }
        break;
      case 'totals':
        yield* this.encoder.end();
    }
  }
}
