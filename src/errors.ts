/**
 * Every expected failure of the service and its commands, in one table. Any other exception is a bug: it ends the
 * current task with INTERNAL, never the process.
 *
 * `status` is the HTTP status, `exitCode` the exit code of a command, `meaning` the text in docs/errors.md and
 * OpenAPI. The code that raises an error writes its message, which names the field or file, the value found and what
 * is allowed.
 */
export const ERRORS = {
  INVALID_PARAMETER: {
    status: 400,
    exitCode: 2,
    meaning: 'A field, a query parameter or the body is not valid.',
  },
  STIMULUS_UNAVAILABLE: {
    status: 400,
    exitCode: 2,
    meaning: 'The loaded connectome does not define this stimulus.',
  },
  UNKNOWN_NEURONS: {
    status: 400,
    exitCode: 2,
    meaning: 'The model lacks cell types or root ids that the experiment names.',
  },
  EMPTY_NODE_SET: {
    status: 400,
    exitCode: 2,
    meaning: 'A selector of the experiment selects no neuron.',
  },
  MALFORMED_REQUEST: {
    status: 400,
    exitCode: 2,
    meaning: 'The request is not valid HTTP, or its body is not valid JSON.',
  },
  NOT_FOUND: { status: 404, exitCode: 2, meaning: 'There is no resource at this path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    exitCode: 2,
    meaning: 'The path does not support this method; the header Allow lists those it supports.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    exitCode: 2,
    meaning: 'Accept names no format in which the answer can be given.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    exitCode: 1,
    meaning: 'The request did not arrive completely within the time allowed.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    exitCode: 2,
    meaning: 'The request body is larger than 8 KiB, or the document of an open experiment than 256 KiB.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, exitCode: 2, meaning: 'The body is not JSON, or it is compressed.' },
  EXPECTATION_FAILED: {
    status: 417,
    exitCode: 2,
    meaning: 'The Expect header asks for something other than 100-continue.',
  },
  TOO_EXPENSIVE: {
    status: 422,
    exitCode: 2,
    meaning: 'The experiment needs more brain seconds or events than one request may have.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    exitCode: 2,
    meaning: 'The client has begun another experiment with the same Idempotency-Key.',
  },
  RATE_LIMITED: {
    status: 429,
    exitCode: 1,
    meaning: 'The client sent more runs within a minute than it may; Retry-After says when to try again.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    exitCode: 2,
    meaning: 'The request headers are larger than the server accepts.',
  },
  INTERNAL: {
    status: 500,
    exitCode: 1,
    meaning: 'An unexpected error occurred in the service; its log has the details.',
  },
  MODEL_LOADING: {
    status: 503,
    exitCode: 1,
    meaning: 'The connectome is still being loaded or the workers are starting.',
  },
  MODEL_FAILED: { status: 503, exitCode: 1, meaning: 'The model cannot be served at present.' },
  QUEUE_FULL: {
    status: 503,
    exitCode: 1,
    meaning: 'Too many runs are waiting, of all clients or of this one.',
  },
  JOBS_UNAVAILABLE: {
    status: 503,
    exitCode: 1,
    meaning: 'The store of jobs cannot be reached, or is full.',
  },
  DEADLINE_PASSED: { status: 503, exitCode: 1, meaning: 'The run did not finish within the time allowed.' },
  DRAINING: { status: 503, exitCode: 1, meaning: 'The service is shutting down and accepts no new runs.' },
  RUN_CANCELLED: {
    status: 503,
    exitCode: 1,
    meaning: 'Every client waiting for the run has disconnected.',
  },
  WORKER_LOST: {
    status: 503,
    exitCode: 1,
    meaning: 'The worker computing the run exited before it finished.',
  },
  GPU_UNAVAILABLE: {
    status: 503,
    exitCode: 1,
    meaning: 'The service found no usable GPU, or the connectome does not fit on it.',
  },
  GPU_FAILED: {
    status: 503,
    exitCode: 1,
    meaning: 'The GPU was lost or rejected work; the CPU repeats the runs assigned to it.',
  },
  CONNECTOME_MISSING: {
    status: 503,
    exitCode: 1,
    meaning: 'The connectome file does not exist or cannot be read.',
  },
  CONNECTOME_INVALID: {
    status: 503,
    exitCode: 1,
    meaning: 'The connectome file is damaged, or its format or version is not supported.',
  },
  CONFIG_INVALID: {
    status: 500,
    exitCode: 2,
    meaning: 'An environment variable has an invalid value.',
  },
  USAGE: { status: 500, exitCode: 2, meaning: 'A command was called with invalid arguments.' },
  TABLE_INVALID: {
    status: 500,
    exitCode: 1,
    meaning: 'An input table does not have the expected format or content.',
  },
  POPULATIONS_INVALID: {
    status: 500,
    exitCode: 1,
    meaning: 'The populations file is malformed or one of its selectors matches no neuron.',
  },
  STATISTICS_INVALID: {
    status: 500,
    exitCode: 1,
    meaning: 'The cell-type statistics are incomplete or damaged.',
  },
  DOWNLOAD_FAILED: {
    status: 500,
    exitCode: 1,
    meaning: 'A table could not be downloaded, or the download is not the expected file.',
  },
  SERVICE_UNREACHABLE: {
    status: 500,
    exitCode: 1,
    meaning: 'The service at the given URL does not respond, or is not a Neural Experiment Service.',
  },
  GOLDEN_INVALID: {
    status: 500,
    exitCode: 1,
    meaning: 'A golden file cannot be read, has no spikes or does not match the connectome.',
  },
} as const satisfies Record<string, { status: number; exitCode: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** What is left of an error after it crossed a thread or process boundary. */
export interface Failure extends FaultPlace {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Where the fault is in the document of an open experiment, for programs and editors. */
export interface FaultPlace {
  /** JSON Pointer into the document; empty for the document as a whole. */
  readonly path?: string;
  /** Values that may have been meant, nearest first. */
  readonly suggestions?: readonly string[];
}

export interface CodedErrorOptions extends ErrorOptions, FaultPlace {
  /** After how many seconds trying again makes sense, where somebody knows. */
  readonly retryAfterS?: number;
}

/** An expected failure. Anything else that is thrown counts as INTERNAL. */
export class CodedError extends Error {
  override readonly name = 'CodedError';
  readonly retryAfterS: number | undefined;
  readonly path: string | undefined;
  readonly suggestions: readonly string[] | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: CodedErrorOptions = {},
  ) {
    super(message, options);
    this.retryAfterS = options.retryAfterS;
    this.path = options.path;
    this.suggestions = options.suggestions;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get exitCode(): number {
    return ERRORS[this.code].exitCode;
  }

  static fromFailure({ code, message, ...place }: Failure): CodedError {
    return new CodedError(code, message, place);
  }
}

/** @param what of which there is too much */
export function queueFull(what: string, retryAfterS?: number): CodedError {
  return new CodedError(
    'QUEUE_FULL',
    `The queue is full: ${what}; try again shortly.`,
    retryAfterS === undefined ? {} : { retryAfterS },
  );
}

/** Structured clone strips an error of its code, so what crosses a thread or a process is plain data. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CodedError)
    return { code: error.code, message: error.message, ...faultPlaceOf(error) };
  return {
    code: 'INTERNAL',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** Only the members that are set: neither JSON nor a comparison should see the others. */
export function faultPlaceOf({ path, suggestions }: CodedError): FaultPlace {
  return { ...(path !== undefined && { path }), ...(suggestions !== undefined && { suggestions }) };
}

/** Characters that act on a terminal, a log or a page instead of being seen: controls, directions, separators. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A received value as messages show it: as JSON, on one line, truncated to a readable length. */
export function describeValue(value: unknown, maximumLength = 60): string {
  let text: string;
  try {
    // JSON.stringify writes null for infinities and NaN.
    text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  } catch {
    // Nested so deeply that it cannot be written, or a number that JSON does not have.
    text = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : String(value);
  }
  text = text.replace(ACTING, escaped);
  const characters = [...text];
  return characters.length > maximumLength ? `${characters.slice(0, maximumLength).join('')}…` : text;
}

/** In the \u notation of JSON. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** The message for operators: it includes the last output of a process that ended. */
export function messageWithCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return typeof error.cause === 'string' ? `${error.message} ${error.cause}`.trim() : error.message;
}
