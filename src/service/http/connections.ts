/**
 * Handles connections below the router: clients that disconnect or flood, bytes that are not HTTP, and requests that
 * leave HTTP. No hook sees these answers, so this module completes and logs each one itself.
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
import { Subject } from 'rxjs';
import { CodedError, errorBody } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { clientKey } from '../limits/client-address.js';
import { ClientTurns } from '../limits/client-turns.js';
import { HEADERS_OF_BODY, RAW_CORS_HEADERS } from './response-headers.js';
import { expectedErrorOf, internalError } from './error-of.js';
import { RAW_ANSWER_TIMEOUT_MS, UNANSWERED_REQUESTS_LIMIT } from '../limits/limits.js';

/** Turns of the event loop: one to accept a connection, one to read its first request, one in reserve. */
const TURNS_TO_READ = 3;

/** Requests of one client that begin in one turn of the event loop. Each takes about 0.2 ms, if only to be refused. */
const REQUESTS_OF_TURN = 8;

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

const log = new Logger('http');

interface Connection {
  unanswered: number;
  /** Functions that serve the requests that were pipelined, in order. */
  readonly ahead: (() => void)[];
  /** Response to the newest request. */
  newest?: ServerResponse;
  /** True after this module took the connection over from Node's HTTP server. */
  isTakenOver: boolean;
}

export class Connections {
  /** Emits the status of each answer to a request that no hook saw. */
  readonly refused = new Subject<number>();
  readonly #open = new Set<Socket>();
  #admitted = 0;
  readonly #turns = new ClientTurns(REQUESTS_OF_TURN);
  readonly #connections = new WeakMap<Duplex, Connection>();
  /**
   * Replies to requests whose head has arrived. The answer to a broken body needs the headers that hooks have set.
   */
  readonly #replies = new WeakMap<IncomingMessage, FastifyReply>();

  /** @param siteOf returns the client to which shared resources are counted */
  constructor(private readonly siteOf: (request: IncomingMessage) => string) {}

  /** Call this before the server listens and after all request listeners were added. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#admit(socket));
    // Node does not parse the bytes after a CONNECT.
    const noProxy = new CodedError(
      'METHOD_NOT_ALLOWED',
      'CONNECT is not allowed: this server is not a proxy.',
    );
    server.on('connect', (_request, socket) => this.#answerRaw(socket, noProxy));
    this.#limitUnanswered(server);
  }

  /** Call this when the head of a request has arrived, before a hook can refuse it. */
  arrived(request: IncomingMessage, reply: FastifyReply): void {
    this.#replies.set(request, reply);
  }

  /** True if no request arrived on the connection after the one of this response. */
  isNewest(response: ServerResponse): boolean {
    return this.#connectionOf(response.req.socket).newest === response;
  }

  /**
   * Answers a request that the HTTP parser refuses, once, after the answers to earlier requests on its connection.
   */
  answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
    const { isTakenOver, newest } = this.#connectionOf(socket);
    if (isTakenOver) return;
    const known = expectedErrorOf(error) ?? internalError(error);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else if (newest?.req.complete === false) {
      void this.#answerBrokenBody(socket, known, newest);
    } else {
      // The refused request has no request object, so no hook has seen it.
      this.#answerRaw(socket, known);
    }
  }

  /**
   * Resolves after all requests that clients have sent by now were read and have begun. A server that closes resets connections with
   * unread requests. Node accepts one connection in each turn of its event loop.
   * @param withinMs limit of the wait if clients connect faster than that
   */
  async arrivalsRead(withinMs: number): Promise<void> {
    const startedMs = performance.now();
    let admitted: number;
    do {
      admitted = this.#admitted;
      for (let turn = 0; turn < TURNS_TO_READ; turn++) await setImmediate();
    } while (
      (this.#admitted > admitted || this.#turns.areWaiting) &&
      performance.now() - startedMs < withinMs
    );
  }

  closeAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #connectionOf(socket: Duplex): Connection {
    return getOrInsert(this.#connections, socket, () => ({ unanswered: 0, ahead: [], isTakenOver: false }));
  }

  #admit(socket: Socket): void {
    // The connection was reset before Node accepted it: its address is unknown, and no client waits. For every other
    // connection Node keeps the address after its first use, even if the connection has closed.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    this.#admitted++;
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Each request adds a few listeners for the end of its connection.
    socket.setMaxListeners(3 * UNANSWERED_REQUESTS_LIMIT);
  }

  /**
   * Serves the requests of a connection one at a time, and those of a client in turns, so that a client with many
   * gets no more of the thread than another one. Closes a connection with too many unanswered requests. Node reads 64 kB at once, and the 1,600
   * requests in it take 16 MB before the first is answered.
   */
  #limitUnanswered(server: Server): void {
    const listeners = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const { socket } = request;
      // Node still emits requests that it read before the connection closed.
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
      const site = this.siteOf(request);
      const serve = () => this.#turns.begin(site, 1, answer);
      const answer = () => {
        // Meanwhile the connection may have closed, or the request was answered because its body was broken.
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

  /** @param response response to the request with the broken body */
  async #answerBrokenBody(socket: Duplex, error: CodedError, response: ServerResponse): Promise<void> {
    // The head may have arrived together with the broken body and may still be in the hooks.
    await setImmediate();
    const reply = this.#replies.get(response.req);
    if (response.headersSent) {
      this.#takeOver(socket);
      onceAnswered(response, () => socket.end());
      return;
    }
    if (reply === undefined) this.refused.next(error.status);
    const client = clientKey(reply?.request.ip ?? response.req.socket.remoteAddress);
    const { headers, body } = refusal(error, reply?.request.id ?? randomUUID(), client);
    for (const header of HEADERS_OF_BODY) response.removeHeader(header);
    for (const header of HEADERS_OF_BODY) reply?.removeHeader(header);
    const all = { ...reply?.getHeaders(), ...headers, connection: 'close' } as OutgoingHttpHeaders;
    response.writeHead(error.status, all).end(body);
  }

  #answerRaw(socket: Duplex, error: CodedError): void {
    this.#takeOver(socket);
    onceAnswered(this.#connectionOf(socket).newest, () => {
      const { headers, body } = refusal(error, randomUUID(), clientKey((socket as Socket).remoteAddress));
      this.refused.next(error.status);
      const lines = Object.entries({ ...headers, connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
    });
  }

  /**
   * Takes a connection over from Node. If a request leaves HTTP, Node removes its listeners. Then an error would end
   * the process, unread data would hide the client's end, and none of Node's timeouts would apply. After a refused
   * request, Node would continue to parse the connection.
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

/** Builds and logs the answer to a refused request that no hook sees. */
export function refusal(
  error: CodedError,
  requestId: string,
  client: string,
): { readonly headers: Record<string, string | number>; readonly body: string } {
  log.log(`Refused ${requestId} of ${client} with ${error.status}: ${error.message}`);
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
