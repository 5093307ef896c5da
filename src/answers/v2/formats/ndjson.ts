import { conditionJson, type NeuronNames } from '../answer-json.js';
import type { ExperimentEvent } from '../result.js';
import type { AnswerWriter } from './answer-writer.js';

/** How far an experiment is. Where the baseline decides on conditions, their number is an upper bound until then. */
export interface ExperimentProgress {
  readonly conditions_done: number;
  readonly conditions: number;
  readonly trials_done: number;
  readonly trials: number;
}

/**
 * One JSON object a line: the head (the only one with `id`), the conditions (`index`), the totals (`cost`).
 * Between them there may be lines of progress (`progress`), and a failure ends them (`error`).
 */
export class NdjsonWriter implements AnswerWriter {
  constructor(private readonly names: NeuronNames) {}

  *write(event: ExperimentEvent): Iterable<Uint8Array> {
    switch (event.kind) {
      case 'head':
        yield line(event.head);
        break;
      case 'condition':
        for (const piece of conditionJson(event.condition, this.names)) yield Buffer.from(piece);
        yield Buffer.from('\n');
        break;
      case 'totals':
        yield line(event.totals);
    }
  }
}

/** A line between those of an answer; how often is up to the caller, so it is no part of the answer's bytes. */
export function progressLine(progress: ExperimentProgress): Uint8Array {
  return line({ progress });
}

function line(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
