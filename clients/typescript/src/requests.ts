import { piecesOf, timeoutError } from './lines.js';
import { errorOf, notOfService, ServiceError } from './service-error.js';

export interface ClientOptions {
  /** Longest wait for an answer, in ms; of an experiment, for its next line. */
  readonly timeoutMs?: number;
  /** Replacement where the platform's fetch will not do. */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Gives up when it is aborted, also while waiting. */
  readonly signal?: AbortSignal;
  /**
   * Seconds in all for which to wait and ask again where the service says 429 or 503 and when to come back. 0, the
   * default, leaves the waiting to the caller.
   */
  readonly waitAtMostS?: number;
  /** Is called before each of these waits. */
  readonly onWait?: (seconds: number, error: ServiceError) => void;
}

/** A request that is finished though its signal is aborted, which then ends only the waiting before it. */
interface SendOptions extends RequestOptions {
  readonly mustFinish?: boolean;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const KEY_BYTES = 16;
/** The first pause before something is asked again; each is twice as long as the one before. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

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

  /**
   * @param members that the answer has if it is from the service
   * @throws ServiceError where the service refuses; what fetch throws where nothing answers or time is up
   */
  async json<T>(
    path: string,
    init: RequestInit,
    options: SendOptions,
    members: readonly (keyof T & string)[] = [],
  ): Promise<T> {
    return this.#patiently(options, async () => {
      const timeout = AbortSignal.timeout(this.timeoutMs);
      const signal = options.mustFinish === true ? undefined : options.signal;
      const response = await this.#send(path, init, signal ? AbortSignal.any([signal, timeout]) : timeout);
      const text = await response.text();
      const value = parsed(text);
      if (typeof value === 'object' && value !== null && members.every((name) => Object.hasOwn(value, name)))
        return value as T;
      throw notOfService(response.status, path, members.join(', ') || 'JSON', text);
    });
  }

  /** The whole body, for as long as pieces of it keep coming. */
  async bytes(path: string, init: RequestInit, options: RequestOptions): Promise<Uint8Array<ArrayBuffer>> {
    const pieces = [];
    for await (const piece of piecesOf(await this.begun(path, init, options), this.timeoutMs)) {
      pieces.push(piece as Uint8Array<ArrayBuffer>);
    }
    return new Uint8Array(await new Blob(pieces).arrayBuffer());
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
   * Asks again, for waitAtMostS, where nothing answers or only a proxy does. For requests that may be sent twice.
   * @param ask is given the options with what is left of waitAtMostS
   */
  async untilAnswered<T>(
    options: RequestOptions,
    ask: (options: RequestOptions) => Promise<T>,
    everyMs = LONGEST_PAUSE_MS,
  ): Promise<T> {
    const { signal, waitAtMostS = 0 } = options;
    const giveUpMs = performance.now() + waitAtMostS * 1000;
    const pauses = growingPauses(everyMs);
    for (let leftS = waitAtMostS; ; leftS = (giveUpMs - performance.now()) / 1000) {
      try {
        return await ask({ ...options, waitAtMostS: leftS });
      } catch (error) {
        const isFinal = error instanceof ServiceError && !error.isOfGateway;
        if (isFinal || signal?.aborted || performance.now() >= giveUpMs) throw error;
      }
      await pause(pauses.next().value, signal);
    }
  }

  async #patiently<T>(
    { signal, waitAtMostS = 0, onWait }: RequestOptions,
    once: () => Promise<T>,
  ): Promise<T> {
    let patienceS = waitAtMostS;
    for (;;) {
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof ServiceError) || !error.isTemporary) throw error;
        const { retryAfterS: waitS } = error;
        if (waitS === undefined) throw error;
        // A wait of 0 s costs patience as well, or the loop could be quick and endless.
        patienceS -= Math.max(waitS, 1);
        if (patienceS < 0) throw error;
        onWait?.(waitS, error);
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

/** Pauses in ms: short ones for what is soon done, up to the longest for what takes long. */
export function* growingPauses(longestMs: number): Generator<number, never, void> {
  for (let ms = FIRST_PAUSE_MS; ; ms *= 2) yield Math.min(ms, longestMs);
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
