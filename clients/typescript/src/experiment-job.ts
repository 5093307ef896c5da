import type { components } from './api-v2.js';
import { ExperimentRun, type ExperimentOptions } from './experiment-run.js';
import { growingPauses, pause, withQuery, type RequestOptions, type Requests } from './requests.js';
import { ServiceError } from './service-error.js';
import { onlyPage, tablePages, type TableOptions } from './table-pages.js';

/** Progress of a job, and the error with which it failed. */
export type JobState = components['schemas']['JobStatus'];

export interface WaitOptions extends RequestOptions {
  /** The longest pause before the service is asked again, in ms: the first ones are shorter. By default 1000. */
  readonly everyMs?: number;
}

const ASK_EVERY_MS = 1000;

export const EXPERIMENTS = '/api/v2/experiments';

/** An experiment that the service computes whether or not its client is there. */
export class ExperimentJob {
  readonly #requests: Requests;
  readonly #path: string;

  /** @param id name of the job; it is random, and whoever knows it can read and end the job */
  constructor(
    requests: Requests,
    readonly id: string,
  ) {
    this.#requests = requests;
    this.#path = `${EXPERIMENTS}/${encodeURIComponent(id)}`;
  }

  /**
   * Asks for the present state of the job.
   * @throws ServiceError where there is no such job, or it is kept no longer
   */
  state(options: RequestOptions = {}): Promise<JobState> {
    return this.#requests.json(this.#path, {}, options, ['status']);
  }

  /**
   * The states of the job, up to the one in which it has succeeded. The job goes on if this throws, is left or is
   * aborted. A service that does not answer is asked again for `waitAtMostS`.
   * @throws ServiceError if the job failed, was ended, or is not known; what fetch throws where nothing answers
   */
  async *states({ everyMs = ASK_EVERY_MS, ...options }: WaitOptions = {}): AsyncGenerator<
    JobState,
    void,
    void
  > {
    const pauses = growingPauses(everyMs);
    for (;;) {
      // The service may be replaced just now, while the job is kept.
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
   * @param onProgress is called with each state
   */
  async wait(onProgress?: (state: JobState) => void, options: WaitOptions = {}): Promise<JobState> {
    let last: JobState | undefined;
    for await (const state of this.states(options)) onProgress?.((last = state));
    return last!;
  }

  /**
   * The results, as of `runExperiment`: lines, or one `answer()`. While the job runs, these are the conditions that are
   * done, and the last line has `partial: true`. A service that does not answer is asked again for `waitAtMostS`.
   */
  results({ from = 0, ...options }: ExperimentOptions = {}): ExperimentRun {
    // Without `from` the results begin where the job does.
    const pathOf = (page?: string) =>
      withQuery(`${this.#path}/results`, {
        format: 'ndjson',
        ...(page === undefined ? from > 0 && { from } : { page }),
      });
    const { timeoutMs } = this.#requests;
    const open = (page?: string) =>
      this.#requests.untilAnswered(options, (left) => this.#requests.begun(pathOf(page), {}, left));
    return new ExperimentRun(open, { from, timeoutMs, signal: options.signal });
  }

  /** One of the tables of the results, as of `experimentTable`. */
  table(options: TableOptions): Promise<Response> {
    return onlyPage(this.tablePages(options));
  }

  /** All files of one of the tables, as of `experimentTablePages`. */
  tablePages(options: TableOptions): AsyncGenerator<Response, void, void> {
    return tablePages(this.#requests, `${this.#path}/results`, {}, options);
  }

  /** Ends the job and removes its results. */
  end(options: RequestOptions = {}): Promise<JobState> {
    return this.#requests.json(this.#path, { method: 'DELETE' }, options);
  }
}
