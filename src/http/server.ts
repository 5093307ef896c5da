/**
 * Everything between the socket and the first line of a controller: one place for what every request and
 * every answer has in common, so that no layer below has an answer of its own.
 */
import { randomUUID } from 'node:crypto';
import {
  STATUS_CODES,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, shown } from '../errors.js';
import { clientKey, requireAddresses } from './client-address.js';
import { CORS, RAW_CORS_HEADERS } from './cors.js';
import { ErrorFilter } from './error.filter.js';
import { expectedErrorOf, internalError } from './error-of.js';
import { ErrorResponse } from './error-response.dto.js';
import * as limits from './limits.js';
import { limitRate } from './rate-limit.js';
import { acceptJsonBodies, refuseCompressedBodies } from './request-body.js';
import { KnownRoutes } from './known-routes.js';
import { SECURITY_HEADERS } from './security-headers.js';
import type { SlidingWindow } from './sliding-window.js';
import { StrictValidationPipe } from './validation.pipe.js';

const log = new Logger('http');
/** For requests whose body is broken: what was decided when their head arrived stands on that answer as well. */
const begun = new WeakMap<
  IncomingMessage,
  { readonly reply: FastifyReply; readonly counted: Promise<void> }
>();
/** To the request that was read last, of each connection. */
const newest = new WeakMap<Duplex, ServerResponse>();
/** What a timer of Node can hold. */
const LARGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface AdapterOptions {
  /** As in TRUST_PROXY; empty trusts nobody. */
  readonly trustProxy: string;
  readonly requestTimeoutMs?: number;
  /** How long an answer may take to be computed. */
  readonly runTimeoutMs: number;
}

export interface SharedOptions {
  readonly rateLimit: number;
  readonly window: SlidingWindow;
  /** Whether the service is about to end. */
  readonly isEnding: () => boolean;
}

export function createAdapter({
  trustProxy,
  requestTimeoutMs = limits.REQUEST_TIMEOUT_MS,
  runTimeoutMs,
}: AdapterOptions): FastifyAdapter {
  return new FastifyAdapter({
    trustProxy: trustProxy === '' ? false : trustProxy.split(',').map((entry) => entry.trim()),
    // While the service stops, Fastify would answer in a shape of its own; ModelHealth refuses runs by then.
    return503OnClosing: false,
    bodyLimit: limits.BODY_LIMIT_BYTES,
    requestTimeout: requestTimeoutMs,
    // Nothing sent and nothing taken: a client that does not read its answer would hold its connection for ever.
    connectionTimeout: Math.min(runTimeoutMs + requestTimeoutMs, LARGEST_TIMEOUT_MS),
    keepAliveTimeout: limits.KEEP_ALIVE_TIMEOUT_MS,
    routerOptions: { maxParamLength: limits.PARAMETER_LIMIT_CHARACTERS },
    http: {
      maxHeaderSize: limits.HEADER_LIMIT_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: limits.TIMEOUT_CHECK_MS,
      // Node would answer a missing Host itself, with no body; see checkHost.
      requireHostHeader: false,
      // Node would take the first of two and drop the other, such as a second Content-Type.
      joinDuplicateHeaders: true,
    },
    genReqId: ({ headers }: IncomingMessage) => requestIdOf(headers['x-request-id']),
    // For paths that cannot be decoded; no hook runs for them.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const known = expectedErrorOf(error) ?? internalError(error);
      const { headers, body } = refusal(known, request.id);
      void reply.code(known.status).headers(headers).send(body);
    },
    clientErrorHandler: answerBrokenRequest,
  });
}

/** Adds what all requests share to an application that was just created. */
export async function equip(app: NestFastifyApplication, options: SharedOptions): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const routes = new KnownRoutes();
  fastify.addHook('onRoute', (route) => routes.add(route));
  acceptJsonBodies(fastify);
  app.enableCors(CORS);
  fastify.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    const counted = limitRate(options.window, options.rateLimit, request, reply);
    begun.set(request.raw, { reply, counted });
    await counted;
    checkHost(request);
    refuseExpectation(request, reply);
    refuseUnknown(routes, request, reply);
    refuseCompressedBodies(request, reply);
  });
  fastify.addHook('onSend', async ({ raw }, reply) => {
    // So that the client asks elsewhere next. What came after this request on its connection is answered as well.
    if (options.isEnding() && newest.get(raw.socket) === reply.raw) reply.header('connection', 'close');
  });
  app.useGlobalPipes(new StrictValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  const server = app.getHttpServer() as Server;
  // Bounded by the size of the headers. Node would leave out those beyond the 2,000th, such as a proxy adds.
  server.maxHeadersCount = 0;
  requireAddresses(server);
  limitUnanswered(server);
  // Node would answer itself, past the rate limit, the log and the headers of every other answer.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    answerRaw(
      socket,
      new CodedError('METHOD_NOT_ALLOWED', 'This server is no proxy: CONNECT is not allowed.'),
    ),
  );
}

