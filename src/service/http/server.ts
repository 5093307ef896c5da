/**
 * Configures the HTTP server: the steps between a parsed request and its controller, and the headers of all answers.
 * connections.ts handles the time before there is a request.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable, type Duplex } from 'node:stream';
import proxyAddr from '@fastify/proxy-addr';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Environment } from '../config/environment.js';
import { CodedError, describeValue, ERRORS, notFound } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { ArrivingDocuments, LeavingAnswers } from '../limits/admission.js';
import { clientOf, siteKey } from '../limits/client-address.js';
import { refusal, type Connections } from './connections.js';
import { CORS, HEADERS_OF_BODY, SECURITY_HEADERS } from './response-headers.js';
import { ErrorFilter } from './error.filter.js';
import { expectedErrorOf, internalError } from './error-of.js';
import * as limits from '../limits/limits.js';
import { PREFIX_HEADER } from './public-address.js';
import { acceptJsonBodies, isDocumentRoute, refuseCompressedBodies } from './request-body.js';
import { StrictValidationPipe } from './request-fields.js';

/** The longest delay of a timer in Node. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export function createAdapter(
  environment: Environment,
  connections: Connections,
  requestTimeoutMs = limits.REQUEST_TIMEOUT_MS,
): FastifyAdapter {
  return new FastifyAdapter({
    trustProxy: proxiesOf(environment),
    // During shutdown Fastify would send errors in its own format; ModelHealth rejects runs by then.
    return503OnClosing: false,
    bodyLimit: limits.BODY_LIMIT_BYTES,
    requestTimeout: requestTimeoutMs,
    // Limits the time without traffic in either direction: a client that does not read its answer would otherwise
    // keep its connection open forever.
    connectionTimeout: Math.min(environment.RUN_TIMEOUT_MS + requestTimeoutMs, MAX_TIMEOUT_MS),
    keepAliveTimeout: limits.KEEP_ALIVE_TIMEOUT_MS,
    routerOptions: { maxParamLength: limits.PARAMETER_LIMIT_CHARACTERS },
    http: {
      maxHeaderSize: limits.HEADER_LIMIT_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: limits.TIMEOUT_CHECK_MS,
      // Node would answer a missing Host itself, without a body; see checkHost.
      requireHostHeader: false,
      // Node would use the first of two headers and drop the second, for example a second Content-Type.
      joinDuplicateHeaders: true,
    },
    genReqId: ({ headers }: IncomingMessage) => requestIdOf(headers['x-request-id']),
    // Answers paths that cannot be decoded; no hook runs for them.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const known = expectedErrorOf(error) ?? internalError(error);
      const { headers, body } = refusal(known, request.id, clientOf(request));
      connections.refused.next(known.status);
      void reply.code(known.status).headers(headers).send(body);
    },
    clientErrorHandler: (error: Error, socket: Duplex) => connections.answerBrokenRequest(error, socket),
  });
}

/** Returns a function that recognizes the addresses of trusted proxies; false if none is trusted. */
function proxiesOf({ TRUST_PROXY }: Environment): false | ((address: string, hop: number) => boolean) {
  return TRUST_PROXY !== '' && proxyAddr.compile(TRUST_PROXY.split(',').map((entry) => entry.trim()));
}

/** Returns a function that finds the site of a request before Fastify has it; see siteOf. */
export function siteFinder(environment: Environment): (request: IncomingMessage) => string {
  const isProxy = proxiesOf(environment);
  if (isProxy === false) return ({ socket }) => siteKey(socket.remoteAddress);
  return (request) => siteKey(proxyAddr(request, isProxy));
}

/**
 * Adds the hooks, filters and parsers that all requests share to a new application.
 * @param connections the same as the adapter's
 * @param isEnding returns true if the service is stopping
 */
