import { constants } from 'node:os';
import { answerWriter, type AnswerWriter } from '../../experiments/formats/answer-writer.js';
import type { TableFormat } from '../../experiments/formats/formats.js';
import type { TableRequest } from '../../experiments/formats/tables.js';
import type { ExperimentEvent, ExperimentHead, ExperimentTotals } from '../../experiments/run/result.js';
import type { FoundCondition } from '../../experiments/figures/figure-kind.js';
import type { ProgressLine } from '../progress.js';
import { AtomicFile } from '../atomic-file.js';
import { type CollectedAnswer, foundCondition } from './collected-answer.js';
import type { ExperimentSource, TrialProgress } from './source.js';

/** A table that is written to a file while the experiment runs. */
export interface FileOrder extends Pick<TableRequest, 'table' | 'names'> {
  readonly path: string;
  readonly format: TableFormat;
}

/** Tables of spikes may fill the memory: those of so many conditions are kept for the plot. */
const CONDITIONS_WITH_TABLES = 4;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Computing was ended by Ctrl-C, or by a request to end. */
export class Interrupted extends Error {
  /** As shells report it: 128 and the number of the signal. */
  readonly exitStatus: number;

  constructor(signal: NodeJS.Signals) {
    super(signal);
    this.exitStatus = 128 + constants.signals[signal];
  }
}

/** An experiment under way: what it has answered so far, and files that are not finished. */
export class ComputedAnswer {
  readonly #conditions: FoundCondition[] = [];
  #head: ExperimentHead | undefined;
  #totals: ExperimentTotals | undefined;
  /** All of it, where the caller wants it. */
  readonly events: ExperimentEvent[] = [];
  readonly #files: { readonly file: AtomicFile; readonly writer: AnswerWriter }[] = [];
  #trialsDone = 0;
  #conditionsDone = 0;
  #seconds = 0;

  /** @param keepsEvents whether all of the answer is kept in memory */
  constructor(
    private readonly source: ExperimentSource,
    private readonly orders: readonly FileOrder[],
    private readonly keepsEvents: boolean,
  ) {}

  /** Conditions that were computed; those of a job may not have been received. */
  get conditionsDone(): number {
    return Math.max(this.#conditionsDone, this.#conditions.length);
  }

  /** When all of it was computed. */
  get answer(): CollectedAnswer {
    return { head: this.#head!, conditions: this.#conditions, totals: this.#totals! };
  }

  /** Time that it took, in words. */
  get effort(): string {
    const { length } = String(Math.floor(this.#seconds));
    return `Ran ${this.#trialsDone} trials in ${this.#seconds.toFixed(Math.max(0, 3 - length))} s.`;
  }

  /**
   * Computes all of it. The first signal ends that; a second one ends the process at once, as it does by default.
   * @throws CodedError for what fails, Interrupted; unfinished files are gone then
   */
  async compute(progress: ProgressLine): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (name: NodeJS.Signals) => {
      restore();
      controller.abort(new Interrupted(name));
    };
    const restore = () => SIGNALS.forEach((name) => process.removeListener(name, abort));
    SIGNALS.forEach((name) => process.once(name, abort));
    progress.begin('Running trials', 0, 'items');
    const onProgress = ({ trials, trialsDone, conditionsDone = 0, secondsLeft }: TrialProgress) => {
      this.#trialsDone = trialsDone;
      this.#conditionsDone = conditionsDone;
      progress.reached(trialsDone, trials, secondsLeft);
    };
    let beganAtMs = performance.now();
    try {
      for await (const event of this.source.events({ signal, onProgress })) {
        if (event.kind === 'head') {
          beganAtMs = performance.now();
          this.#head = event.head;
          await this.#openFiles(event.head);
        } else if (event.kind === 'totals') this.#totals = event.totals;
        else {
          const keepsTables = this.#conditions.length < CONDITIONS_WITH_TABLES;
          this.#conditions.push(foundCondition(event.condition, keepsTables));
        }
        if (this.keepsEvents) this.events.push(event);
        for (const { file, writer } of this.#files) {
          for (const bytes of writer.write(event)) file.write(bytes);
        }
      }
    } catch (error) {
      for (const { file } of this.#files) file.discard();
      throw signal.aborted ? signal.reason : error;
    } finally {
      restore();
      this.#seconds = (performance.now() - beganAtMs) / 1000;
      progress.end();
    }
  }

  /** @returns the files that are now there */
  finishFiles(): string[] {
    return this.#files.map(({ file }) => {
      file.finish();
      return file.path;
    });
  }

  /** @throws CodedError where the experiment has no such table, or the file cannot be written */
  async #openFiles({ experiment }: ExperimentHead): Promise<void> {
    for (const { path, format, ...choice } of this.orders) {
      const connectome = await this.source.neurons();
      const writer = await answerWriter(format, { ...choice, connectome, experiment });
      this.#files.push({ file: new AtomicFile(path), writer });
    }
  }
}
