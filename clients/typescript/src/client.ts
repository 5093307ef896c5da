/**
 * A client of the Neural Experiment Service, on nothing but fetch: it runs in browsers and in Node. The types come from
 * the service's own descriptions, openapi.json and openapi-v2.json; `npm run generate` makes api.ts and api-v2.ts.
 */
import type { components, paths } from './api.js';
import type { components as ComponentsOfV2, paths as PathsOfV2 } from './api-v2.js';
import { ExperimentJob, EXPERIMENTS, type JobState } from './experiment-job.js';
import { ExperimentRun, type ExperimentDocument } from './experiment-run.js';
import {
  jsonBody,
  randomKey,
  Requests,
  withQuery,
  type ClientOptions,
  type RequestOptions,
} from './requests.js';
import { ServiceError } from './service-error.js';

export { ExperimentJob, type JobState, type WaitOptions } from './experiment-job.js';
export {
  ExperimentRun,
  InterruptedError,
  type Condition,
  type ExperimentAnswer,
  type ExperimentDocument,
  type ExperimentHead,
  type ExperimentLine,
  type ExperimentProgress,
  type ExperimentTotals,
} from './experiment-run.js';
export type { ClientOptions, RequestOptions } from './requests.js';
export { ServiceError, type ErrorCode } from './service-error.js';

type Schemas = components['schemas'];
type SchemasOfV2 = ComponentsOfV2['schemas'];

/** Every member is optional; what is left out takes the service's default. */
export type RunRequest = NonNullable<
  paths['/api/v1/run']['post']['requestBody']
>['content']['application/json'];
/** The complete answer, with `frames` (the whole raster) and `top_types`. */
export type FullRun = Schemas['FullRun'];
/** The same without these two. */
export type DriveRun = Schemas['DriveRun'];
/** What is simulated: stimuli, channels, drives, parameters, constants, limitations. */
export type Model = Schemas['Model'];

/** Which neurons: a name, an object of labels, or a list of these. */
export type Selector = SchemasOfV2['Selector'];
/** What a report of type rate or histogram read of a group of neurons. */
export type Group = SchemasOfV2['Group'];
/** What a report of type spikes or inputs read. */
export type EventTable = SchemasOfV2['EventTable'];
/** The neurons of each selector, the conditions and the price, without results. */
export type DryRunAnswer = SchemasOfV2['DryRunAnswer'];
export type NeuronSearch = SchemasOfV2['NeuronSearch'];
export type NodeSetList = SchemasOfV2['NodeSetList'];

export interface RunOptions<V extends 'full' | 'drive' = 'full' | 'drive'> extends RequestOptions {
  readonly view?: V;
}

export interface ExperimentOptions extends RequestOptions {
  /** The first condition of the answer, for example where a connection broke. */
  readonly from?: number;
}

type QueryOf<T> = T extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type ExperimentQuery = QueryOf<PathsOfV2['/api/v2/experiments']['post']>;

/** Labels that neurons must have, and which of them to list. */
export type NeuronQuery = Omit<QueryOf<PathsOfV2['/api/v2/neurons']['get']>, 'format'>;

export interface TableOptions extends ExperimentOptions {
  readonly format: 'csv' | 'arrow' | 'parquet';
  /** By default `rates`; where all reports are tables, that of the first of them. */
  readonly table?: NonNullable<ExperimentQuery['table']>;
  /** Names of the columns of a table of spikes, as other programs read them. */
  readonly names?: NonNullable<ExperimentQuery['names']>;
}

export class NeuralExperimentClient {
  readonly #requests: Requests;

  /** @param baseUrl where the service is, such as http://localhost:8080 */
  constructor(baseUrl: string, options: ClientOptions = {}) {
    this.#requests = new Requests(baseUrl, options);
  }

  /**
   * Runs an experiment of version 1: one of ten stimuli.
   * @throws ServiceError where the service refuses; what fetch throws where nothing answers or time is up
   */
  run(request?: RunRequest, options?: RunOptions<'full'>): Promise<FullRun>;
  run(request: RunRequest | undefined, options: RunOptions<'drive'>): Promise<DriveRun>;
  run(request: RunRequest = {}, { view = 'full', ...options }: RunOptions = {}): Promise<DriveRun> {
    return this.#requests.json(withQuery('/api/v1/run', { view }), jsonBody(request), options);
  }

  /** What is simulated. It changes only with the service. */
  model(options: RequestOptions = {}): Promise<Model> {
    return this.#requests.json('/api/v1/model', {}, options);
  }

  /**
   * Runs an open experiment: any neurons stimulated, silenced and read. Iterate over it for its lines as they come, or
   * await its `answer()`. Both throw ServiceError where the service refuses or the experiment fails, InterruptedError
   * where the connection breaks later, and what fetch throws where nothing answers.
   */
  runExperiment(
    document: ExperimentDocument,
    { from = 0, ...options }: ExperimentOptions = {},
  ): ExperimentRun {
    const path = withQuery(EXPERIMENTS, { format: 'ndjson', from });
    const { timeoutMs } = this.#requests;
    return new ExperimentRun(() => this.#requests.begun(path, jsonBody(document), options), {
      from,
      timeoutMs,
      signal: options.signal,
    });
  }

  /** What an open experiment stands for and costs. Nothing is simulated or charged. */
  dryRun(document: ExperimentDocument, options: RequestOptions = {}): Promise<DryRunAnswer> {
    return this.#requests.json(withQuery(EXPERIMENTS, { dry_run: true }), jsonBody(document), options);
  }

  /**
   * Runs an open experiment for one of its tables. The body of the answer is the file as it comes; reading it fails where
   * the connection breaks.
   */
  experimentTable(
    document: ExperimentDocument,
    { format, table, names, from, ...options }: TableOptions,
  ): Promise<Response> {
    const path = withQuery(EXPERIMENTS, { format, table, names, from });
    return this.#requests.begun(path, jsonBody(document), options);
  }

  /**
   * Begins an open experiment as a job: the service computes it whether or not anybody waits. A job may be much larger
   * than what `runExperiment` is allowed. The request has a key (Idempotency-Key): repeating it, for `waitAtMostS`,
   * also where no answer came, begins no second job.
   * @throws ServiceError where the service refuses; what fetch throws where nothing answers or time is up
   */
  async submitExperiment(
    document: ExperimentDocument,
    { from, ...options }: ExperimentOptions = {},
  ): Promise<ExperimentJob> {
    const path = withQuery(EXPERIMENTS, { from });
    const request = jsonBody(document, { Prefer: 'respond-async', 'Idempotency-Key': randomKey() });
    const state = await this.#requests.untilAnswered(options, (left) =>
      this.#requests.json<Partial<JobState>>(path, request, left),
    );
    if (state.jobID !== undefined) return this.job(state.jobID);
    throw new ServiceError(undefined, 'The service computes no jobs: it answered at once.');
  }

  /** A job that was begun before, by its `id`. Nothing is sent. */
  job(id: string): ExperimentJob {
    return new ExperimentJob(this.#requests, id);
  }

  /** Finds neurons by their labels. */
  neurons(query: NeuronQuery = {}, options: RequestOptions = {}): Promise<NeuronSearch> {
    return this.#requests.json(withQuery('/api/v2/neurons', query), {}, options);
  }

  /** The sets of neurons that every selector can name. */
  nodeSets(options: RequestOptions = {}): Promise<NodeSetList> {
    return this.#requests.json('/api/v2/node-sets', {}, options);
  }
}
