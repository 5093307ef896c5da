import { errorOf, ServiceError } from './service-error.js';

export interface ClientOptions {
  /** How long an answer may take, in ms; of an experiment, its next line. */
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

const DEFAULT_TIMEOUT_MS = 60_000;
const KEY_BYTES = 16;
/** While nothing answers, and a job runs. */
export const ASK_EVERY_MS = 1000;

/** Sends requests to one service: again where it says when, and with a limit on the time of each. */
export class Requests {
  readonly timeoutMs: number;
  readonly #baseUrl: string;
  readonly #fetch: typeof fetch;

  constructor(baseUrl: string, { timeoutMs = DEFAULT_TIMEOUT_MS, fetch: given }: ClientOptions) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.timeoutMs = timeoutMs;
    // A browser's fetch refuses to be called as a method of anything but the window.
    this.#fetch = given ?? ((...args) => fetch(...args));
  }

  /** @throws ServiceError where the service refuses; what fetch throws where nothing answers or time is up */
  async json<T>(path: string, init: RequestInit, options: RequestOptions): Promise<T> {
    const { signal } = options;
    return this.#patiently(options, async () => {
      const timeout = AbortSignal.timeout(this.timeoutMs);
      const response = await this.#send(path, init, signal ? AbortSignal.any([signal, timeout]) : timeout);
      return (await response.json()) as T;
    });
  }

  /** An answer that has begun; its time limit ends then, and `signal` ends it later too. */
  async begun(path: string, init: RequestInit, options: RequestOptions): Promise<Response> {
    const { signal } = options;
    return this.#patiently(options, async () => {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(timeoutError(this.timeoutMs)), this.timeoutMs);
      try {
        return await this.#send(path, init, signal ? AbortSignal.any([signal, late.signal]) : late.signal);
      } finally {
        clearTimeout(timer);
      }
    });
  }

  /**
   * Asks again where nothing answers, for waitAtMostS. Only for what may be asked twice.
   * @param ask is given the options with what is left of waitAtMostS
   */
  async untilAnswered<T>(
    options: RequestOptions,
    ask: (options: RequestOptions) => Promise<T>,
    everyMs = ASK_EVERY_MS,
  ): Promise<T> {
    const { signal, waitAtMostS = 0 } = options;
    const giveUpMs = performance.now() + waitAtMostS * 1000;
    for (let leftS = waitAtMostS; ; leftS = (giveUpMs - performance.now()) / 1000) {
      try {
        return await ask({ ...options, waitAtMostS: leftS });
      } catch (error) {
        if (error instanceof ServiceError || signal?.aborted || performance.now() >= giveUpMs) throw error;
      }
      await pause(everyMs, signal);
    }
  }

  async #patiently<T>({ signal, waitAtMostS = 0 }: RequestOptions, once: () => Promise<T>): Promise<T> {
    let patienceS = waitAtMostS;
    for (;;) {
      try {
        return await once();
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

  async #send(path: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetch(this.#baseUrl + path, { ...init, signal });
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

/** A POST of a body in JSON. */
export function jsonBody(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** Names a request, so that repeating it does nothing twice. */
export function randomKey(): string {
  // A page without TLS has no randomUUID.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `"${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}"`;
}

/** The path with the members that are given as its query. */
export function withQuery(path: string, query: object): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const text = given.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** What AbortSignal.timeout aborts with. */
export function timeoutError(timeoutMs: number): DOMException {
  return new DOMException(`Nothing came for ${timeoutMs} ms.`, 'TimeoutError');
}

/** @throws the reason of the signal */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
