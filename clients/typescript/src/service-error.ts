import type { components as ComponentsOfV1 } from './api.js';
import type { components as ComponentsOfV2 } from './api-v2.js';

type ErrorBody = ComponentsOfV1['schemas']['ErrorResponse'] | ComponentsOfV2['schemas']['ErrorResponse'];

const MAX_QUOTED = 60;
/** Statuses that the service itself never sends. */
const GATEWAY_STATUSES: readonly number[] = [502, 504];
/** Form of the service's codes, also of later ones. Codes of gateways are mostly numbers or mixed-case words. */
const CODE = /^[A-Z][A-Z0-9_]*$/;

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
  /** Undefined if something other than the service answered, such as a proxy. */
  readonly code: ErrorCode | undefined;
  /** Seconds after which to try again, if the answer has them. */
  readonly retryAfterS: number | undefined;
  /**
   * JSON Pointer to the error in the document of an open experiment; empty for the whole document and for options.
   * Undefined if the error is elsewhere.
   */
  readonly path: string | undefined;
  /** Similar allowed values, the most similar first. */
  readonly suggestions: readonly string[];

  /**
   * @param status of the HTTP response; undefined if an experiment failed after its answer had begun
   * @param message sentence of the service with the field, its value and the allowed values
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

  /** True if the same request may succeed later (status 429 or 503). */
  get isTemporary(): boolean {
    return this.status === 429 || this.status === 503;
  }

  /** True if a proxy could not reach the service. */
  get isOfGateway(): boolean {
    return this.code === undefined && this.status !== undefined && this.status >= 500;
  }
}

/** Error for an answer that is not from the service. */
export function notOfService(
  status: number | undefined,
  path: string,
  expected: string,
  found: string,
): ServiceError {
  return new ServiceError(status, `${path} should have answered with ${expected}, found ${quoted(found)}.`);
}

/** Text for an error message: shortened, and without control characters, which would affect a terminal. */
export function quoted(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return JSON.stringify(cut).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

export async function errorOf(response: Response): Promise<ServiceError> {
  const retryAfter = response.headers.get('Retry-After');
  const { code, ...others } = errorBody(await response.text());
  const body = GATEWAY_STATUSES.includes(response.status) ? others : { ...others, ...(code && { code }) };
  return new ServiceError(
    response.status,
    body.error ?? `The service answered ${response.status} ${response.statusText}`.trim(),
    {
      ...body,
      retryAfterS: retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    },
  );
}

/** Without a code if the answer is not from the service; proxies send HTML, or JSON of other forms. */
function errorBody(text: string): Partial<ComponentsOfV2['schemas']['ErrorResponse']> {
  try {
    const body = JSON.parse(text) as Partial<ComponentsOfV2['schemas']['ErrorResponse']> | null;
    if (typeof body?.error !== 'string') return {};
    return CODE.test(String(body.code)) ? body : { error: body.error };
  } catch {
    return {};
  }
}
