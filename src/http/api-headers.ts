import type { ApiResponseOptions } from '@nestjs/swagger';

/** What Cache-Status calls the cache of this service. */
export const CACHE_NAME = 'neural-experiment-service';

export type HeaderDescriptions = NonNullable<ApiResponseOptions['headers']>;

/** On every answer, whatever its status. */
export const COMMON_HEADERS: HeaderDescriptions = {
  'Access-Control-Allow-Origin': {
    description: 'Every origin may read every answer.',
    schema: { type: 'string', const: '*' } as object,
  },
  'X-Request-Id': {
    description:
      'Names the request in the log. It is the X-Request-Id that was sent if that has 1 to 64 letters, digits or ._:-, ' +
      'otherwise a new one.',
    schema: { type: 'string' },
  },
  Traceparent: {
    description:
      'There where a valid traceparent was sent (W3C Trace Context): the same trace, and the span of this request.',
    schema: { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' },
  },
};

export const NOT_STORED_HEADER: HeaderDescriptions = {
  'Cache-Control': { description: 'no-store.', schema: { type: 'string', const: 'no-store' } as object },
};

export const RETRY_AFTER_HEADER: HeaderDescriptions = {
  'Retry-After': {
    description: 'Seconds after which trying again makes sense.',
    schema: { type: 'integer', minimum: 1 },
  },
};

export const RATE_HEADERS: HeaderDescriptions = {
  'RateLimit-Limit': {
    description: 'Runs that a client may post in any 60 seconds.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Remaining': {
    description: 'Runs that this client may post at this moment.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': {
    description: 'Seconds until the oldest run that counts leaves the 60 seconds, so that one more may come.',
    schema: { type: 'integer', minimum: 1 },
  },
};

/**
 * Content-Encoding is left out on purpose. It belongs to the transfer and every HTTP library handles it; a mock server
 * that follows a description with it would claim gzip and send plain text.
 */
export const VARY_HEADER: HeaderDescriptions = {
  Vary: { description: 'The body is gzipped where the client accepts that.', schema: { type: 'string' } },
};

export const REVALIDATION_HEADERS: HeaderDescriptions = {
  ETag: {
    description: 'Names the bytes of the body; send it back in If-None-Match.',
    schema: { type: 'string' },
  },
  'Cache-Control': { description: 'no-cache: ask again, with If-None-Match.', schema: { type: 'string' } },
};

export const NOT_MODIFIED_HEADERS: HeaderDescriptions = {
  ...COMMON_HEADERS,
  ...REVALIDATION_HEADERS,
  ...VARY_HEADER,
};
