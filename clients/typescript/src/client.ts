/**
 * A client of the Neural Experiment Service. It needs only fetch, so it runs in browsers and in Node. The types come
 * from the service's own descriptions, openapi.json and openapi-v2.json; `npm run generate` makes api.ts and api-v2.ts.
 */
import type { components, paths } from './api.js';
import type { components as ComponentsOfV2, paths as PathsOfV2 } from './api-v2.js';
import { ExperimentJob, EXPERIMENTS, type JobState } from './experiment-job.js';
import { ExperimentRun, type ExperimentDocument, type ExperimentOptions } from './experiment-run.js';
import { figureOf, onlyPage, tablePages, type TableOptions } from './table-pages.js';
import {
  jsonBody,
  NDJSON,
  randomKey,
  Requests,
  withQuery,
  type ClientOptions,
  type RequestOptions,
} from './requests.js';
import { ServiceError } from './service-error.js';
import { Session, stepsOf, type StepAnswer } from './session.js';

export * from './brain.js';
export { ExperimentJob, type JobState, type WaitOptions } from './experiment-job.js';
export * from './experiment-run.js';
export { linesOf } from './lines.js';
export { pause, randomKey, type ClientOptions, type RequestOptions } from './requests.js';
export { Session, type SessionChanges, type StepAnswer, type StepOptions } from './session.js';
export { ServiceError, type ErrorCode } from './service-error.js';
export * from './shorthand.js';
export { MorePagesError, type TableOptions } from './table-pages.js';

type Schemas = components['schemas'];
type SchemasOfV2 = ComponentsOfV2['schemas'];

/** Every member is optional and has a default in the service. */
export type RunRequest = NonNullable<
  paths['/api/v1/run']['post']['requestBody']
>['content']['application/json'];
/** The complete answer, with `frames` (the whole raster) and `top_types`. */
export type FullRun = Schemas['FullRun'];
/** The answer without `frames` and `top_types`. */
export type DriveRun = Schemas['DriveRun'];
/** The model: stimuli, channels, drives, parameters, constants, limitations. */
export type Model = Schemas['Model'];

/** Selector of neurons: a name, an object of labels, or a list of these. */
export type Selector = SchemasOfV2['Selector'];
/** Group of a report of type rate or histogram. */
export type Group = SchemasOfV2['Group'];
/** Rows of a report of type spikes, inputs or membrane. */
export type EventTable = SchemasOfV2['EventTable' | 'InputTable' | 'MembraneTable'];
/** The neurons of each selector, the conditions and the cost, without results. */
export type DryRunAnswer = SchemasOfV2['DryRunAnswer'];
export type NeuronSearch = SchemasOfV2['NeuronSearch'];
export type NodeSetList = SchemasOfV2['NodeSetList'];
/** One page of connections, by cell type or by neuron. */
export type ConnectionList = SchemasOfV2['ConnectionList'];

export interface RunOptions<V extends 'full' | 'drive' = 'full' | 'drive'> extends RequestOptions {
  readonly view?: V;
}

export interface SubmitOptions extends ExperimentOptions {
  /** Idempotency key: a second request with the same key begins no second job. By default a random key. */
  readonly key?: string;
}

export interface DryRunOptions extends ExperimentOptions {
  /** Applies the limits of a job, which are larger than those of `runExperiment`. */
  readonly asJob?: boolean;
}

type QueryOf<T> = T extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;

/** Labels that neurons must have, and the page to list. */
export type NeuronQuery = Omit<QueryOf<PathsOfV2['/api/v2/neurons']['get']>, 'format'>;

/** Selects connections, how to group them into rows, and the page to list. */
export interface ConnectionQuery extends Omit<
  QueryOf<PathsOfV2['/api/v2/connections']['get']>,
  'format' | 'source' | 'target'
> {
  /** Presynaptic neurons; all by default. */
  readonly source?: Selector;
  /** Postsynaptic neurons; all by default. */
  readonly target?: Selector;
}

/** Asks the service to run an experiment as a job. */
const AS_JOB = { Prefer: 'respond-async' };

export class NeuralExperimentClient {
  readonly #requests: Requests;

  /** @param baseUrl address of the service, such as http://localhost:8080 */
  constructor(baseUrl: string, options: ClientOptions = {}) {
    this.#requests = new Requests(baseUrl, options);
  }

  /** Address of the service, without user and password and without a slash at the end. */
  get address(): string {
    return this.#requests.baseUrl;
  }

  /**
   * Runs an experiment of version 1: one of ten stimuli.
   * @throws ServiceError if the service refuses; the error of fetch if nothing answers or time is up
   */
  run(request?: RunRequest, options?: RunOptions<'full'>): Promise<FullRun>;
  run(request: RunRequest | undefined, options: RunOptions): Promise<DriveRun>;
  run(request: RunRequest = {}, { view = 'full', ...options }: RunOptions = {}): Promise<DriveRun> {
    const path = withQuery('/api/v1/run', { view });
    const members = ['id', 'model', 'spikes', 'channels', 'drive'] as const;
    return this.#requests.json<DriveRun>(path, jsonBody(request), options, members);
  }

  /** Describes the model. The answer stays the same as long as the service runs. */
  model(options: RequestOptions = {}): Promise<Model> {
    return this.#requests.json('/api/v1/model', {}, options, ['id', 'name', 'atlas_url']);
  }

  /** The bytes at a path of the service, such as `atlas_url` of the model. */
  bytes(path: string, options: RequestOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#requests.bytes(path, {}, options);
  }

