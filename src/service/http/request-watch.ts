import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { filter, firstValueFrom, Subject } from 'rxjs';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { CodedError } from '../../engine/errors.js';

/** The status that nginx logs if a client disconnects early. No response has it. */
export const CLIENT_GONE_STATUS = 499;

/** The reason that ends the work of a client that has disconnected. */
export function clientGone(): CodedError {
  return new CodedError('RUN_CANCELLED', 'The client has gone.');
}

export interface FinishedRequest {
  readonly request: FastifyRequest;
  /** Status of the response, or CLIENT_GONE_STATUS if it was not sent completely. */
  readonly status: number;
  /** Time from the arrival of the headers until the operating system took the last byte. */
  readonly elapsedMs: number;
}

/**
 * Listeners of each request. An AbortController for each request would create an exception with a stack at every end.
 */
const listeners = new WeakMap<FastifyRequest, Set<() => void>>();

/**
 * Calls the listener when a request ends: its last byte was sent, or its connection closed. If the client has already
 * disconnected, it is called at once.
 * @returns a function that removes the listener
 */
export function whenEnded(request: FastifyRequest, listener: () => void): () => void {
  const listenersOfRequest = getOrInsert(listeners, request, () => new Set());
  if (request.raw.socket.destroyed) listener();
  else listenersOfRequest.add(listener);
  return () => listenersOfRequest.delete(listener);
}

/**
 * Reports the end of every request, for any reason, and counts the pending ones. Preflights are answered earlier and
 * are not reported.
 */
export class RequestWatch {
  readonly finished = new Subject<FinishedRequest>();
  /** Number of pending requests. */
  open = 0;

  /** Call this before any other hook is added, so that requests that a hook rejects are reported too. */
  attach(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, next) => {
      this.#watch(request, reply);
      next();
    });
  }

  /** Resolves when no request is pending. */
  async quiet(): Promise<void> {
    if (this.open > 0) await firstValueFrom(this.finished.pipe(filter(() => this.open === 0)));
  }

  #watch(request: FastifyRequest, reply: FastifyReply): void {
    this.open++;
    const { socket } = request.raw;
    let isOpen = true;
    const finish = () => {
      socket.off('close', finish);
      // The response may close while the listeners of its connection run, and this is one of them.
      if (isOpen) this.#finish(request, reply);
      isOpen = false;
    };
    // Unlike Fastify's onResponse, a response's `close` event also fires if the connection breaks. The exception is a
    // response that waits for earlier ones on its connection, so this watches the connection too.
    reply.raw.once('close', finish);
    socket.once('close', finish);
  }

  #finish(request: FastifyRequest, reply: FastifyReply): void {
    this.open--;
    const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_GONE_STATUS;
    this.finished.next({ request, status, elapsedMs: reply.elapsedTime });
    for (const listener of listeners.get(request) ?? []) listener();
  }
}

/** Number of works on each connection that suspend its idle timeout. They nest, and requests may be pipelined. */
const working = new WeakMap<Socket, number>();

/** Suspends the idle timeout of the connection during work that may take long without traffic. */
export async function withoutIdleLimit<T>(
  { raw: { socket }, server }: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  working.set(socket, (working.get(socket) ?? 0) + 1);
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    const others = working.get(socket)! - 1;
    working.set(socket, others);
    // Uses the server's value, because this work has set the socket's to 0.
    if (others === 0) socket.setTimeout(server.server.timeout);
  }
}

/**
 * Suspends the idle timeout while each piece of an answer is made. Between pieces it applies, for a client that does
 * not read.
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
