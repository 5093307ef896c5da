import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from '../errors.js';
import { ErrorResponse } from './error-response.dto.js';
import { COMMON_HEADERS, RETRY_AFTER_HEADER, type HeaderDescriptions } from './api-headers.js';

/** Messages as the service writes them; a test makes it write each. */
export const EXAMPLE_MESSAGES: Partial<Record<ErrorCode, string>> = {
  INVALID_PARAMETER: 'duration_ms must be one of 50, 100, 150, 200, got 75.',
  MALFORMED_REQUEST: 'The body is not valid JSON: "{\\"stimulus\\": loom}".',
  BODY_TOO_LARGE: 'The request body is larger than the 8192 bytes that are allowed.',
  REQUEST_TIMEOUT: 'The request did not arrive completely within the time allowed.',
  UNSUPPORTED_MEDIA_TYPE: 'Content-Type must be application/json in UTF-8, got "text/plain".',
  EXPECTATION_FAILED: 'Expect must be 100-continue or absent, got "202-accepted".',
  RATE_LIMITED: 'At most 30 runs a minute are allowed for each client; try again in 60 s.',
  HEADERS_TOO_LARGE: 'The request headers are larger than this server accepts.',
  INTERNAL: 'The service failed in an unexpected way; its log has the details.',
  MODEL_LOADING: 'The model is still being loaded; try again in a moment.',
  MODEL_FAILED: 'The model cannot be served at present; the service keeps trying to load it.',
  QUEUE_FULL: '64 runs are waiting, which is all that may; try again shortly.',
  DEADLINE_PASSED: 'The run did not finish within 30000 ms of its arrival; try again.',
  DRAINING: 'The service is shutting down; try again in a moment.',
  WORKER_LOST: 'The worker that computed this ended before it answered; try again.',
};

/** Documents the failures of an operation, from the table of errors. */
export function ApiFailures(codes: readonly ErrorCode[], headers: HeaderDescriptions = {}): MethodDecorator {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  const responses = statuses.map((status) => {
    const group = codes.filter((code) => ERRORS[code].status === status);
    return ApiResponse({
      status,
      description: group.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(' '),
      headers: {
        ...COMMON_HEADERS,
        ...headers,
        ...(status === 429 || status === 503 ? RETRY_AFTER_HEADER : {}),
      },
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(ErrorResponse) },
          examples: Object.fromEntries(
            group.map((code) => [code, { value: { error: EXAMPLE_MESSAGES[code], code } }]),
          ),
        },
      },
    });
  });
  return applyDecorators(ApiExtraModels(ErrorResponse), ...responses);
}