/**
 * Ends a connection on which requests are sent and sent without waiting for answers. Node reads 64 kB of them at
 * once, and 1,600 requests in these take 16 MB before the first is answered.
 */
function limitUnanswered(server: Server): void {
  const unansweredOn = new WeakMap<Duplex, number>();
  const listeners = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const { socket } = request;
    // What was read before the connection was ended still arrives.
    if (socket.destroyed) return;
    const unanswered = (unansweredOn.get(socket) ?? 0) + 1;
    if (unanswered > limits.UNANSWERED_REQUESTS_LIMIT) {
      log.log(
        `Ended a connection of ${clientKey(socket.remoteAddress)} with ${unanswered} unanswered requests`,
      );
      socket.destroy();
      return;
    }
    unansweredOn.set(socket, unanswered);
    newest.set(socket, response);
    response.once('close', () => unansweredOn.set(socket, unansweredOn.get(socket)! - 1));
    for (const listener of listeners) listener(request, response);
  });
  // Each request watches for the end of its connection.
  server.on('connection', (socket) => socket.setMaxListeners(2 * limits.UNANSWERED_REQUESTS_LIMIT));
}

/** Ids of others are taken over only where they cannot be mistaken for anything else in a log. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,64}$/.test(header) ? header : randomUUID();
}

/** A name or an address, with a port or without (RFC 9112, section 3.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/i;

function checkHost({ raw }: FastifyRequest): void {
  const hosts = raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) {
    throw new CodedError('MALFORMED_REQUEST', `The request must have one Host header, got ${hosts}.`);
  }
  const { host = '' } = raw.headers;
  if (!HOST.test(host)) {
    throw new CodedError('MALFORMED_REQUEST', `Host must be a name or an address, got ${shown(host)}.`);
  }
}

function refuseUnknown(routes: KnownRoutes, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return;
  const path = request.url.split('?', 1)[0]!;
  const methods = routes.methodsOf(path);
  if (methods.length === 0) {
    throw new CodedError('NOT_FOUND', `There is nothing at ${shown(path)}.`);
  }
  reply.header('allow', methods.join(', '));
  throw new CodedError(
    'METHOD_NOT_ALLOWED',
    `The method at ${shown(path)} must be one of ${methods.join(', ')}, got ${shown(request.method)}.`,
  );
}

function refuseExpectation({ headers: { expect } }: FastifyRequest, reply: FastifyReply): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  // Nobody knows whether the body will come now, so nothing that follows could be told from it.
  reply.header('connection', 'close');
  throw new CodedError('EXPECTATION_FAILED', `Expect must be 100-continue or absent, got ${shown(expect)}.`);
}

/** Answers what the HTTP parser refuses, once: after the answers to what came before it on its connection. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  const known = expectedErrorOf(error) ?? internalError(error);
  const last = newest.get(socket);
  if (error.code === 'ECONNRESET') {
    socket.destroy();
  } else if (last?.req.complete === false) {
    void answerBrokenBody(socket, known, last);
  } else {
    // Of this one there is no request object and no hook has seen it.
    onceAnswered(last, () => answerRaw(socket, known));
  }
}

/** @param response to the request whose body is broken */
async function answerBrokenBody(socket: Duplex, error: CodedError, response: ServerResponse): Promise<void> {
  // What is broken may have come together with its head, which is still on its way through the hooks.
  await setImmediate();
  const head = begun.get(response.req);
  const isRefused = await head?.counted.then(
    () => false,
    () => true,
  );
  if (isRefused === true || response.headersSent) {
    onceAnswered(response, () => socket.end());
    return;
  }
  const { headers, body } = refusal(error, head?.reply.request.id ?? randomUUID());
  const all = { ...head?.reply.getHeaders(), ...headers, connection: 'close' } as OutgoingHttpHeaders;
  response.writeHead(error.status, all).end(body);
}

function onceAnswered(response: ServerResponse | undefined, then: () => void): void {
  if (response === undefined || response.writableFinished) then();
  else response.once('finish', then);
}

function answerRaw(socket: Duplex, error: CodedError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { headers, body } = refusal(error, randomUUID());
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
}

/** An answer that no hook sees; so it is logged here, under the id that it carries. */
function refusal(
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
