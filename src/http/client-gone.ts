import type { FastifyRequest } from 'fastify';

/**
 * Calls the listener when the client of a request has gone, at once if it has already. The socket tells it in every
 * case, also for a request that waits behind others on its connection. A connection lives for many requests, so
 * whoever has its answer stops listening.
 * @returns what stops listening
 */
export function whenGone({ raw: { socket } }: FastifyRequest, listener: () => void): () => void {
  if (socket.destroyed) listener();
  else socket.once('close', listener);
  return () => socket.off('close', listener);
}
