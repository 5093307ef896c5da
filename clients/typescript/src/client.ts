/**
 * A client of the Neural Experiment Service, on nothing but fetch: it runs in browsers and in Node. The types
 * come from the service's own description, openapi.json; `npm run generate` makes api.ts from it.
 */
import type { components, paths } from './api.js';

type Schemas = components['schemas'];

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
/** What went wrong, in one word. */
export type ErrorCode = Schemas['ErrorResponse']['code'];

/** The service answered, and its answer is that it did not do what it was asked. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  /**
   * @param status of the HTTP answer
   * @param message the service's own sentence: the field, what it got, what is allowed
   * @param code undefined where something other than the service answered, such as a proxy
   * @param retryAfterS after how many seconds trying again makes sense, where the answer says so
   */
  constructor(
    readonly status: number,
    message: string,
    readonly code: ErrorCode | undefined,
    readonly retryAfterS: number | undefined,
  ) {
    super(message);
  }

  /** True where the same request may succeed later: the rate limit, or a model that is not available. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status === 503;
  }
}

export interface ClientOptions {
  /** Of one request, in ms. */
  readonly timeoutMs?: number;
  /** Where the one of the platform will not do. */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Gives up when it is aborted, also while waiting. */
  readonly signal?: AbortSignal;
  /**
   * Where the service says 429 or 503 and when to come back, wait and ask again, for at most this many seconds
   * in all. 0, the default, leaves the waiting to the caller.
   */
  readonly waitAtMostS?: number;
}

export interface RunOptions<V extends 'full' | 'drive' = 'full' | 'drive'> extends RequestOptions {
  readonly view?: V;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export class NeuralExperimentClient {
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  /** @param baseUrl where the service is, such as http://localhost:8080 */
  constructor(baseUrl: string, { timeoutMs = DEFAULT_TIMEOUT_MS, fetch: given }: ClientOptions = {}) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#timeoutMs = timeoutMs;
    // A browser's fetch refuses to be called as a method of anything but the window.
    this.#fetch = given ?? ((...args) => fetch(...args));
  }

  /**
   * Runs an experiment.
   * @throws ServiceError where the service refuses; what fetch throws where nothing answers or time is up
   */
  run(request?: RunRequest, options?: RunOptions<'full'>): Promise<FullRun>;
  run(request: RunRequest | undefined, options: RunOptions<'drive'>): Promise<DriveRun>;
  run(request: RunRequest = {}, { view = 'full', ...options }: RunOptions = {}): Promise<DriveRun> {
    return this.#json(
      `/api/v1/run?view=${view}`,
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request) },
      options,
    );
  }

  /** What is simulated. It changes only with the service. */
  model(options: RequestOptions = {}): Promise<Model> {
    return this.#json('/api/v1/model', {}, options);
  }

  async #json<T>(path: string, init: RequestInit, { signal, waitAtMostS = 0 }: RequestOptions): Promise<T> {
    let patienceS = waitAtMostS;
    for (;;) {
      try {
        return await this.#once<T>(path, init, signal);
      } catch (error) {
        const waitS = error instanceof ServiceError && error.isTemporary ? error.retryAfterS : undefined;
        if (waitS === undefined) throw error;
        // Even a wait of 0 s costs patience: an endless quick loop would help nobody.
        patienceS -= Math.max(waitS, 1);
        if (patienceS < 0) throw error;
        await pause(waitS * 1000, signal);
      }
    }
  }

  async #once<T>(path: string, init: RequestInit, signal: AbortSignal | undefined): Promise<T> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const response = await this.#fetch(this.#baseUrl + path, {
      ...init,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as T;
  }
}

async function errorOf(response: Response): Promise<ServiceError> {
  const text = await response.text();
  const { error, code } = errorBody(text);
  const retryAfter = response.headers.get('Retry-After');
  const retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return new ServiceError(
    response.status,
    error ?? `The service answered ${response.status} ${response.statusText}`.trim(),
    code,
    retryAfterS,
  );
}

/** Empty where the answer is not the service's: a proxy in between speaks HTML. */
function errorBody(text: string): Partial<Schemas['ErrorResponse']> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
