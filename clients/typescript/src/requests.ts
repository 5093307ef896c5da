import { piecesOf, startTimer } from './lines.js';
import { errorOf, notOfService, ServiceError } from './service-error.js';

export interface ClientOptions {
  /** Longest wait in ms for an answer, or for the next line of an experiment; Infinity for no limit. */
  readonly timeoutMs?: number;
  /** Replaces the platform's fetch. */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Aborts the request and any wait before it. */
  readonly signal?: AbortSignal;
  /**
   * Total time in s for waiting and repeating a request, if the service answers 429 or 503 with Retry-After. 0, the
   * default, leaves waiting to the caller.
   */
  readonly waitAtMostS?: number;
  /** Called before each of these waits. */
  readonly onWait?: (seconds: number, error: ServiceError) => void;
}

/** With `mustFinish`, the signal ends only the wait before a request, and not a request in progress. */
interface SendOptions extends RequestOptions {
  readonly mustFinish?: boolean;
}

/** The expected beginning of an answer. */
interface Beginning {
  /** Media type that the service sends. Another one is the answer of something else, such as a proxy. */
  readonly mediaType?: string;
  /** Time limit, by default `timeoutMs`. */
  readonly withinMs?: number;
}

/** Media type of the lines of an experiment. */
export const NDJSON = 'application/x-ndjson';

const DEFAULT_TIMEOUT_MS = 60_000;
const KEY_BYTES = 16;
/** The first pause before a repeated request; each pause is twice as long as the previous one. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

/** Sends requests to one service, each with a timeout. It repeats requests if the service says when. */
export class Requests {
  readonly timeoutMs: number;
  /** Without user and password. */
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;
  /** True if fetch is the platform's own. */
  readonly #isPlatforms: boolean;

  constructor(baseUrl: string, { timeoutMs = DEFAULT_TIMEOUT_MS, fetch: given }: ClientOptions) {
    const { address, authorization } = withoutPassword(baseUrl);
    this.timeoutMs = timeoutMs;
    this.baseUrl = address.replace(/\/+$/, '');
    this.#headers = authorization === undefined ? {} : { Authorization: authorization };
    this.#isPlatforms = given === undefined;
    // A browser's fetch can be called only as a method of the window.
    this.#fetch = given ?? ((...args) => fetch(...args));
  }

