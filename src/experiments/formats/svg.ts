import type { AnsweredCondition, ExperimentEvent, ExperimentHead } from '../document/result.js';
import { figureOfFile } from '../figures/experiment-figures.js';
import type { FoundCondition } from '../figures/figure-kind.js';
import { figureFile } from '../figures/figure-file.js';
import {
  CONDITIONS_WITH_TABLES,
  findingsOf,
  foundCondition,
  type NamedNeurons,
} from '../figures/findings.js';
import type { GroupResult } from '../kinds/result-rows.js';
import type { AnswerWriter } from './answer-writer.js';

const NO_BYTES = new Uint8Array(0);
/** Groups that are made between two pauses. */
const GROUPS_AT_ONCE = 4096;

/** Draws the figure that `--plot` of the command line draws: the same bytes. Nothing is written before the last event. */
export class SvgWriter implements AnswerWriter {
  #head: ExperimentHead | undefined;
  readonly #conditions: FoundCondition[] = [];

  constructor(private readonly neurons: NamedNeurons) {}

  *write(event: ExperimentEvent): Iterable<Uint8Array> {
    switch (event.kind) {
      case 'head':
        this.#head = event.head;
        break;
      case 'condition':
        yield* this.#collect(event.condition);
        break;
      case 'totals': {
        const answer = { head: this.#head!, conditions: this.#conditions, totals: event.totals };
        const figure = figureOfFile(findingsOf(answer, this.neurons));
        yield NO_BYTES;
        yield new TextEncoder().encode(`${figureFile(figure, {}).svg}\n`);
      }
    }
  }

  *#collect(condition: AnsweredCondition): Iterable<Uint8Array> {
    const reports: Record<string, AnsweredCondition['reports'][string]> = {};
    for (const [name, report] of Object.entries(condition.reports)) {
      if ('table' in report) {
        reports[name] = report;
        continue;
      }
      const groups: GroupResult[] = [];
      while (groups.length < report.length) {
        if (groups.length % GROUPS_AT_ONCE === 0) yield NO_BYTES;
        groups.push(report.at(groups.length)!);
      }
      reports[name] = groups;
    }
    const keepsTables = this.#conditions.length < CONDITIONS_WITH_TABLES;
    this.#conditions.push(foundCondition({ ...condition, reports }, keepsTables));
  }
}
