import type { FastifyHelmetOptions } from '@fastify/helmet';

/**
 * Helmet's headers, without those that break a service on plain HTTP (upgrade-insecure-requests, HSTS: the
 * proxy that ends TLS sets them), those that browsers complain about there (Cross-Origin-Opener-Policy,
 * Origin-Agent-Cluster), and the one that would keep other origins from reading (Cross-Origin-Resource-Policy).
 */
export const SECURITY_HEADERS: FastifyHelmetOptions = {
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
