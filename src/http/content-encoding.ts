import Negotiator from 'negotiator';
import type { FastifyRequest } from 'fastify';

/** Whether the client accepts gzip at all, however it words it. */
export function acceptsGzip({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return (
    headers['accept-encoding'] !== undefined &&
    new Negotiator({ headers }).encodings(['gzip']).includes('gzip')
  );
}
