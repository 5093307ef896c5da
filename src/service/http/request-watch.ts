import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { filter, firstValueFrom, Subject } from 'rxjs';
import { getOrInsert } from '../../get-or-insert.js';
import { CodedError } from '../../errors.js';
import { isWarmUp } from '../limits/client-address.js';

/** The status that nginx logs if the client disconnected before the response; no response has it. */
export const CLIENT_GONE_STATUS = 499;

/** Ends work that nobody waits for any more. */
export function clientGone(): CodedError {
  return new CodedError('RUN_CANCELLED', 'The client has gone.');
}

export interface FinishedRequest {
  readonly request: FastifyRequest;
  /** Status of the response, or CLIENT_GONE_STATUS if it was not sent completely. */
  readonly status: number;
  /** From the arrival of the headers to the last byte passed to the operating system. */
  readonly elapsedMs: number;
}

/** Who is to be told. An AbortController each would make an exception, with its stack, at the end of every request. */
const listeners = new WeakMap<FastifyRequest, Set<() => void>>();

/**
 * Calls the listener when a request has ended, at once if its client has gone already: the last byte of its response
 * has left, or its connection has closed.
 * @returns what stops listening, for whoever waits no longer
 */
export function whenEnded(request: FastifyRequest, listener: () => void): () => void {
  const own = getOrInsert(listeners, request, () => new Set());
  if (request.raw.socket.destroyed) listener();
  else own.add(listener);
  return () => own.delete(listener);
}

/**
 * Reports the end of every request, however it ends, and counts the open ones. Preflights are answered earlier and not
 * reported.
 */
export class RequestWatch {
  readonly finished = new Subject<FinishedRequest>();
  #open = 0;

  get open(): number {
    return this.#open;
  }

  /** Has to be called before any other hook is added, so that requests rejected by a hook are reported as well. */
  attach(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, next) => {
      if (!isWarmUp(request)) this.#watch(request, reply);
      next();
    });
  }

  /** Resolves when no request is open. */
  async quiet(): Promise<void> {
    if (this.#open > 0) await firstValueFrom(this.finished.pipe(filter(() => this.#open === 0)));
  }

  #watch(request: FastifyRequest, reply: FastifyReply): void {
    this.#open++;
    const { socket } = request.raw;
    let isOpen = true;
    const finish = () => {
      socket.off('close', finish);
      // The response may close while listeners of its connection are called, of which this is one.
      if (isOpen) this.#finish(request, reply);
      isOpen = false;
    };
    // Unlike Fastify's onResponse, the `close` event of a response also fires if the connection breaks, except for a
    // response that waits behind others on its connection. So the connection is monitored as well.
    reply.raw.once('close', finish);
    socket.once('close', finish);
  }

  #finish(request: FastifyRequest, reply: FastifyReply): void {
    this.#open--;
    const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_GONE_STATUS;
    this.finished.next({ request, status, elapsedMs: reply.elapsedTime });
    for (const listener of listeners.get(request) ?? []) listener();
  }
}

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
