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
  /** In addition to FAILURES_OF_ANY_REQUEST. */
  readonly failures?: readonly PublicErrorCode[];
}

/** Errors that any request can cause, whatever its path. */
export const FAILURES_OF_ANY_REQUEST: readonly PublicErrorCode[] = [
  'MALFORMED_REQUEST',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
];

/** Documents a resource that rarely changes and supports If-None-Match. */
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
      description: 'ETags of bodies that the client already has; if one is current, the response is 304.',
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
      description: 'The client already has the current body; this response has no body.',
      headers: NOT_MODIFIED_HEADERS,
    }),
    ApiFailures([...FAILURES_OF_ANY_REQUEST, ...failures]),
  );
}
