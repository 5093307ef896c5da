import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERRORS } from '../errors.js';
import { EXAMPLE_MESSAGES, type PublicErrorCode } from './error-examples.js';
import { ErrorResponse } from './error-response.dto.js';
import {
  COMMON_HEADERS,
  NOT_STORED_HEADER,
  RETRY_AFTER_HEADER,
  type HeaderDescriptions,
} from './api-headers.js';

/** Rejected before the run is counted, so these responses have no headers for the rate limit. */
const UNCOUNTED_STATUSES: readonly number[] = [
  ERRORS.REQUEST_TIMEOUT.status,
  ERRORS.BODY_TOO_LARGE.status,
  ERRORS.UNSUPPORTED_MEDIA_TYPE.status,
  ERRORS.EXPECTATION_FAILED.status,
  ERRORS.HEADERS_TOO_LARGE.status,
];

/** What an operation says of a failure where the table of errors and its example speak of runs. */
export interface FailureDescription {
  readonly meaning?: string;
  readonly example?: Readonly<Record<string, unknown>>;
}

/** Documents the failures of an operation, from the table of errors. */
export function ApiFailures(
  codes: readonly PublicErrorCode[],
  headers: HeaderDescriptions = {},
  descriptions: Partial<Record<PublicErrorCode, FailureDescription>> = {},
): MethodDecorator {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  const responses = statuses.map((status) => {
    const group = codes.filter((code) => ERRORS[code].status === status);
    return ApiResponse({
      status,
      description: group
        .map((code) => `\`${code}\`: ${descriptions[code]?.meaning ?? ERRORS[code].meaning}`)
        .join(' '),
      headers: {
        ...COMMON_HEADERS,
        ...NOT_STORED_HEADER,
        ...(UNCOUNTED_STATUSES.includes(status) ? {} : headers),
        ...(status === 429 || status === 503 ? RETRY_AFTER_HEADER : {}),
      },
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(ErrorResponse) },
          examples: Object.fromEntries(
            group.map((code) => [
              code,
              { value: { error: EXAMPLE_MESSAGES[code], code, ...descriptions[code]?.example } },
            ]),
          ),
        },
      },
    });
  });
  return applyDecorators(ApiExtraModels(ErrorResponse), ...responses);
}
