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
import { CodedError } from '../../errors.js';
import { getOrInsert } from '../../get-or-insert.js';
import { clientKey } from '../limits/client-address.js';
import { RAW_CORS_HEADERS } from './response-headers.js';
import { errorBody, expectedErrorOf, internalError } from './error-of.js';
import { RAW_ANSWER_TIMEOUT_MS, UNANSWERED_REQUESTS_LIMIT } from '../limits/limits.js';

/** To accept a connection, to read its first request, and one in reserve. */
const TURNS_TO_READ = 3;

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

const log = new Logger('http');

interface Connection {
  unanswered: number;
  /** Serve the requests that were read before the one ahead of them was answered. */
  readonly ahead: (() => void)[];
  /** Response to the request that was read last. */
  newest?: ServerResponse;
  /** It no longer belongs to Node's HTTP server. */
  isTakenOver: boolean;
}

export class Connections {
  readonly #open = new Set<Socket>();
  #admitted = 0;
  readonly #connections = new WeakMap<Duplex, Connection>();
  /** Replies to requests whose head has arrived: the headers that the hooks have set stand on the answer to a broken body too. */
  readonly #replies = new WeakMap<IncomingMessage, FastifyReply>();

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

  /** Tells whether nothing was read on the connection after the request of this response. */
  isNewest(response: ServerResponse): boolean {
    return this.#connectionOf(response.req.socket).newest === response;
  }

  /** Answers what the HTTP parser refuses, once: after the answers to what came before it on its connection. */
  answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
    const { isTakenOver, newest } = this.#connectionOf(socket);
    if (isTakenOver) return;
    const known = expectedErrorOf(error) ?? internalError(error);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else if (newest?.req.complete === false) {
      void this.#answerBrokenBody(socket, known, newest);
    } else {
      // This one has no request object, and no hook has seen it.
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

  closeAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #connectionOf(socket: Duplex): Connection {
    return getOrInsert(this.#connections, socket, () => ({ unanswered: 0, ahead: [], isTakenOver: false }));
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
   * Serves the requests of a connection one after another, as they are answered: what one connection has sent ahead
   * takes no more of the thread than one request. A connection on which many arrive without waiting for answers is
   * closed: Node reads 64 kB of them at once, and 1,600 requests in these take 16 MB before the first is answered.
   */
  #limitUnanswered(server: Server): void {
    const listeners = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const { socket } = request;
      // Requests read before the connection was closed still arrive.
      if (socket.destroyed) return;
      const connection = this.#connectionOf(socket);
      connection.unanswered++;
      if (connection.unanswered > UNANSWERED_REQUESTS_LIMIT) {
        const client = clientKey(socket.remoteAddress);
        log.log(`Closed a connection from ${client} with ${connection.unanswered} unanswered requests`);
        socket.destroy();
        return;
      }
      connection.newest = response;
      const serve = () => {
        // Its body may have been broken, and it was answered so.
        if (!socket.destroyed && !response.writableEnded) {
          for (const listener of listeners) listener(request, response);
        }
      };
      response.once('close', () => {
        connection.unanswered--;
        connection.ahead.shift()?.();
      });
      if (connection.unanswered === 1) serve();
      else connection.ahead.push(serve);
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
    // A broken body may have come together with its head, which is still on its way through the hooks.
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
    onceAnswered(this.#connectionOf(socket).newest, () => {
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
    this.#connectionOf(socket).isTakenOver = true;
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
  const body = JSON.stringify(errorBody(error));
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
