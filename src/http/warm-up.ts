import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * Whether the service sent this request itself, to be warm before anybody else asks (run/warm-up.ts). Such a
 * request comes over no socket, so nobody else can send one. It is not counted, limited, logged or remembered.
 */
export function isWarmUp({ raw }: FastifyRequest): boolean {
  return !(raw.socket instanceof Socket);
}
