import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyCorsOptions } from '@fastify/cors';
import helmet, { type HelmetOptions } from 'helmet';

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
 * Helmet's headers, without those that break a service on plain HTTP (upgrade-insecure-requests, HSTS: the
 * proxy that ends TLS sets them), those that browsers complain about there (Cross-Origin-Opener-Policy,
 * Origin-Agent-Cluster), and the one that would keep other origins from reading (Cross-Origin-Resource-Policy).
 */
const OPTIONS: HelmetOptions = {
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  // As frame-ancestors below, for browsers that do not know that.
  frameguard: { action: 'deny' },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      objectSrc: ["'none'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      // The page's worker and its styles in attributes.
      workerSrc: ["'self'", 'blob:'],
      styleSrc: ["'self'", "'unsafe-inline'"],
    },
  },
};

/**
 * They are the same on every answer, so helmet is asked once. Its plugin for Fastify asks it for each request, which
 * takes a twelfth of the time of an answer from the cache.
 */
export const SECURITY_HEADERS = headersOf(OPTIONS);

function headersOf(options: HelmetOptions): Readonly<Record<string, string>> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}
