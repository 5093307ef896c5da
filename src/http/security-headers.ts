import type { FastifyHelmetOptions } from '@fastify/helmet';

/**
 * Helmet's headers, without those that break a service on plain HTTP (upgrade-insecure-requests, HSTS: the
 * proxy that ends TLS sets them) or one that every origin may read (Cross-Origin-Resource-Policy).
 */
export const SECURITY_HEADERS: FastifyHelmetOptions = {
  strictTransportSecurity: false,
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
