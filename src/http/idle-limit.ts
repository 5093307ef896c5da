import type { FastifyRequest } from 'fastify';

/** While the work is under way, the connection of a request may be silent for as long as it takes. */
export async function withoutIdleLimit<T>(
  { raw: { socket }, server }: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    // Not that of the socket: another request on this connection may have suspended it.
    socket.setTimeout(server.server.timeout);
  }
}
