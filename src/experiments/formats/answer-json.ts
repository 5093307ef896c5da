/**
 * Writes the JSON or NDJSON of an experiment in pieces, because an answer may have hundreds of megabytes, too many for a string.
 * Equal experiments give equal bytes.
 */
import { joinedBytes } from '../../engine/bytes.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { InParts } from '../../engine/parts.js';
import type { AnswerWriter } from './answer-writer.js';
import type { AnsweredCondition, DryRun, ExperimentEvent, ExperimentProgress } from '../document/result.js';
import type { EventTable } from '../kinds/result-rows.js';

/** The source of root ids for tables. */
type NeuronNames = Pick<Connectome, 'neuronId'>;

const PIECE_CHARACTERS = 64 * 1024;
/** Characters of a list that are made at once: a small fraction of a millisecond. */
const PART_CHARACTERS = 4 * 1024;
const encoder = new TextEncoder();

/** Writes the events of one experiment as one JSON document. */
export async function* answerJson(
  events: AsyncIterable<ExperimentEvent> | readonly ExperimentEvent[],
  names: NeuronNames,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const writer = new JsonWriter(names);
  for await (const event of events) yield* writer.write(event);
}

/**
 * Writes one JSON document, or NDJSON: a line each for the head (the only one with `id`), every condition (`index`) and the
 * totals (`cost`). Others add lines of progress (`progress`) between these, and a failure as the last line (`error`).
 */
export class JsonWriter implements AnswerWriter {
  #conditions = 0;

  constructor(
    private readonly names: NeuronNames,
    private readonly isLines = false,
  ) {}

  *write(event: ExperimentEvent): Iterable<Uint8Array<ArrayBuffer>> {
    const { isLines } = this;
    switch (event.kind) {
      case 'head':
        yield isLines
          ? line(event.head)
          : encoder.encode(`${JSON.stringify(event.head).slice(0, -1)},"conditions":[`);
        break;
      case 'condition':
        if (!isLines && this.#conditions++ > 0) yield encoder.encode(',');
        for (const piece of conditionJson(event.condition, this.names)) yield encoder.encode(piece);
        if (isLines) yield encoder.encode('\n');
        break;
      case 'totals':
        yield isLines ? line(event.totals) : encoder.encode(`],${JSON.stringify(event.totals).slice(1)}`);
    }
  }
}

/** A line of progress. It does not belong to the reproducible bytes of the answer: the caller decides when to add it. */
export function progressLine(progress: ExperimentProgress): Uint8Array {
  return line({ progress });
}

function line(value: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${JSON.stringify(value)}\n`);
}

export function dryRunJson(dryRun: DryRun): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(dryRun));
}

/**
 * A condition, or another object with reports, as JSON in pieces.
 * @param characters least length of a piece; it may be a little longer
 */
export function* conditionJson(
  condition: Pick<AnsweredCondition, 'reports'>,
  names: NeuronNames,
  characters = PIECE_CHARACTERS,
): Generator<string, void, void> {
  let piece = '';
  for (const part of conditionParts(condition, names)) {
    piece += part;
    if (piece.length < characters) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** The same as bytes of UTF-8, with a pause after each piece of about 4 KiB. */
export function* conditionBytes(
  condition: Pick<AnsweredCondition, 'reports'>,
  names: NeuronNames,
): InParts<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  for (const piece of conditionJson(condition, names, PART_CHARACTERS)) {
    pieces.push(encoder.encode(piece));
    yield;
  }
  return joinedBytes(pieces);
}

function* conditionParts(
  { reports, ...rest }: Pick<AnsweredCondition, 'reports'>,
  names: NeuronNames,
): Generator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"reports":{`;
  let first = true;
  for (const [name, report] of Object.entries(reports)) {
    yield `${first ? '' : ','}${JSON.stringify(name)}:`;
    first = false;
    if ('table' in report) yield* tableParts(report, names);
    else yield* listParts('[', report.length, (at) => JSON.stringify(report.at(at)), ']');
  }
  yield '}}';
}

/** A table as columns. `truncated` is present only if rows are missing. */
function* tableParts(table: EventTable, names: NeuronNames): Generator<string> {
  const { trials, steps, neurons, columns, truncated } = table;
  const rows = steps.length;
  yield* listParts('{"trial":[', rows, (row) => String(trials[row]!), ']');
  // The quotient is the double nearest to a multiple of 0.1, so it prints in its shortest form.
  yield* listParts(',"t_ms":[', rows, (row) => String(steps[row]! / STEPS_PER_MS), ']');
  yield* listParts(',"root_id":[', rows, (row) => JSON.stringify(names.neuronId(neurons[row]!)), ']');
  for (const { column, values } of columns) {
    const labels = column.labels?.map((label) => JSON.stringify(label));
    const textOf = (row: number) => labels?.[values[row]!] ?? String(values[row]!);
    yield* listParts(`,"${column.name}":[`, rows, textOf, ']');
  }
  yield truncated ? ',"truncated":true}' : '}';
}

function* listParts(
  open: string,
  length: number,
  item: (at: number) => string,
  close: string,
): Generator<string> {
  let part = open;
  for (let at = 0; at < length; at++) {
    part += at === 0 ? item(at) : `,${item(at)}`;
    if (part.length < PART_CHARACTERS) continue;
    yield part;
    part = '';
  }
  yield part + close;
}
