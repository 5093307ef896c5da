/**
 * A brain, wherever it is computed: `connect` asks a service, and openBrain (neural-experiment-client/local) computes in a
 * worker of this page or program. Documents, answers, events and errors are the same.
 */
import {
  type DriveRun,
  type FullRun,
  type Model,
  NeuralExperimentClient,
  type RunOptions,
  type RunRequest,
} from './client.js';
import type { components } from './api-v2.js';
import {
  type ExperimentAnswer,
  type ExperimentDocument,
  type ExperimentLine,
  type ExperimentOptions,
  InterruptedError,
} from './experiment-run.js';
import { type ClientOptions, jsonBody, type RequestOptions, Requests, withQuery } from './requests.js';
import { ServiceError } from './service-error.js';
import type { SessionChanges, Step, StepAnswer, StepOptions } from './session.js';

/** A session in this program has no `idle_s`, because it does not end by itself. */
type SessionState = Omit<components['schemas']['Session'], 'idle_s'> & { readonly idle_s?: number };
const STATE_MEMBERS: readonly (keyof SessionState)[] = ['session', 't_ms'];

/** How much of the file of a brain has arrived. */
export interface LoadProgress {
  readonly loadedBytes: number;
  /** Unknown if the server compresses the file itself. */
  readonly totalBytes: number | undefined;
}

export interface BrainOptions {
  /** Called while the file of the brain arrives. */
  readonly onProgress?: (progress: LoadProgress) => void;
  /** Ends the opening. */
  readonly signal?: AbortSignal;
  /** Number of threads that compute trials; answers do not depend on it. By default 1. */
  readonly workers?: number;
}

/**
 * Opens a brain in workers of this page or program; resolves if it is ready. Errors have a code: CONNECTOME_MISSING,
 * CONNECTOME_INVALID, WORKER_LOST.
 */
export interface OpenBrain {
  /** Opens the brain of the site that brain.js is on. */
  (options?: BrainOptions): Promise<Brain>;
  /** @param source file or URL of a connectome, also compressed with gzip */
  (source: string | URL, options?: BrainOptions): Promise<Brain>;
}

export interface BrainExperimentOptions extends ExperimentOptions {
  /** Gets each line that the format NDJSON has: the head, conditions and progress, the totals. */
  readonly onEvent?: (event: ExperimentLine) => void;
}

/** Connects to a service. @param url its address, such as http://localhost:8080 */
export function connect(url: string, options: ClientOptions = {}): Brain {
  return new Brain(url, options);
}

/** All methods throw ServiceError, with a code and often a path, if a request is refused. */
export class Brain {
  /** The whole API of the service. A brain in this program has no jobs. */
  readonly client: NeuralExperimentClient;
  /** Sends a request of the API, in the form of fetch; the URL begins with its path. Of a Request, the path is used. */
  readonly fetch: typeof fetch;
  readonly #requests: Requests;

  /** @param end ends the workers of a brain in this program */
  constructor(
    url: string,
    options: ClientOptions,
    private readonly end: () => void = () => undefined,
  ) {
    this.client = new NeuralExperimentClient(url, options);
    this.#requests = new Requests(url, options);
    const given = options.fetch ?? fetch;
    this.fetch = async (path, init) => {
      if (!(path instanceof Request)) return given(this.client.address + String(path), init);
      const { method, headers, signal, url: asked } = path;
      const { pathname, search } = new URL(asked);
      const body = await path.arrayBuffer();
      const asks = { method, headers, signal, ...(body.byteLength > 0 && { body }) };
      return given(this.client.address + pathname + search, { ...asks, ...init });
    };
  }

  /** Runs one of the ten stimuli; the body of POST /api/v1/run. */
  run(request?: RunRequest, options?: RunOptions<'full'>): Promise<FullRun>;
  run(request: RunRequest | undefined, options: RunOptions): Promise<DriveRun>;
  run(request?: RunRequest, options: RunOptions = {}): Promise<DriveRun> {
    return this.client.run(request, options);
  }

  /** The body of GET /api/v1/model. */
  model(options?: RequestOptions): Promise<Model> {
    return this.client.model(options);
  }

  readonly neurons: NeuralExperimentClient['neurons'] = (...query) => this.client.neurons(...query);

  /** Runs an open experiment; the JSON answer of POST /api/v2/experiments. If it has several pages, it lacks `screen`. */
  async experiment(
    document: ExperimentDocument,
    { onEvent, ...options }: BrainExperimentOptions = {},
  ): Promise<ExperimentAnswer> {
    try {
      return await this.client.runExperiment(document, options).collect(onEvent);
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error;
      const { cause } = error;
      if (cause === undefined) {
        throw new ServiceError(undefined, 'The answer ended before the experiment was done.');
      }
      // Errors of a brain in this program have codes, such as WORKER_LOST.
      if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') throw cause;
      throw error;
    }
  }

  /** Opens a session: a brain that continues step by step. */
  async session(document: ExperimentDocument, options: RequestOptions = {}): Promise<BrainSession> {
    const request = jsonBody(document);
    const state = await this.#requests.json('/api/v2/sessions', request, options, STATE_MEMBERS);
    return new BrainSession(this.#requests, state);
  }

  /** Ends the workers. A service goes on. */
  close(): void {
    this.end();
  }
}

export class BrainSession {
  readonly #path: string;

  /** @param state at the time at which it was opened */
  constructor(
    private readonly requests: Requests,
    readonly state: SessionState,
  ) {
    this.#path = `/api/v2/sessions/${state.session}`;
  }

  /** @param step begins at `t_ms`, which must be the time that the session has reached */
  step(step: Step, { drive, ...options }: StepOptions = {}): Promise<StepAnswer> {
    const path = withQuery(`${this.#path}/steps`, { drive: drive || undefined });
    return this.requests.json(path, jsonBody(step), options, ['t_ms', 'reports']);
  }

  /** The session so far as a document, which replays it. */
  document(options: RequestOptions = {}): Promise<ExperimentDocument> {
    return this.requests.json(`${this.#path}/document`, {}, options, ['inputs']);
  }

  /** A second session that continues from here. */
  async branch(changes: SessionChanges = {}, options: RequestOptions = {}): Promise<BrainSession> {
    const request = jsonBody(changes);
    const state = await this.requests.json(`${this.#path}/branches`, request, options, STATE_MEMBERS);
    return new BrainSession(this.requests, state);
  }

  async end(options: RequestOptions = {}): Promise<void> {
    await this.requests.json(this.#path, { method: 'DELETE' }, options);
  }
}
