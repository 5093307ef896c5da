import type { TableFormat } from '../../answers/v2/formats/formats.js';
import type { AnswerOptions } from '../../answers/v2/formats/answer-writer.js';
import type { ExperimentEvent, ExperimentHead } from '../../answers/v2/result.js';
import type { ProgressLine } from '../progress.js';
import { AnswerFile } from './answer-file.js';
import { AnswerCollector } from './collected-answer.js';
import type { ExperimentSource, TrialProgress } from './source.js';

/** A table that is written to a file while the experiment runs. */
export interface FileOrder extends Pick<AnswerOptions, 'table' | 'names'> {
  readonly path: string;
  readonly format: TableFormat;
}

/** An experiment under way: what it has answered so far, and files that are not finished. */
export class ComputedAnswer {
  readonly collected = new AnswerCollector();
  /** All of it, where the caller wants it. */
  readonly events: ExperimentEvent[] = [];
  #files: AnswerFile[] = [];
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
    return Math.max(this.#conditionsDone, this.collected.conditions);
  }

  /** What it took, in words. */
  get effort(): string {
    const { length } = String(Math.floor(this.#seconds));
    return `Ran ${this.#trialsDone} trials in ${this.#seconds.toFixed(Math.max(0, 3 - length))} s.`;
  }

  /** @throws CodedError for what fails, the reason of the signal; unfinished files are gone then */
  async compute(progress: ProgressLine, signal: AbortSignal): Promise<void> {
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
          this.#files = await this.#open(event.head);
        }
        this.collected.add(event);
        if (this.keepsEvents) this.events.push(event);
        for (const file of this.#files) file.write(event);
      }
    } catch (error) {
      for (const file of this.#files) file.discard();
      throw error;
    } finally {
      this.#seconds = (performance.now() - beganAtMs) / 1000;
      progress.end();
    }
  }

  /** @returns the files that are now there */
  finishFiles(): string[] {
    for (const file of this.#files) file.finish();
    return this.#files.map(({ path }) => path);
  }

  async #open({ experiment }: ExperimentHead): Promise<AnswerFile[]> {
    const files: AnswerFile[] = [];
    if (this.orders.length === 0) return files;
    const connectome = await this.source.neurons();
    try {
      for (const { path, format, ...choice } of this.orders) {
        files.push(await AnswerFile.open(path, format, { ...choice, connectome, experiment }));
      }
      return files;
    } catch (error) {
      for (const file of files) file.discard();
      throw error;
    }
  }
}
