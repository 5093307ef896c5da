/**
 * Everything between the parsed request and the controller: what all requests and answers have in common.
 * connections.ts handles what happens before there is a request.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Environment } from '../config/environment.js';
import { CodedError, describeValue } from '../../errors.js';
import { getOrInsert } from '../../get-or-insert.js';
import { ArrivingDocuments } from '../limits/admission.js';
import { refusal, type Connections } from './connections.js';
import { CORS, SECURITY_HEADERS } from './response-headers.js';
import { ErrorFilter } from './error.filter.js';
import { expectedErrorOf, internalError } from './error-of.js';
import * as limits from '../limits/limits.js';
import { acceptJsonBodies, isDocumentRoute, refuseCompressedBodies } from './request-body.js';
import { traceparentOf, traceSpanOf } from './trace-context.js';
import { StrictValidationPipe } from './request-fields.js';

/** Longest time that a timer of Node can hold. */
const LARGEST_TIMEOUT_MS = 2 ** 31 - 1;

export function createAdapter(
  { TRUST_PROXY, RUN_TIMEOUT_MS }: Environment,
  connections: Connections,
  requestTimeoutMs = limits.REQUEST_TIMEOUT_MS,
): FastifyAdapter {
  return new FastifyAdapter({
    trustProxy: TRUST_PROXY === '' ? false : TRUST_PROXY.split(',').map((entry) => entry.trim()),
    // While the service stops, Fastify would send error responses in its own format; ModelHealth rejects runs by then.
    return503OnClosing: false,
    bodyLimit: limits.BODY_LIMIT_BYTES,
    requestTimeout: requestTimeoutMs,
    // Time without traffic in either direction: a client that does not read its answer would keep its connection open for ever.
    connectionTimeout: Math.min(RUN_TIMEOUT_MS + requestTimeoutMs, LARGEST_TIMEOUT_MS),
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
    clientErrorHandler: (error: Error, socket: Duplex) => connections.answerBrokenRequest(error, socket),
  });
}

/**
 * Adds what all requests share to an application that was just created.
 * @param connections the same as the adapter's
 * @param isEnding tells whether the service is stopping
 */
export function configureServer(
  app: NestFastifyApplication,
  connections: Connections,
  isEnding: () => boolean,
): void {
  const fastify = app.getHttpAdapter().getInstance();
  const routes = new KnownRoutes();
  const documents = new ArrivingDocuments();
  fastify.addHook('onRoute', (route) => {
    routes.add(route);
    if (isDocumentRoute(route.config)) route.bodyLimit = limits.DOCUMENT_LIMIT_BYTES;
  });
  acceptJsonBodies(fastify);
  app.enableCors(CORS);
  fastify.addHook('onRequest', (request, reply, next) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    const span = traceSpanOf(request);
    if (span !== undefined) reply.header('traceparent', traceparentOf(span));
    connections.arrived(request.raw, reply);
    checkHost(request);
    refuseExpectation(request, reply);
    refuseUnknown(routes, request, reply);
    refuseCompressedBodies(request, reply);
    if (isDocumentRoute(request.routeOptions.config)) documents.admit(request, reply);
    next();
  });
  fastify.addHook('onSend', (_request, reply, _payload, next) => {
    // So that the client asks elsewhere next. What came after this request on its connection is answered as well.
    if (isEnding() && connections.isNewest(reply.raw)) reply.header('connection', 'close');
    next();
  });
  app.useGlobalPipes(new StrictValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  const server = app.getHttpServer() as Server;
  // Bounded by the size of the headers. Node would leave out those beyond the 2,000th, such as a proxy adds.
  server.maxHeadersCount = 0;
  // Node would answer itself, past the rate limit, the log and the headers of every other answer.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
  connections.watch(server);
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
  if (HOST.test(host)) return;
  throw new CodedError('MALFORMED_REQUEST', `Host must be a name or an address, got ${describeValue(host)}.`);
}

function refuseUnknown(routes: KnownRoutes, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return;
  const path = request.url.split('?', 1)[0]!;
  const methods = routes.methodsOf(path);
  if (methods.length === 0) {
    throw new CodedError('NOT_FOUND', `There is nothing at ${describeValue(path)}.`);
  }
  reply.header('allow', methods.join(', '));
  throw new CodedError(
    'METHOD_NOT_ALLOWED',
    `The method at ${describeValue(path)} must be one of ${methods.join(', ')}, got ${describeValue(request.method)}.`,
  );
}

function refuseExpectation({ headers: { expect } }: FastifyRequest, reply: FastifyReply): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  // It is unknown whether the body will follow, so it could not be distinguished from the next request.
  reply.header('connection', 'close');
  throw new CodedError(
    'EXPECTATION_FAILED',
    `Expect must be 100-continue or absent, got ${describeValue(expect)}.`,
  );
}

/** The existing paths and their methods: the router alone does not distinguish 404 from 405. */
export class KnownRoutes {
  /** By the path of the router, such as `/a/:name`. */
  readonly #methods = new Map<string, Set<string>>();

  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    // The one of CORS, which answers preflights at every path and makes none of them exist.
    if ([method].flat().every((each) => each === 'OPTIONS')) return;
    const methods = getOrInsert(this.#methods, url, () => new Set(['OPTIONS']));
    for (const each of [method].flat()) methods.add(each);
  }

  /** @returns what Allow says about a path, empty where nothing is */
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
