import type { FastifyCorsOptions } from '@fastify/cors';

/** Headers, beyond the safelisted ones, that pages of other origins may read. */
const EXPOSED_HEADERS = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Server-Timing',
  'Cache-Status',
  'X-Backend',
  'X-Request-Id',
  'ETag',
  'Allow',
  'Location',
  'Preference-Applied',
  'Job-Status',
  'Link',
  'Spikes-Truncated',
];

/**
 * Every origin may call everything: there are no credentials to protect. Without a list of allowed headers, the
 * plugin allows those of the preflight, because tracing and generated clients add their own.
 */
export const CORS: FastifyCorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'],
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: 86_400,
  // An OPTIONS request without the headers of a preflight gets the same answer.
  strictPreflight: false,
};

/** CORS headers of answers that are written before a request object exists. */
export const RAW_CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
};

/**
 * Security headers that helmet advises, on every answer. Left out are those that break plain HTTP, which the TLS
 * proxy sets (upgrade-insecure-requests, HSTS), and those about which browsers complain there
 * (Cross-Origin-Opener-Policy, Origin-Agent-Cluster). Other origins may read the answers.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "img-src 'self' data: blob:",
    // For the worker of the page and for its inline styles.
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
  ].join(';'),
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  // For browsers that do not know frame-ancestors.
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};

/** Headers of a body; they do not fit the error that replaces it. */
export const HEADERS_OF_BODY = ['content-type', 'content-encoding', 'content-length', 'etag', 'link'];
