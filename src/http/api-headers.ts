import type { ApiResponseOptions } from '@nestjs/swagger';

/** Name of this cache in the header Cache-Status. */
export const CACHE_NAME = 'neural-experiment-service';

export type HeaderDescriptions = NonNullable<ApiResponseOptions['headers']>;

/** On every response, whatever its status. */
export const COMMON_HEADERS: HeaderDescriptions = {
  'Access-Control-Allow-Origin': {
    description: 'Pages of any origin may read the response.',
    schema: { type: 'string', const: '*' } as object,
  },
  'X-Request-Id': {
    description:
      'Identifies the request in the log: the X-Request-Id of the request if it has 1 to 64 letters, digits or ._:-, ' +
      'otherwise a new one.',
    schema: { type: 'string' },
  },
  Traceparent: {
    description:
      'Present if the request has a valid traceparent (W3C Trace Context): the same trace, with the span of this request.',
    schema: { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' },
  },
};

export const NOT_STORED_HEADER: HeaderDescriptions = {
  'Cache-Control': { description: 'no-store.', schema: { type: 'string', const: 'no-store' } as object },
};

export const RETRY_AFTER_HEADER: HeaderDescriptions = {
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
  },
};

export const RATE_HEADERS: HeaderDescriptions = {
  'RateLimit-Limit': {
    description: 'Runs that a client may send in any 60 seconds.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Remaining': {
    description: 'Runs that this client may still send now.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': {
    description: 'Seconds until the oldest counted run is 60 seconds old, so that one more run is allowed.',
    schema: { type: 'integer', minimum: 1 },
  },
};

/**
 * Content-Encoding is omitted on purpose. HTTP libraries handle it themselves, and a mock server that follows a
 * description with this header would announce gzip and send plain text.
 */
export const VARY_HEADER: HeaderDescriptions = {
  Vary: {
    description: 'The body is compressed with gzip if the client accepts it.',
    schema: { type: 'string' },
  },
};

export const REVALIDATION_HEADERS: HeaderDescriptions = {
  ETag: {
    description: 'Identifies the bytes of the body; send it in If-None-Match.',
    schema: { type: 'string' },
  },
  'Cache-Control': {
    description: 'no-cache: revalidate with If-None-Match before using a stored copy.',
    schema: { type: 'string' },
  },
};

export const NOT_MODIFIED_HEADERS: HeaderDescriptions = {
  ...COMMON_HEADERS,
  ...REVALIDATION_HEADERS,
  ...VARY_HEADER,
};
