import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Subject } from 'rxjs';
import { isWarmUp } from './warm-up.js';

/** The status that nginx logs if the client disconnected before the response; no response has it. */
export const CLIENT_GONE_STATUS = 499;

export interface FinishedRequest {
  readonly request: FastifyRequest;
  /** Status of the response, or CLIENT_GONE_STATUS if it was not sent completely. */
  readonly status: number;
  /** From the arrival of the headers to the last byte passed to the operating system. */
  readonly elapsedMs: number;
}

/**
 * Reports the end of every request, however it ends, and counts the open ones. Preflights are answered earlier and not
 * reported.
 */
export class RequestWatch {
  readonly finished = new Subject<FinishedRequest>();
  readonly #quietListeners: (() => void)[] = [];
  #open = 0;

  get open(): number {
    return this.#open;
  }

  /** Has to be called before any other hook is added, so that requests rejected by a hook are reported as well. */
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
      // Unlike Fastify's onResponse, the `close` event of a response also fires if the connection breaks, except for a
      // response that waits behind others on its connection. So the connection is monitored as well.
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
