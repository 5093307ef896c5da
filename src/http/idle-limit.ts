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

/**
 * The same of an answer in pieces, while a piece is made. While nobody asks for the next one the limit holds, for a
 * client that does not read.
 */
export async function* piecesWithoutIdleLimit<T>(
  request: FastifyRequest,
  pieces: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  try {
    for (;;) {
      const next = await withoutIdleLimit(request, () => pieces.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await pieces.return();
  }
}
