/**
 * The JSON of an experiment, written in pieces: an answer may be hundreds of megabytes, and no string may be that
 * long. Equal experiments give equal bytes.
 */
import type { Connectome } from '../../connectome/connectome.js';
import { STEPS_PER_MS } from '../../experiment/protocol.js';
import type { InParts } from '../../parts.js';
import type { ConditionResult, DryRun, ExperimentEvent, SpikeTable } from './result.js';

/** What names the neurons of a table. */
export type NeuronNames = Pick<Connectome, 'neuronId'>;

const PIECE_CHARACTERS = 64 * 1024;
const encoder = new TextEncoder();

/** One JSON document, from the events of one experiment. */
export async function* answerJson(
  events: AsyncIterable<ExperimentEvent>,
  names: NeuronNames,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  let conditions = 0;
  for await (const event of events) {
    switch (event.kind) {
      case 'head':
        yield encoder.encode(`${JSON.stringify(event.head).slice(0, -1)},"conditions":[`);
        break;
      case 'condition':
        if (conditions++ > 0) yield encoder.encode(',');
        for (const piece of conditionJson(event.condition, names)) yield encoder.encode(piece);
        break;
      case 'totals':
        yield encoder.encode(`],${JSON.stringify(event.totals).slice(1)}`);
    }
  }
}

/** In parts: the sets of a document may have megabytes of types, or of names that the model lacks. */
export function* dryRunJson(dryRun: DryRun): InParts<Uint8Array<ArrayBuffer>> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(dryRun)) {
    const text = name === 'resolved' ? yield* resolvedJson(dryRun.resolved) : JSON.stringify(value);
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  yield;
  return encoder.encode(`{${members.join(',')}}`);
}

function* resolvedJson(resolved: DryRun['resolved']): InParts<string> {
  const sets: string[] = [];
  for (const [name, set] of Object.entries(resolved)) {
    yield;
    sets.push(`${JSON.stringify(name)}:${JSON.stringify(set)}`);
  }
  return `{${sets.join(',')}}`;
}

/** A condition as a JSON object, in pieces of some 64 KiB. */
export function* conditionJson(
  condition: ConditionResult,
  names: NeuronNames,
): Generator<string, void, void> {
  let piece = '';
  for (const part of conditionParts(condition, names)) {
    piece += part;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function* conditionParts({ reports, ...rest }: ConditionResult, names: NeuronNames): Generator<string> {
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

/** Columns; `truncated` stands there where rows are missing. */
function* tableParts(table: SpikeTable, names: NeuronNames): Generator<string> {
  const { trials, steps, neurons, inputs, inputNames, truncated } = table;
  const rows = steps.length;
  yield* listParts('{"trial":[', rows, (row) => String(trials[row]!), ']');
  // A multiple of 0.1 as a quotient, so it has the shortest form.
  yield* listParts(',"t_ms":[', rows, (row) => String(steps[row]! / STEPS_PER_MS), ']');
  yield* listParts(',"root_id":[', rows, (row) => JSON.stringify(names.neuronId(neurons[row]!)), ']');
  if (inputs !== undefined) {
    yield* listParts(',"input":[', rows, (row) => JSON.stringify(inputNames![inputs[row]!]), ']');
  }
  yield truncated ? ',"truncated":true}' : '}';
}

function* listParts(
  open: string,
  length: number,
  item: (at: number) => string,
  close: string,
): Generator<string> {
  yield open;
  for (let at = 0; at < length; at++) yield at === 0 ? item(at) : `,${item(at)}`;
  yield close;
}
