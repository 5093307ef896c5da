import type { components } from './api-v2.js';
import { ExperimentRun, type ExperimentOptions } from './experiment-run.js';
import { growingPauses, NDJSON, pause, withQuery, type RequestOptions, type Requests } from './requests.js';
import { ServiceError } from './service-error.js';
import { figureOf, onlyPage, tablePages, type TableOptions } from './table-pages.js';

/** Progress of a job, and its error if it failed. */
export type JobState = components['schemas']['JobStatus'];

export interface WaitOptions extends RequestOptions {
  /** The longest pause between requests, in ms; the first pauses are shorter. By default 1000. */
  readonly everyMs?: number;
}

const ASK_EVERY_MS = 1000;
/** Default of `waitAtMostS` while a job is followed: long enough for a restart of the service or of a proxy. */
const WAIT_AT_MOST_S = 300;

export const EXPERIMENTS = '/api/v2/experiments';

/** An experiment that the service computes even if no client is connected. */
export class ExperimentJob {
  readonly #requests: Requests;
  readonly #path: string;

  /** @param id random id of the job; anyone with the id can read and end the job */
  constructor(
    requests: Requests,
    readonly id: string,
  ) {
    this.#requests = requests;
    this.#path = `${EXPERIMENTS}/${encodeURIComponent(id)}`;
  }

  /**
   * Requests the current state of the job.
   * @throws ServiceError if there is no such job, or if it has expired
   */
  state(options: RequestOptions = {}): Promise<JobState> {
    return this.#requests.json(this.#path, {}, options, ['status']);
  }

  /**
   * Yields the states of the job until it has succeeded. The job continues if this throws, is left or is aborted. If
   * the service does not answer, requests are repeated for `waitAtMostS`, by default 300 s.
   * @throws ServiceError if the job failed, was ended, or is unknown; the error of fetch if nothing answers
   */
  async *states({ everyMs = ASK_EVERY_MS, ...given }: WaitOptions = {}): AsyncGenerator<
    JobState,
    void,
    void
  > {
    const options = { waitAtMostS: WAIT_AT_MOST_S, ...given };
    const pauses = growingPauses(everyMs);
    for (;;) {
      // The job survives a restart of the service, so a missing answer is no reason to give up.
      const state = await this.#requests.untilAnswered(options, (left) => this.state(left), everyMs);
      yield state;
      const { status, error } = state;
      if (status === 'successful') return;
      if (error !== undefined) throw new ServiceError(undefined, error.error, error);
      if (status === 'dismissed') {
        throw new ServiceError(undefined, 'The job was ended before it was done.', { code: 'NOT_FOUND' });
      }
      await pause(pauses.next().value, options.signal);
    }
  }

  /**
   * Waits until the job has succeeded, as `states` does.
   * @param onProgress called with each state
   */
  async wait(onProgress?: (state: JobState) => void, options: WaitOptions = {}): Promise<JobState> {
    let last: JobState | undefined;
    for await (const state of this.states(options)) {
      last = state;
      onProgress?.(state);
    }
    return last!;
  }

  /**
   * The results in the form of `runExperiment`: lines, or one `answer()`. While the job runs, they have only the
   * conditions that are done, and the last line has `partial: true`. If the service does not answer, requests are
   * repeated for `waitAtMostS`.
   */
  results({ from = 0, ...options }: ExperimentOptions = {}): ExperimentRun {
    // Without `from`, the results begin with the job's own first condition.
    const pathOf = (page?: string) =>
      withQuery(`${this.#path}/results`, {
        format: 'ndjson',
        ...(page === undefined ? from > 0 && { from } : { page }),
      });
    const { timeoutMs } = this.#requests;
    const open = (page?: string) =>
      this.#requests.untilAnswered(options, (left) =>
        this.#requests.begun(pathOf(page), {}, left, { mediaType: NDJSON }),
      );
    return new ExperimentRun(open, { from, timeoutMs, signal: options.signal });
  }

  /** One table of the results, in the form of `experimentTable`. */
  table(options: TableOptions): Promise<Response> {
    return onlyPage(this.tablePages(options));
  }

  /** All files of one table, in the form of `experimentTablePages`. */
  tablePages(options: TableOptions): AsyncGenerator<Response, void, void> {
    return tablePages(this.#requests, `${this.#path}/results`, {}, options);
  }

  /** The figure of the results as SVG; while the job runs, of the conditions that are done. */
  figure(options: ExperimentOptions = {}): Promise<string> {
    return figureOf(this.#requests, `${this.#path}/results`, {}, options);
  }

  /** Ends the job and removes its results. */
  end(options: RequestOptions = {}): Promise<JobState> {
    return this.#requests.json(this.#path, { method: 'DELETE' }, options, ['status']);
  }
}
