import type { FastifyCorsOptions } from '@fastify/cors';

/** Headers beyond the plain ones that a page of another origin may read. */
const EXPOSED_HEADERS = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Server-Timing',
  'Cache-Status',
  'X-Backend',
  'X-Request-Id',
  'Traceparent',
  'ETag',
  'Allow',
  'Location',
  'Preference-Applied',
  'Job-Status',
];

/**
 * Every origin may call everything: there are no credentials, so there is nothing to protect from a page. Without a list
 * of allowed headers the plugin allows those that a preflight asks for: tracing and generated clients add their own.
 */
export const CORS: FastifyCorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'],
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: 86_400,
  // A plain OPTIONS, without the headers of a preflight, gets the same answer.
  strictPreflight: false,
};

/** The same for answers that are written before a request exists that a plugin could see. */
export const RAW_CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
};
