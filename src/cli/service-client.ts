import { setTimeout } from 'node:timers/promises';
import { CodedError, ERRORS, describeValue, type ErrorCode } from '../errors.js';
import { usage } from './command.js';

/** A service that is silent for so long has gone: what takes longer shows its progress. */
const SILENCE_MS = 60_000;
const LONGEST_WAIT_S = 120;
const MOST_WAITS = 10;

export interface ServiceRequest extends Pick<RequestInit, 'method' | 'headers' | 'body'> {
  /** Ends the request, which then throws the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** A running service as commands use it: waits as long as its rate limits say, and repeats what it says of a failure. */
export class ServiceClient {
  /**
   * @param baseUrl origin of the service, with or without a path before /api
   * @param onWait is called before each wait for a rate limit, with its duration in s
   */
  constructor(
    private readonly baseUrl: string,
    private readonly onWait: (seconds: number) => void,
  ) {}

  /** @param path below the address of the service */
  url(path: string): string {
    return `${this.baseUrl.replace(/\/$/, '')}/${path}`;
  }

  /** @throws CodedError SERVICE_UNREACHABLE, or the failure that the service names */
  async bytes(path: string, request: ServiceRequest = {}): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.pieces(path, request)) pieces.push(piece);
    return new Uint8Array(Buffer.concat(pieces));
  }

  /**
   * The body as it arrives.
   * @throws CodedError as bytes()
   */
  async *pieces(path: string, request: ServiceRequest = {}): AsyncGenerator<Uint8Array, void, void> {
    const url = this.url(path);
    for (let waits = 0; ; waits++) {
      const { response, pieces } = await answered(url, request);
      if (response.ok) return yield* pieces;
      const body: Uint8Array[] = [];
      for await (const piece of pieces) body.push(piece);
      const waitS = Number(response.headers.get('retry-after') ?? NaN);
      if (response.status !== 429 || waits === MOST_WAITS || !(waitS >= 0 && waitS <= LONGEST_WAIT_S)) {
        throw errorOf(url, response.status, Buffer.concat(body));
      }
      this.onWait(waitS);
      await setTimeout(waitS * 1000, undefined, request.signal && { signal: request.signal });
    }
  }
}

/** @throws CodedError USAGE */
export function checkServiceUrl(url: string, command: { readonly name: string }): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
  throw usage(
    command,
    `--url should be an address such as http://localhost:8080, found ${describeValue(url)}`,
  );
}

/** @throws CodedError SERVICE_UNREACHABLE unless it is an object with these members, as this service sends */
export function parsedBody<T extends object>(
  path: string,
  body: Uint8Array,
  members: readonly (keyof T & string)[],
): T {
  const text = new TextDecoder().decode(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CodedError(
      'SERVICE_UNREACHABLE',
      `Expected JSON from the service, found ${describeValue(text)}.`,
    );
  }
  const missing = members.filter((member) => !Object.hasOwn(Object(value) as object, member));
  if (missing.length > 0) {
    throw new CodedError(
      'SERVICE_UNREACHABLE',
      `${path} should have answered with ${missing.join(', ')}, found ${describeValue(text)}.`,
    );
  }
  return value as T;
}

interface Answer {
  readonly response: Response;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** @throws CodedError SERVICE_UNREACHABLE, also while the body is read; the reason of the caller's signal */
async function answered(url: string, { signal, ...request }: ServiceRequest): Promise<Answer> {
  const silence = new AbortController();
  const timer = globalThis.setTimeout(
    () => silence.abort(new Error(`it was silent for ${SILENCE_MS / 1000} s`)),
    SILENCE_MS,
  );
  const failed = (error: unknown): unknown => {
    clearTimeout(timer);
    if (signal?.aborted === true) return signal.reason;
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return new CodedError('SERVICE_UNREACHABLE', `${url} does not answer: ${reason}.`);
  };
  let response: Response;
  try {
    const signals = signal === undefined ? [silence.signal] : [silence.signal, signal];
    response = await fetch(url, { ...request, signal: AbortSignal.any(signals) });
  } catch (error) {
    throw failed(error);
  }
  const pieces = async function* (): AsyncGenerator<Uint8Array, void, void> {
    try {
      for await (const piece of response.body ?? []) {
        timer.refresh();
        yield piece as Uint8Array;
      }
    } catch (error) {
      throw failed(error);
    } finally {
      clearTimeout(timer);
    }
  };
  return { response, pieces: pieces() };
}

/** The service's own message if there is one; the answer may come from a different service. */
function errorOf(url: string, status: number, body: Uint8Array): CodedError {
  let error: unknown;
  let code: unknown;
  let path: unknown;
  try {
    ({ error, code, path } = parsedBody<{ error: unknown; code?: unknown; path?: unknown }>(url, body, [
      'error',
    ]));
  } catch {
    // Not an answer of this service; the status is reported below.
  }
  if (typeof error !== 'string') {
    return new CodedError('SERVICE_UNREACHABLE', `${url} answered ${status}, but is not this service.`);
  }
  return new CodedError(codeOf(code), `${url}: ${error}`, typeof path === 'string' ? { path } : {});
}

/** A newer service may have codes that this command does not know. */
export function codeOf(code: unknown): ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code)
    ? (code as ErrorCode)
    : 'SERVICE_UNREACHABLE';
}
