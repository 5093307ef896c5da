import type { ExperimentEvent, ExperimentHead } from '../document/result.js';
import { figureOfFile } from '../figures/experiment-figures.js';
import type { FoundCondition } from '../figures/figure-kind.js';
import { figureFile } from '../figures/figure-file.js';
import { findingsOf, foundInParts, type NamedNeurons } from '../figures/findings.js';
import { type AnswerWriter, NO_BYTES } from './answer-writer.js';

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
      case 'condition': {
        const making = foundInParts(event.condition, this.#conditions.length);
        let part = making.next();
        for (; part.done !== true; part = making.next()) yield NO_BYTES;
        this.#conditions.push(part.value);
        break;
      }
      case 'totals': {
        const answer = { head: this.#head!, conditions: this.#conditions, totals: event.totals };
        const figure = figureOfFile(findingsOf(answer, this.neurons));
        yield NO_BYTES;
        yield new TextEncoder().encode(`${figureFile(figure, {}).svg}\n`);
      }
    }
  }
}
