import type { components } from './api-v2.js';
import { ExperimentRun } from './experiment-run.js';
import { ASK_EVERY_MS, pause, withQuery, type RequestOptions, type Requests } from './requests.js';
import { ServiceError } from './service-error.js';
import type { ExperimentOptions, TableOptions } from './client.js';

/** How far a job is, and what it failed with. */
export type JobState = components['schemas']['JobStatus'];

export interface WaitOptions extends RequestOptions {
  /** How often the service is asked, in ms. */
  readonly everyMs?: number;
}

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
   * How far the job is now.
   * @throws ServiceError where there is no such job, or it is kept no longer
   */
  state(options: RequestOptions = {}): Promise<JobState> {
    return this.#requests.json(this.#path, {}, options);
  }

  /**
   * Waits until the job has succeeded. The job goes on if this throws or is aborted: call it again to go on waiting.
   * A service that does not answer is asked again for `waitAtMostS`.
   * @param onProgress is called with each state
   * @throws ServiceError if the job failed, was ended, or is not known; what fetch throws where nothing answers
   */
  async wait(
    onProgress?: (state: JobState) => void,
    { everyMs = ASK_EVERY_MS, ...options }: WaitOptions = {},
  ): Promise<JobState> {
    for (;;) {
      // The service may be replaced just now, while the job is kept.
      const state = await this.#requests.untilAnswered(options, (left) => this.state(left), everyMs);
      onProgress?.(state);
      const { status, error } = state;
      if (status === 'successful') return state;
      if (error !== undefined) throw new ServiceError(undefined, error.error, error);
      if (status === 'dismissed') {
        throw new ServiceError(undefined, 'The job was ended before it was done.', { code: 'NOT_FOUND' });
      }
      await pause(everyMs, options.signal);
    }
  }

  /**
   * The results, as of `runExperiment`: lines, or one `answer()`. While the job runs, these are the conditions that are
   * done, and the last line has `partial: true`.
   */
  results({ from = 0, ...options }: ExperimentOptions = {}): ExperimentRun {
    // Without it they begin where the job does.
    const path = withQuery(`${this.#path}/results`, { format: 'ndjson', ...(from > 0 && { from }) });
    const { timeoutMs } = this.#requests;
    return new ExperimentRun(() => this.#requests.begun(path, {}, options), {
      from,
      timeoutMs,
      signal: options.signal,
    });
  }

  /** One of the tables of the results, as of `experimentTable`. */
  table({ format, table, names, from, ...options }: TableOptions): Promise<Response> {
    const path = withQuery(`${this.#path}/results`, { format, table, names, from });
    return this.#requests.begun(path, {}, options);
  }

  /** Ends the job and removes its results. */
  end(options: RequestOptions = {}): Promise<JobState> {
    return this.#requests.json(this.#path, { method: 'DELETE' }, options);
  }
}
