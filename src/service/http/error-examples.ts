import { ERRORS, type ErrorCode } from '../../engine/errors.js';
import { bodyTooLargeMessage } from './error-of.js';
import { BODY_LIMIT_BYTES } from '../limits/limits.js';

/** The errors that an HTTP client can receive, each with an example message. */
export const EXAMPLE_MESSAGES = {
  INVALID_PARAMETER: 'duration_ms must be one of 50, 100, 150, 200, got 75.',
  STIMULUS_UNAVAILABLE:
    'stimulus must be none for the loaded connectome, got "sugar": it was compiled without cell types, so it defines no stimuli.',
  UNKNOWN_NEURONS: 'The model lacks "LC44x" (near: LC44, LC14b, LC24, LC34, LC4).',
  EMPTY_NODE_SET:
    'The selector at /silence/0 must select at least one neuron, got none with {"type":"DNp01","side":"center"}.',
  NO_CONNECTION:
    'connection_overrides.direct must have a connection from one of its 104 source neurons to one of its 4 target neurons, found none.',
  NO_SIGN_PROBABILITIES:
    'wiring.signs needs the probabilities of transmitters, which FlyWire FAFB 783, synthetic wiring lacks. A model that ' +
    'is compiled with --sign-probabilities has them, if its tables do.',
  MALFORMED_REQUEST:
    'The body is not valid JSON: "{\\"stimulus\\": loom}"; the fault is in line 1, column 14.',
  NOT_FOUND: 'There is nothing at "/api/v2/run".',
  SESSION_ENDED:
    'There is no such session: it has ended, or another replica has it. To go on, send its document to POST ' +
    '/api/v2/sessions: with its duration_ms the new session begins where that one was.',
  METHOD_NOT_ALLOWED: 'The method at "/api/v1/run" must be one of OPTIONS, POST, got "GET".',
  NOT_ACCEPTABLE:
    'Accept must allow application/json, application/x-ndjson, text/csv, application/vnd.apache.arrow.stream, ' +
    'application/vnd.apache.parquet or image/svg+xml, got "image/png".',
  STEP_OUT_OF_ORDER: 't_ms must be 60, where the session is, got 40.',
  BODY_TOO_LARGE: bodyTooLargeMessage(BODY_LIMIT_BYTES),
  REQUEST_TIMEOUT: ERRORS.REQUEST_TIMEOUT.meaning,
  UNSUPPORTED_MEDIA_TYPE: 'Content-Type must be application/json in UTF-8, got "text/plain".',
  EXPECTATION_FAILED: 'Expect must be 100-continue or absent, got "202-accepted".',
  TOO_EXPENSIVE:
    'The experiment has 1500 brain seconds (3 conditions x 100 trials); at most 600 are allowed. With 40 trials it would fit. ' +
    'As a job (Prefer: respond-async) it fits as it is.',
  IDEMPOTENCY_KEY_REUSED:
    'Idempotency-Key must be a new one for each experiment; with this one the experiment ' +
    '0f343b0931126a20f133d67c2b018a3b was begun.',
  SESSION_FULL:
    'After this step the document of the session would last longer than 600000 ms. The session stays where it is; its ' +
    'document can be read.',
  RATE_LIMITED: 'At most 30 runs a minute are allowed for each client; try again in 60 s.',
  HEADERS_TOO_LARGE: 'The request headers are larger than this server accepts.',
  INTERNAL: ERRORS.INTERNAL.meaning,
  MODEL_LOADING: 'The model is still being loaded; try again in a moment.',
  MODEL_FAILED:
    'The model cannot be served at present (CONNECTOME_MISSING). The connectome file does not exist or cannot be ' +
    'read. The service keeps trying.',
  QUEUE_FULL: 'The queue is full: 64 runs are waiting; try again shortly.',
  JOBS_UNAVAILABLE: 'Jobs cannot be reached at present; try again in a moment.',
  DEADLINE_PASSED: 'The run did not finish within 30000 ms of its arrival; try again.',
  DRAINING: 'The service is shutting down; try again in a moment.',
  WORKER_LOST: 'The worker that computed this ended before it answered; try again.',
} as const satisfies Partial<Record<ErrorCode, string>>;

export type PublicErrorCode = keyof typeof EXAMPLE_MESSAGES;
export const PUBLIC_ERROR_CODES = Object.keys(EXAMPLE_MESSAGES) as PublicErrorCode[];

/** Errors that version 1 does not have and will never get: its answers keep their shape. */
const SINCE_VERSION_2: readonly PublicErrorCode[] = [
  'UNKNOWN_NEURONS',
  'EMPTY_NODE_SET',
  'NO_CONNECTION',
  'NO_SIGN_PROBABILITIES',
  'NOT_ACCEPTABLE',
  'TOO_EXPENSIVE',
  'IDEMPOTENCY_KEY_REUSED',
  'JOBS_UNAVAILABLE',
  'SESSION_ENDED',
  'STEP_OUT_OF_ORDER',
  'SESSION_FULL',
];
export const ERROR_CODES_OF_V1 = PUBLIC_ERROR_CODES.filter((code) => !SINCE_VERSION_2.includes(code));
