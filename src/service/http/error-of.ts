import { HttpException } from '@nestjs/common';
import { CodedError, describeValue, ERRORS, type ErrorCode } from '../../engine/errors.js';
import { BODY_LIMIT_BYTES } from '../limits/limits.js';

/** Codes of Fastify and Node for requests that fail before our code runs, with our code and message. */
const KNOWN_CODES: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'MALFORMED_REQUEST',
    'The length of the body differs from Content-Length.',
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'Content-Type is not valid; send application/json.',
  ],
  FST_ERR_BAD_URL: ['MALFORMED_REQUEST', 'The path cannot be decoded.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'There is nothing at this path, which is too long.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are larger than this server accepts.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', ERRORS.REQUEST_TIMEOUT.meaning],
  ECONNRESET: ['MALFORMED_REQUEST', 'The connection closed before the request was complete.'],
};

const TOO_LARGE_CODE = 'FST_ERR_CTP_BODY_TOO_LARGE';

/**
 * Turns a thrown value into a coded error; undefined if it is a bug.
 * @param bodyLimitBytes the route's limit, if the request has reached a route
 */
export function expectedErrorOf(thrown: unknown, bodyLimitBytes = BODY_LIMIT_BYTES): CodedError | undefined {
  // A bug in a worker has the code INTERNAL, and its message is for the log.
  if (thrown instanceof CodedError) return thrown.code === 'INTERNAL' ? undefined : thrown;
  const code = (thrown as { code?: unknown } | null)?.code;
  if (code === TOO_LARGE_CODE) return bodyTooLarge(bodyLimitBytes, thrown);
  if (typeof code === 'string' && Object.hasOwn(KNOWN_CODES, code)) return known(code, thrown);
  if (typeof code === 'string' && code.startsWith('HPE_')) {
    const reason = (thrown as { reason?: string }).reason ?? code;
    return new CodedError('MALFORMED_REQUEST', `This is not valid HTTP: ${reason}.`, { cause: thrown });
  }
  if (thrown instanceof HttpException) return fromNest(thrown, bodyLimitBytes);
  return undefined;
}

/** Nest keeps only the status of Fastify's errors. */
function fromNest(thrown: HttpException, bodyLimitBytes: number): CodedError | undefined {
  const cause = { cause: thrown };
  switch (thrown.getStatus()) {
    case 400: {
      const message = `The request is not valid: ${describeValue(thrown.message)}.`;
      return new CodedError('MALFORMED_REQUEST', message, cause);
    }
    case 404:
      return new CodedError('NOT_FOUND', 'There is nothing at this path.', cause);
    case 413:
      return bodyTooLarge(bodyLimitBytes, thrown);
    case 415:
      return known('FST_ERR_CTP_INVALID_MEDIA_TYPE', thrown);
    default:
      return undefined;
  }
}

/** @param limitBytes the route's limit */
export function bodyTooLargeMessage(limitBytes: number): string {
  return `The request body is larger than ${limitBytes} bytes, the maximum.`;
}

function bodyTooLarge(limitBytes: number, cause: unknown): CodedError {
  return new CodedError('BODY_TOO_LARGE', bodyTooLargeMessage(limitBytes), { cause });
}

function known(name: keyof typeof KNOWN_CODES, cause: unknown): CodedError {
  const [code, message] = KNOWN_CODES[name]!;
  return new CodedError(code, message, { cause });
}

/** The response to a bug, which must not reveal internals. */
export function internalError(cause: unknown): CodedError {
  return new CodedError('INTERNAL', ERRORS.INTERNAL.meaning, { cause });
}
