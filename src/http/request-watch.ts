import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Subject } from 'rxjs';
import { isWarmUp } from './warm-up.js';

/** What nginx logs where the client left before its answer; no answer carries it. */
export const CLIENT_GONE_STATUS = 499;

export interface FinishedRequest {
  readonly request: FastifyRequest;
  /** Of the answer as it left, or CLIENT_GONE_STATUS where it did not leave whole. */
  readonly status: number;
  /** From the arrival of the headers to the last byte handed to the system. */
  readonly elapsedMs: number;
}

/**
 * Sees every request end, however it ends, and knows how many are open. A preflight is answered before this
 * and is not seen.
 */
export class RequestWatch {
  readonly finished = new Subject<FinishedRequest>();
  readonly #quietListeners: (() => void)[] = [];
  #open = 0;

  get open(): number {
    return this.#open;
  }

  /** Call this before any other hook is added: what a hook refuses is to be seen too. */
  attach(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', async (request, reply) => {
      if (isWarmUp(request)) return;
      this.#open++;
      const { socket } = request.raw;
      let isOpen = true;
      const finish = () => {
        socket.off('close', finish);
        if (isOpen) this.#finish(request, reply);
        isOpen = false;
      };
      // The answer's own event comes also when the connection breaks; Fastify's onResponse does not. An answer that
      // waits behind others has none then, so the connection is watched as well.
      reply.raw.once('close', finish);
      socket.once('close', finish);
    });
  }

  /** Resolves when no request is open. */
  async quiet(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => this.#quietListeners.push(resolve));
  }

  #finish(request: FastifyRequest, reply: FastifyReply): void {
    this.#open--;
    const status = reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_GONE_STATUS;
    this.finished.next({ request, status, elapsedMs: reply.elapsedTime });
    if (this.#open === 0) for (const listener of this.#quietListeners.splice(0)) listener();
  }
}