  /**
   * @param members required members of the answer; without them it is not from the service
   * @throws ServiceError if the service refuses; the error of fetch if nothing answers or time is up
   */
  async json<T>(
    path: string,
    init: RequestInit,
    options: SendOptions,
    members: readonly (keyof T & string)[] = [],
  ): Promise<T> {
    return this.#patiently(options, async () => {
      const signal = options.mustFinish === true ? undefined : options.signal;
      const [status, text] = await this.#inTime(signal, async (ends): Promise<[number, string]> => {
        const response = await this.#send(path, init, ends);
        return [response.status, await response.text()];
      });
      const value = parsed(text);
      if (typeof value === 'object' && value !== null && members.every((name) => Object.hasOwn(value, name)))
        return value as T;
      throw notOfService(status, path, members.join(', ') || 'JSON', text);
    });
  }

  /** The whole body. The timeout applies to each piece, and `withinMs` to the time before the first. */
  async bytes(
    path: string,
    init: RequestInit,
    options: RequestOptions,
    beginning: Beginning = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const response = await this.begun(path, init, options, beginning);
    const pieces = [];
    for await (const piece of piecesOf(response, this.timeoutMs)) {
      pieces.push(piece as Uint8Array<ArrayBuffer>);
    }
    return new Uint8Array(await new Blob(pieces).arrayBuffer());
  }

  /** Resolves when the response begins. The timeout ends then; `signal` can still abort the body. */
  async begun(
    path: string,
    init: RequestInit,
    options: RequestOptions,
    { mediaType = '', withinMs = this.timeoutMs }: Beginning = {},
  ): Promise<Response> {
    const ask = async (ends: AbortSignal) => {
      const response = await this.#send(path, init, ends, withinMs);
      const found = response.headers.get('Content-Type') ?? '';
      if (found.startsWith(mediaType)) return response;
      await response.body?.cancel();
      throw notOfService(response.status, path, mediaType, found || 'no Content-Type');
    };
    return this.#patiently(options, () => this.#inTime(options.signal, ask, withinMs));
  }

  /** @param ask gets a signal that aborts with the given one, or when time is up */
  async #inTime<T>(
    signal: AbortSignal | undefined,
    ask: (ends: AbortSignal) => Promise<T>,
    withinMs = this.timeoutMs,
  ): Promise<T> {
    const late = new AbortController();
    const stop = startTimer(withinMs, (error) => late.abort(error));
    try {
      return await ask(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
    } finally {
      stop();
    }
  }

  /**
   * Repeats a request for `waitAtMostS` if nothing answers, or only a proxy. The request must be safe to repeat. If the
   * service itself answers that it is busy, #patiently waits for as long as the service says.
   * @param ask gets the options with the rest of `waitAtMostS`
   */
  async untilAnswered<T>(
    options: RequestOptions,
    ask: (options: RequestOptions) => Promise<T>,
    longestPauseMs = MAX_PAUSE_MS,
  ): Promise<T> {
    const { signal, waitAtMostS = 0 } = options;
    const giveUpMs = performance.now() + waitAtMostS * 1000;
    const pauses = growingPauses(longestPauseMs);
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

  /** Repeats a request that the service refused for now, after the pause that its answer names. See untilAnswered. */
  async #patiently<T>(
    { signal, waitAtMostS = 0, onWait }: RequestOptions,
    once: () => Promise<T>,
  ): Promise<T> {
    // With mustFinish, the request itself would not notice.
    signal?.throwIfAborted();
    let patienceS = waitAtMostS;
    for (;;) {
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof ServiceError) || !error.isTemporary) throw error;
        const { retryAfterS: waitS } = error;
        if (waitS === undefined) throw error;
        // Count at least 1 s for each wait. Otherwise waits of 0 s would make an endless loop.
        patienceS -= Math.max(waitS, 1);
        if (patienceS < 0) throw error;
        onWait?.(waitS, error);
        await pause(waitS * 1000, signal);
      }
    }
  }

  async #send(
    path: string,
    init: RequestInit,
    signal: AbortSignal,
    withinMs = this.timeoutMs,
  ): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), ...this.#headers };
    const dispatcher = this.#isPlatforms ? dispatcherFor(withinMs, this.timeoutMs) : undefined;
    const options = { ...init, headers, signal, ...(dispatcher && { dispatcher }) } as RequestInit;
    const response = await this.#fetch(this.baseUrl + path, options);
    if (response.ok) return response;
    // After the statuses 301 and 302, fetch turns a POST into a GET.
    if (response.redirected && init.method === 'POST' && response.status === 405) {
      throw new ServiceError(
        response.status,
        `${path} was redirected to ${response.url}, which loses the body of a POST: use the address that it leads to.`,
      );
    }
    throw await errorOf(response);
  }
}

/** Splits user and password off an address, because an address is shown in errors, and fetch refuses one that has them. */
function withoutPassword(baseUrl: string): { readonly address: string; readonly authorization?: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || url.username + url.password === '') return { address: baseUrl };
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const bytes = new TextEncoder().encode(user);
  return { address: url.href, authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Time that fetch of Node waits for headers and between pieces, whatever its signal says. */
const MAX_WAIT_OF_NODE_MS = 300_000;

/** The part of a dispatcher, which sends the requests of Node's fetch, that is used here. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** @returns an option of Node's fetch that makes it wait longer; undefined elsewhere, and if it waits long enough */
function dispatcherFor(beginsWithinMs: number, timeoutMs: number): Dispatcher | undefined {
  if (Math.max(beginsWithinMs, timeoutMs) <= MAX_WAIT_OF_NODE_MS) return undefined;
  // Node loads its fetch, and with it the dispatcher, when one of its classes is first read.
  if (globalThis.Response === undefined) return undefined;
  const usual = (globalThis as { readonly [key: symbol]: unknown })[Symbol.for('undici.globalDispatcher.1')];
  if (typeof usual !== 'object' || usual === null) return undefined;
  // It takes 0 for no limit.
  const waitOf = (ms: number) => (ms === Infinity ? 0 : Math.max(ms, MAX_WAIT_OF_NODE_MS));
  const limits = { headersTimeout: waitOf(beginsWithinMs), bodyTimeout: waitOf(timeoutMs) };
  // The program may have set it, for example to one of a proxy, so its connections serve these requests, too.
  return {
    dispatch: (options, handler) => (usual as Dispatcher).dispatch({ ...options, ...limits }, handler),
  };
}

/** A POST of a body in JSON. */
export function jsonBody(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** An idempotency key for a request. */
export function randomKey(): string {
  // crypto.randomUUID exists only on pages with TLS.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `"${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}"`;
}

/** The path with the defined members as its query. */
export function withQuery(path: string, query: object): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const text = given.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Pauses in ms, from short ones up to `longestMs`, so that short jobs are noticed quickly. */
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
