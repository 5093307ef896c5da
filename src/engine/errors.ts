interface ErrorKind {
  /** The HTTP status of an answer. */
  readonly status: number;
  /** The exit code of a command. */
  readonly exitCode: number;
  /** The text in docs/errors.md and OpenAPI. */
  readonly meaning: string;
}

/** A refusal: the client must change the request. */
function refused(status: number, meaning: string): ErrorKind {
  return { status, exitCode: 2, meaning };
}

/** A failure: the same request may succeed later or elsewhere. */
function failed(status: number, meaning: string): ErrorKind {
  return { status, exitCode: 1, meaning };
}

/**
 * All expected failures of the service and its commands. Any other exception is a bug: it ends the current task with
 * INTERNAL, and never the process. The code that raises an error writes its message, which names the field or file, the
 * value found and the allowed values.
 */
export const ERRORS = {
  INVALID_PARAMETER: refused(400, 'A field, a query parameter or the body is not valid.'),
  STIMULUS_UNAVAILABLE: refused(400, 'The loaded connectome does not define this stimulus.'),
  UNKNOWN_NEURONS: refused(400, 'The model lacks cell types or root ids that the experiment names.'),
  EMPTY_NODE_SET: refused(400, 'A selector of the experiment selects no neuron.'),
  NO_CONNECTION: refused(400, 'An override of the experiment has no connection.'),
  NO_SIGN_PROBABILITIES: refused(400, 'The model lacks the probabilities from which signs are sampled.'),
  MALFORMED_REQUEST: refused(400, 'The request is not valid HTTP, or its body is not valid JSON.'),
  NOT_FOUND: refused(404, 'There is no resource at this path.'),
  SESSION_ENDED: refused(404, 'There is no such session: it has ended, or another replica has it.'),
  METHOD_NOT_ALLOWED: refused(
    405,
    'The path does not support this method; the header Allow lists those it supports.',
  ),
  NOT_ACCEPTABLE: refused(406, 'Accept names no format in which the answer can be given.'),
  REQUEST_TIMEOUT: failed(408, 'The request did not arrive completely within the time allowed.'),
  STEP_OUT_OF_ORDER: refused(409, 'The step does not begin where the session is.'),
  BODY_TOO_LARGE: refused(
    413,
    'The request body is larger than 8 KiB, or the document of an open experiment than 1 MiB.',
  ),
  UNSUPPORTED_MEDIA_TYPE: refused(415, 'The body is not JSON, or it is compressed.'),
  EXPECTATION_FAILED: refused(417, 'The Expect header asks for something other than 100-continue.'),
  TOO_EXPENSIVE: refused(422, 'The experiment needs more brain seconds or events than one request may have.'),
  IDEMPOTENCY_KEY_REUSED: refused(
    422,
    'The client has begun another experiment with the same Idempotency-Key.',
  ),
  SESSION_FULL: refused(
    422,
    'The session cannot go on: its document would exceed a limit, or its activity did.',
  ),
  RATE_LIMITED: failed(
    429,
    'The client sent more runs or experiments within a minute than it may; Retry-After says when to try again.',
  ),
  HEADERS_TOO_LARGE: refused(431, 'The request headers are larger than the server accepts.'),
  INTERNAL: failed(500, 'An unexpected error occurred in the service; its log has the details.'),
  MODEL_LOADING: failed(503, 'The connectome is still being loaded or the workers are starting.'),
  MODEL_FAILED: failed(503, 'The model cannot be served at present.'),
  QUEUE_FULL: failed(503, 'Too many runs are waiting, of all clients or of this one.'),
  JOBS_UNAVAILABLE: failed(503, 'The store of jobs cannot be reached, or is full.'),
  DEADLINE_PASSED: failed(503, 'The run did not finish within the time allowed.'),
  DRAINING: failed(503, 'The service is shutting down and accepts no new runs.'),
  RUN_CANCELLED: failed(503, 'Every client waiting for the run has disconnected.'),
  WORKER_LOST: failed(503, 'The worker computing the run exited before it finished.'),
  GPU_UNAVAILABLE: failed(503, 'The service found no usable GPU, or the connectome does not fit on it.'),
  GPU_FAILED: failed(503, 'The GPU was lost or rejected work; the CPU repeats the runs assigned to it.'),
  CONNECTOME_MISSING: failed(503, 'The connectome file does not exist or cannot be read.'),
  CONNECTOME_INVALID: failed(
    503,
    'The connectome file is damaged, or its format or version is not supported.',
  ),
  CONFIG_INVALID: refused(500, 'An environment variable has an invalid value.'),
  USAGE: refused(500, 'A command was called with invalid arguments.'),
  TABLE_INVALID: failed(500, 'An input table does not have the expected format or content.'),
  POPULATIONS_INVALID: failed(
    500,
    'The populations file is malformed or one of its selectors matches no neuron.',
  ),
  STATISTICS_INVALID: failed(500, 'The cell-type statistics are incomplete or damaged.'),
  DOWNLOAD_FAILED: failed(500, 'A table could not be downloaded, or the download is not the expected file.'),
  SERVICE_UNREACHABLE: failed(
    500,
    'The service at the given URL does not respond, or is not a Neural Experiment Service.',
  ),
  GOLDEN_INVALID: failed(
    500,
    'A golden file cannot be read, has no spikes or does not match the connectome.',
  ),
};

