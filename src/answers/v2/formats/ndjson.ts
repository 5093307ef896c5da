import type { Connectome } from '../../../connectome/connectome.js';
import { STEPS_PER_MS } from '../../../experiment/protocol.js';
import type { ConditionResult, ExperimentEvent, SpikeTable } from '../result.js';
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
  constructor(private readonly connectome: Connectome) {}

  *write(event: ExperimentEvent): Iterable<Uint8Array> {
    switch (event.kind) {
      case 'head':
        yield line(event.head);
        break;
      case 'condition':
        yield line(this.#plain(event.condition));
        break;
      case 'totals':
        yield line(event.totals);
    }
  }

  #plain(condition: ConditionResult): object {
    const reports = Object.entries(condition.reports).map(
      ([name, result]) => [name, 'table' in result ? this.#columns(result) : result] as const,
    );
    return { ...condition, reports: Object.fromEntries(reports) };
  }

  #columns({ trials, steps, neurons, inputs, inputNames, truncated }: SpikeTable): object {
    return {
      trial: Array.from(trials),
      t_ms: Array.from(steps, (step) => step / STEPS_PER_MS),
      ...(inputs !== undefined && { input: Array.from(inputs, (input) => inputNames![input]) }),
      root_id: Array.from(neurons, (neuron) => this.connectome.neuronId(neuron)),
      ...(truncated && { truncated }),
    };
  }
}

/** A line between those of an answer; how often is up to the caller, so it is no part of the answer's bytes. */
export function progressLine(progress: ExperimentProgress): Uint8Array {
  return line({ progress });
}

function line(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
