import type { components as ComponentsOfV1 } from './api.js';
import type { components as ComponentsOfV2 } from './api-v2.js';

type ErrorBody = ComponentsOfV1['schemas']['ErrorResponse'] | ComponentsOfV2['schemas']['ErrorResponse'];

const MOST_QUOTED = 60;

/** Code of the error, in one word. */
export type ErrorCode = ErrorBody['code'];

interface ErrorDetails {
  readonly code?: ErrorCode | undefined;
  readonly retryAfterS?: number | undefined;
  readonly path?: string | undefined;
  readonly suggestions?: readonly string[] | undefined;
}

/** Refusal or failure with which the service answered a request. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** Undefined where something other than the service answered, such as a proxy. */
  readonly code: ErrorCode | undefined;
  /** Seconds after which to try again, where the answer says so. */
  readonly retryAfterS: number | undefined;
  /**
   * JSON Pointer to the fault in the document of an open experiment, empty for the whole document and for options.
   * Undefined if the fault is elsewhere.
   */
  readonly path: string | undefined;
  /** Values that may have been meant, nearest first. */
  readonly suggestions: readonly string[];

  /**
   * @param status of the HTTP answer; undefined where an experiment failed after its answer had begun
   * @param message the service's own sentence: the field, what it got, what is allowed
   */
  constructor(
    readonly status: number | undefined,
    message: string,
    { code, retryAfterS, path, suggestions = [] }: ErrorDetails = {},
  ) {
    super(message);
    this.code = code;
    this.retryAfterS = retryAfterS;
    this.path = path;
    this.suggestions = suggestions;
  }

  /** True where the same request may succeed later: the rate limit, or whatever else has the status 429 or 503. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status === 503;
  }

  /** True where a proxy says that it does not reach the service. */
  get isOfGateway(): boolean {
    return this.code === undefined && this.status !== undefined && this.status >= 500;
  }
}

/** Error for an answer that is not of the form that the service sends. */
export function notOfService(
  status: number | undefined,
  path: string,
  expected: string,
  found: string,
): ServiceError {
  return new ServiceError(status, `${path} should have answered with ${expected}, found ${quoted(found)}.`);
}

/** Text for an error message: cut where it is long, and without characters that would act on a terminal. */
export function quoted(text: string): string {
  const cut = text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
  return JSON.stringify(cut).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

export async function errorOf(response: Response): Promise<ServiceError> {
  const retryAfter = response.headers.get('Retry-After');
  const body = errorBody(await response.text());
  return new ServiceError(
    response.status,
    body.error ?? `The service answered ${response.status} ${response.statusText}`.trim(),
    {
      ...body,
      retryAfterS: retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    },
  );
}

/** Empty where the answer is not the service's: a proxy in between speaks HTML. */
function errorBody(text: string): Partial<ComponentsOfV2['schemas']['ErrorResponse']> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