export type ErrorCode = keyof typeof ERRORS;

/** An error as plain data, to cross the boundary of a thread or process. */
export interface Failure extends FaultPosition {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The position of a fault in the document of an experiment, for programs and editors. */
export interface FaultPosition {
  /** A JSON Pointer into the document; empty for the whole document. */
  readonly path?: string;
  /** The values that may have been meant, nearest first. */
  readonly suggestions?: readonly string[];
}

export interface CodedErrorOptions extends ErrorOptions, FaultPosition {
  /** The number of seconds after which to try again, if known. */
  readonly retryAfterS?: number | undefined;
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

/** @param what a phrase that names the full queue and its limit */
export function queueFull(what: string, retryAfterS?: number): CodedError {
  return new CodedError('QUEUE_FULL', `The queue is full: ${what}; try again shortly.`, { retryAfterS });
}

export function notFound(message: string): CodedError {
  return new CodedError('NOT_FOUND', message);
}

/** Converts an error to plain data, because structured clone would drop its code. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CodedError)
    return { code: error.code, message: error.message, ...faultPositionOf(error) };
  return {
    code: 'INTERNAL',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** @returns only the members that are set, so that neither JSON nor comparisons see the others */
export function faultPositionOf({ path, suggestions }: CodedError): FaultPosition {
  return { ...(path !== undefined && { path }), ...(suggestions !== undefined && { suggestions }) };
}

/** Characters that control a terminal, a log or a page: control codes, text directions, separators. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Formats a received value for a message: JSON on one line, truncated to a readable length. */
export function describeValue(value: unknown, maxLength = 60): string {
  let text: string;
  try {
    // JSON.stringify writes null for infinities and NaN.
    text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  } catch {
    // JSON.stringify fails if the value is nested too deeply, or is a BigInt.
    text = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : String(value);
  }
  text = text.replace(ACTING, escaped);
  const characters = [...text];
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : text;
}

/** Writes a character in JSON's \u notation, which has one escape for each UTF-16 unit. */
function escaped(character: string): string {
  const units = character.split('');
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

/** The message for operators. It includes the last output of a process that ended. */
export function messageWithCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return typeof error.cause === 'string' ? `${error.message} ${error.cause}`.trim() : error.message;
}

/** The body of every error response, with `path` and `suggestions` if they are known. */
export type ErrorBody = ReturnType<typeof errorBody>;

export function errorBody(error: CodedError) {
  return { error: error.message, code: error.code, ...faultPositionOf(error) };
}
