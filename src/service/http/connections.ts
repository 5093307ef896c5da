/**
 * Handles connections below the router: clients that disconnect or never wait, bytes that are not HTTP, requests that
 * leave HTTP. No hook sees these answers, so each one is complete and is logged here.
 */
import { randomUUID } from 'node:crypto';
import {
  STATUS_CODES,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CodedError } from '../errors.js';
import { clientKey } from './client-address.js';
import { RAW_CORS_HEADERS } from './cors.js';
import { expectedErrorOf, internalError } from './error-of.js';
import { ErrorResponse } from './error-response.dto.js';
import { RAW_ANSWER_TIMEOUT_MS, UNANSWERED_REQUESTS_LIMIT } from './limits.js';

/** To accept a connection, to read its first request, and one in reserve. */
const TURNS_TO_READ = 3;

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

const log = new Logger('http');

export class Connections {
  readonly #open = new Set<Socket>();
  #admitted = 0;
  readonly #unanswered = new WeakMap<Duplex, number>();
  /** The response to the request that was read last, of each connection. */
  readonly #newest = new WeakMap<Duplex, ServerResponse>();
  /** Of requests whose head has arrived: the headers that the hooks have set stand on the answer to a broken body too. */
  readonly #replies = new WeakMap<IncomingMessage, FastifyReply>();
  /** Connections that no longer belong to Node's HTTP server. */
  readonly #takenOver = new WeakSet<Duplex>();

  /** To be called before the server listens, and after every listener for requests was added. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#admit(socket));
    server.on('connect', (_request, socket) => this.#refuseConnect(socket));
    this.#limitUnanswered(server);
  }

  /** To be called when the head of a request has arrived, before a hook refuses it. */
  arrived(request: IncomingMessage, reply: FastifyReply): void {
    this.#replies.set(request, reply);
  }

  /** Whether nothing was read on the connection after the request of this response. */
  isNewest(response: ServerResponse): boolean {
    return this.#newest.get(response.req.socket) === response;
  }

  /** Answers what the HTTP parser refuses, once: after the answers to what came before it on its connection. */
  answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
    if (this.#takenOver.has(socket)) return;
    const known = expectedErrorOf(error) ?? internalError(error);
    const last = this.#newest.get(socket);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else if (last?.req.complete === false) {
      void this.#answerBrokenBody(socket, known, last);
    } else {
      // Of this one there is no request object and no hook has seen it.
      this.#answerRaw(socket, known);
    }
  }

  /**
   * Resolves when what clients have sent by now was read: a server that closes resets the connections whose requests it
   * has not read. Node accepts one connection each turn of its loop.
   * @param withinMs where clients connect faster than that
   */
  async arrivalsRead(withinMs: number): Promise<void> {
    const startedMs = performance.now();
    let admitted: number;
    do {
      admitted = this.#admitted;
      for (let turn = 0; turn < TURNS_TO_READ; turn++) await setImmediate();
    } while (this.#admitted > admitted && performance.now() - startedMs < withinMs);
  }

  /** Closes every connection immediately. */
  closeAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #admit(socket: Socket): void {
    // Reset before it was accepted: its address is no longer known, and there is nobody to respond to. For every other
    // connection Node keeps the address after it was first read, even when the connection has closed.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    this.#admitted++;
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Each request watches for the end of its connection, some for several reasons.
    socket.setMaxListeners(3 * UNANSWERED_REQUESTS_LIMIT);
  }

  /**
   * Closes a connection on which requests keep arriving without waiting for answers. Node reads 64 kB of them at
   * once, and 1,600 requests in these take 16 MB before the first is answered.
   */
  #limitUnanswered(server: Server): void {
    const listeners = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const { socket } = request;
      // Requests read before the connection was closed still arrive.
      if (socket.destroyed) return;
      const unanswered = (this.#unanswered.get(socket) ?? 0) + 1;
      if (unanswered > UNANSWERED_REQUESTS_LIMIT) {
        log.log(
          `Closed a connection from ${clientKey(socket.remoteAddress)} with ${unanswered} unanswered requests`,
        );
        socket.destroy();
        return;
      }
      this.#unanswered.set(socket, unanswered);
      this.#newest.set(socket, response);
      response.once('close', () => this.#unanswered.set(socket, this.#unanswered.get(socket)! - 1));
      for (const listener of listeners) listener(request, response);
    });
  }

  /** Bytes after a CONNECT are not parsed as requests. */
  #refuseConnect(socket: Duplex): void {
    this.#answerRaw(
      socket,
      new CodedError('METHOD_NOT_ALLOWED', 'CONNECT is not allowed: this server is not a proxy.'),
    );
  }

  /** @param response to the request whose body is broken */
  async #answerBrokenBody(socket: Duplex, error: CodedError, response: ServerResponse): Promise<void> {
    // What is broken may have come together with its head, which is still on its way through the hooks.
    await setImmediate();
    const reply = this.#replies.get(response.req);
    if (response.headersSent) {
      this.#takeOver(socket);
      onceAnswered(response, () => socket.end());
      return;
    }
    const { headers, body } = refusal(error, reply?.request.id ?? randomUUID());
    const all = { ...reply?.getHeaders(), ...headers, connection: 'close' } as OutgoingHttpHeaders;
    response.writeHead(error.status, all).end(body);
  }

  #answerRaw(socket: Duplex, error: CodedError): void {
    this.#takeOver(socket);
    onceAnswered(this.#newest.get(socket), () => {
      const { headers, body } = refusal(error, randomUUID());
      const lines = Object.entries({ ...headers, connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
    });
  }

  /**
   * Makes the connection ours. Node takes its listeners off one that leaves HTTP, and from then on an error without a
   * listener would end the process, unread data would keep the end of the client from arriving, and no time limit of
   * Node's holds. One that was refused Node would go on to parse.
   */
  #takeOver(socket: Duplex): void {
    this.#takenOver.add(socket);
    socket.on('error', () => socket.destroy());
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), RAW_ANSWER_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
  }
}

function onceAnswered(response: ServerResponse | undefined, then: () => void): void {
  if (response === undefined || response.writableFinished) then();
  else response.once('finish', then);
}

/** No hook sees this answer, so it is logged here, with its request id. */
export function refusal(
  error: CodedError,
  requestId: string,
): { readonly headers: Record<string, string | number>; readonly body: string } {
  log.log(`Refused ${requestId} with ${error.status}: ${error.message}`);
  const body = JSON.stringify(new ErrorResponse(error));
  const headers = {
    ...RAW_CORS_HEADERS,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return { headers, body };
}
