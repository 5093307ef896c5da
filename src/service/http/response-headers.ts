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
  'Link',
  'Spikes-Truncated',
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

/**
 * Headers that helmet advises, on every answer, without those that break a service on plain HTTP
 * (upgrade-insecure-requests, HSTS: the proxy that ends TLS sets them), those that browsers complain about there
 * (Cross-Origin-Opener-Policy, Origin-Agent-Cluster), and with reading by other origins.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "img-src 'self' data: blob:",
    // The page's worker and its styles in attributes.
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
  ].join(';'),
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  // As frame-ancestors above, for browsers that do not know that.
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};