  /**
   * Runs an open experiment: it stimulates, silences and reads any neurons. Iterate over the result for its lines, or
   * await its `answer()`. Both throw ServiceError if the service refuses or the experiment fails, InterruptedError
   * if the connection breaks later, and the error of fetch if nothing answers.
   */
  runExperiment(
    document: ExperimentDocument,
    { from = 0, ...options }: ExperimentOptions = {},
  ): ExperimentRun {
    const pathOf = (page?: string) =>
      withQuery(EXPERIMENTS, { format: 'ndjson', ...(page === undefined ? { from } : { page }) });
    const { timeoutMs } = this.#requests;
    const open = (page?: string) =>
      this.#requests.begun(pathOf(page), jsonBody(document), options, { mediaType: NDJSON });
    return new ExperimentRun(open, { from, timeoutMs, signal: options.signal });
  }

  /** Resolves the selectors of an open experiment and estimates its cost. Nothing is simulated or charged. */
  dryRun(
    document: ExperimentDocument,
    { from, asJob = false, ...options }: DryRunOptions = {},
  ): Promise<DryRunAnswer> {
    const path = withQuery(EXPERIMENTS, { dry_run: true, from });
    const request = jsonBody(document, asJob ? AS_JOB : {});
    return this.#requests.json(path, request, options, ['id', 'resolved', 'cost']);
  }

  /**
   *  Runs an open experiment and returns one of its tables. The body of the response is the file; reading it fails if
   * the connection breaks.
   * @throws MorePagesError if the table does not fit into one file; use experimentTablePages then
   */
  experimentTable(document: ExperimentDocument, options: TableOptions): Promise<Response> {
    return onlyPage(this.experimentTablePages(document, options));
  }

  /**
   * Runs an open experiment and yields one of its tables in several files. Each has as many rows as the service sends
   * at once, and is requested on demand. Together they have all rows.
   */
  experimentTablePages(
    document: ExperimentDocument,
    options: TableOptions,
  ): AsyncGenerator<Response, void, void> {
    return tablePages(this.#requests, EXPERIMENTS, jsonBody(document), options);
  }

  /**
   * Runs an open experiment and returns its figure as SVG: the one that the command line draws with `--plot`. If the
   * service still has a short answer to the experiment, it draws that one and computes nothing.
   */
  experimentFigure(document: ExperimentDocument, options: ExperimentOptions = {}): Promise<string> {
    return figureOf(this.#requests, EXPERIMENTS, jsonBody(document), options);
  }

  /**
   * Begins an open experiment as a job, which the service computes even if nobody waits. A job may be much larger than
   * `runExperiment` allows. The request has an Idempotency-Key, so repeating it within `waitAtMostS` begins no second
   * job, even if no answer came.
   * @param document
   * @param options `signal` ends the waiting, but not a request in progress. Otherwise a job could begin whose id
   *   nobody knows
   * @throws ServiceError if the service refuses; the error of fetch if nothing answers or time is up
   */
  async submitExperiment(
    document: ExperimentDocument,
    { from, key = randomKey(), ...options }: SubmitOptions = {},
  ): Promise<ExperimentJob> {
    const path = withQuery(EXPERIMENTS, { from });
    const request = jsonBody(document, { ...AS_JOB, 'Idempotency-Key': key });
    const state = await this.#requests.untilAnswered(options, (left) =>
      this.#requests.json<Partial<JobState>>(path, request, { ...left, mustFinish: true }),
    );
    if (state.jobID !== undefined) return this.job(state.jobID);
    throw new ServiceError(undefined, 'The service computes no jobs: it answered at once.');
  }

  /** An existing job, by its `id`. Sends no request. */
  job(id: string): ExperimentJob {
    return new ExperimentJob(this.#requests, id);
  }

  /**
   * Opens a session: a brain that advances step by step.
   * @param document one trial; `duration_ms`, if given, is simulated first
   * @throws ServiceError if the service refuses; the error of fetch if nothing answers
   */
  openSession(document: ExperimentDocument, options: RequestOptions = {}): Promise<Session> {
    return Session.open(this.#requests, document, options);
  }

  /**
   * Yields all steps of a session as they happen, until the session ends. Watching costs nothing.
   * @param name `name` of the session
   * @throws ServiceError if there is no such session, or if the events end before it does; the error of fetch if the
   *   connection breaks
   */
  watchSession(name: string, options: RequestOptions = {}): AsyncGenerator<StepAnswer, void, void> {
    return stepsOf(this.#requests, name, options);
  }

  /** Finds neurons by their labels. */
  neurons(query: NeuronQuery = {}, options: RequestOptions = {}): Promise<NeuronSearch> {
    return this.#requests.json(withQuery('/api/v2/neurons', query), {}, options, ['neurons']);
  }

  /** Lists connections between two selectors. `from` selects further pages, up to `count` rows in all. */
  connections(
    { source, target, ...query }: ConnectionQuery = {},
    options: RequestOptions = {},
  ): Promise<ConnectionList> {
    const ends = { source: selectorText(source), target: selectorText(target) };
    const path = withQuery('/api/v2/connections', { ...ends, ...query });
    return this.#requests.json(path, {}, options, ['connections']);
  }

  /** The published sets of neurons, which every selector can name. */
  nodeSets(options: RequestOptions = {}): Promise<NodeSetList> {
    return this.#requests.json('/api/v2/node-sets', {}, options, ['node_sets']);
  }
}

/** A selector as a query parameter, in which commas separate names. */
function selectorText(selector: Selector | undefined): string | undefined {
  if (typeof selector === 'string') return selector.includes(',') ? JSON.stringify([selector]) : selector;
  return selector && JSON.stringify(selector);
}
