import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';
import { ApiFailures } from './api-failures.js';
import type { PublicErrorCode } from './error-examples.js';
import { COMMON_HEADERS, VARY_HEADER, NOT_MODIFIED_HEADERS, REVALIDATION_HEADERS } from './api-headers.js';

export interface Description {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: object;
  /** Beside those that every request can meet. */
  readonly failures?: readonly PublicErrorCode[];
}

/** What the server itself refuses, whatever is asked for. */
export const FAILURES_OF_ANY_REQUEST: readonly PublicErrorCode[] = [
  'MALFORMED_REQUEST',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
];

/** Documents a resource that stays the same for long and is asked for with If-None-Match. */
export function ApiDescription({
  operationId,
  summary,
  description,
  schema,
  failures = [],
}: Description): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'ETags of bodies that the client has; where one is current, the answer is 304.',
      schema: { type: 'string' },
    }),
    ApiResponse({
      status: 200,
      description: 'The description.',
      headers: { ...COMMON_HEADERS, ...REVALIDATION_HEADERS, ...VARY_HEADER },
      content: { 'application/json': { schema } },
    } as ApiResponseOptions),
    ApiResponse({
      status: 304,
      description: 'The client has the current body already; this answer has none.',
      headers: NOT_MODIFIED_HEADERS,
    }),
    ApiFailures([...FAILURES_OF_ANY_REQUEST, ...failures]),
  );
}