export function configureServer(
  app: NestFastifyApplication,
  environment: Environment,
  connections: Connections,
  isEnding: () => boolean,
): void {
  const fastify = app.getHttpAdapter().getInstance();
  const routes = new KnownRoutes();
  const documents = new ArrivingDocuments();
  const answers = new LeavingAnswers();
  const isProxy = proxiesOf(environment);
  fastify.addHook('onRoute', (route) => {
    routes.add(route);
    if (isDocumentRoute(route.config)) route.bodyLimit = limits.DOCUMENT_LIMIT_BYTES;
  });
  acceptJsonBodies(fastify);
  app.enableCors(CORS);
  fastify.addHook('onRequest', (request, reply, next) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    connections.arrived(request.raw, reply);
    // Fastify itself decides about the other headers of a proxy.
    if (isProxy === false || !isProxy(request.socket.remoteAddress ?? '', 0))
      delete request.headers[PREFIX_HEADER];
    checkHost(request);
    refuseExpectation(request, reply);
    refuseUnknown(routes, request, reply);
    refuseCompressedBodies(request, reply);
    if (isDocumentRoute(request.routeOptions.config)) documents.admit(request, reply);
    next();
  });
  fastify.addHook('onSend', (request, reply, payload, next) => {
    if (LEAVES_BODY.includes(reply.statusCode)) dropBody(request, reply);
    const send = (sent: unknown) => {
      // Closes the connection, so that the client's next request goes elsewhere. Requests that already arrived on it
      // are answered first.
      if (isEnding() && connections.isNewest(reply.raw)) reply.header('connection', 'close');
      next(null, sent);
    };
    try {
      answers.admit(request, reply, payload, send);
    } catch (error) {
      for (const header of HEADERS_OF_BODY) reply.removeHeader(header);
      if (payload instanceof Readable) payload.destroy();
      next(error as Error);
    }
  });
  app.useGlobalPipes(new StrictValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  const server = app.getHttpServer() as Server;
  // The size of the headers limits their number. Node would drop those after the 2,000th, perhaps one from a proxy.
  server.maxHeadersCount = 0;
  // Node would answer itself and bypass the rate limit, the log and the common headers.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
  connections.watch(server);
}

/** Refusals that may come before the body was read. */
const LEAVES_BODY: readonly number[] = [ERRORS.BODY_TOO_LARGE.status, ERRORS.QUEUE_FULL.status];

/**
 * Reads and drops the rest of a refused body. Otherwise a client that sends all of it before it reads would see a broken
 * connection and no answer.
 */
function dropBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { raw: response } = reply;
  if (raw.complete || Number(raw.headers['content-length'] ?? 0) > limits.DROPPED_BODY_BYTES) return;
  reply.removeHeader('connection');
  // If a client asks to close the connection, Node would close it right after the answer.
  const isLast = !response.shouldKeepAlive;
  response.shouldKeepAlive = true;
  if (isLast) {
    raw.once('end', () => {
      if (response.writableFinished) raw.socket.end();
      else response.once('finish', () => raw.socket.end());
    });
  }
  let dropped = 0;
  raw.on('data', ({ length }: Buffer) => {
    dropped += length;
    if (dropped > limits.DROPPED_BODY_BYTES) raw.socket.destroy();
  });
}

/** Accepts a client's request id only if it cannot be mistaken for anything else in a log. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,64}$/.test(header) ? header : randomUUID();
}

/** A name or an address, with an optional port (RFC 9112, section 3.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/i;

function checkHost({ raw }: FastifyRequest): void {
  const hosts = raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) {
    throw new CodedError('MALFORMED_REQUEST', `The request must have one Host header, got ${hosts}.`);
  }
  const { host = '' } = raw.headers;
  if (HOST.test(host)) return;
  throw new CodedError('MALFORMED_REQUEST', `Host must be a name or an address, got ${describeValue(host)}.`);
}

function refuseUnknown(routes: KnownRoutes, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return;
  const path = request.url.split('?', 1)[0]!;
  const methods = routes.methodsOf(path);
  if (methods.length === 0) throw notFound(`There is nothing at ${describeValue(path)}.`);
  reply.header('allow', methods.join(', '));
  throw new CodedError(
    'METHOD_NOT_ALLOWED',
    `The method at ${describeValue(path)} must be one of ${methods.join(', ')}, got ${describeValue(request.method)}.`,
  );
}

function refuseExpectation({ headers: { expect } }: FastifyRequest, reply: FastifyReply): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  // The body may or may not follow, so it could not be distinguished from the next request.
  reply.header('connection', 'close');
  throw new CodedError(
    'EXPECTATION_FAILED',
    `Expect must be 100-continue or absent, got ${describeValue(expect)}.`,
  );
}

/** The existing paths with their methods; the router itself cannot distinguish 404 from 405. */
export class KnownRoutes {
  /** Methods by the router's path, such as `/a/:name`. */
  readonly #methods = new Map<string, Set<string>>();

  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    // The route of CORS answers preflights on every path, even on those that do not exist.
    if ([method].flat().every((each) => each === 'OPTIONS')) return;
    const methods = getOrInsert(this.#methods, url, () => new Set(['OPTIONS']));
    for (const each of [method].flat()) methods.add(each);
  }

  /** @returns the methods for the Allow header; empty if the path does not exist */
  methodsOf(path: string): string[] {
    const known = [...this.#methods.keys()].find((url) => isPathOf(url, path));
    return [...(this.#methods.get(known ?? '') ?? [])].sort();
  }
}

function isPathOf(url: string, path: string): boolean {
  const [expected, given] = [url.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((name, at) => (name.startsWith(':') ? given[at] !== '' : name === given[at]))
  );
}
