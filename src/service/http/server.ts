/**
 * Everything between the parsed request and the controller: what all requests and answers have in common.
 * connections.ts handles what happens before there is a request.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, describeValue } from '../errors.js';
import { ArrivingDocuments } from './arriving-documents.js';
import { refusal, type Connections } from './connections.js';
import { CORS } from './cors.js';
import { ErrorFilter } from './error.filter.js';
import { expectedErrorOf, internalError } from './error-of.js';
import * as limits from './limits.js';
import { acceptJsonBodies, refuseCompressedBodies } from './request-body.js';
import { KnownRoutes } from './known-routes.js';
import { SECURITY_HEADERS } from './security-headers.js';
import { traceparentOf, traceSpanOf } from './trace-context.js';
import { StrictValidationPipe } from './validation.pipe.js';

/** What a timer of Node can hold. */
const LARGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface AdapterOptions {
  /** As in TRUST_PROXY; empty trusts no proxy. */
  readonly trustProxy: string;
  readonly requestTimeoutMs?: number;
  /** How long an answer may take to be computed. */
  readonly runTimeoutMs: number;
  readonly connections: Connections;
}

export interface SharedOptions {
  /** Whether the service is stopping. */
  readonly isEnding: () => boolean;
  /** The same as the adapter's. */
  readonly connections: Connections;
  /** By the path of a route: bytes of a body, where it is not BODY_LIMIT_BYTES. */
  readonly bodyLimits: Readonly<Record<string, number>>;
}

export function createAdapter({
  trustProxy,
  requestTimeoutMs = limits.REQUEST_TIMEOUT_MS,
  runTimeoutMs,
  connections,
}: AdapterOptions): FastifyAdapter {
  return new FastifyAdapter({
    trustProxy: trustProxy === '' ? false : trustProxy.split(',').map((entry) => entry.trim()),
    // While the service stops, Fastify would send error responses in its own format; ModelHealth rejects runs by then.
    return503OnClosing: false,
    bodyLimit: limits.BODY_LIMIT_BYTES,
    requestTimeout: requestTimeoutMs,
    // Time without traffic in either direction: a client that does not read its answer would keep its connection open for ever.
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
    clientErrorHandler: (error: Error, socket: Duplex) => connections.answerBrokenRequest(error, socket),
  });
}

/** Adds what all requests share to an application that was just created. */
export async function configureServer(app: NestFastifyApplication, options: SharedOptions): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const routes = new KnownRoutes();
  const documents = new ArrivingDocuments();
  fastify.addHook('onRoute', (route) => {
    routes.add(route);
    const limit = options.bodyLimits[route.url];
    if (limit !== undefined) route.bodyLimit = limit;
  });
  acceptJsonBodies(fastify);
  app.enableCors(CORS);
  fastify.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    const span = traceSpanOf(request);
    if (span !== undefined) reply.header('traceparent', traceparentOf(span));
    options.connections.arrived(request.raw, reply);
    checkHost(request);
    refuseExpectation(request, reply);
    refuseUnknown(routes, request, reply);
    refuseCompressedBodies(request, reply);
    documents.admit(request, reply);
  });
  fastify.addHook('onSend', async (_request, reply) => {
    // So that the client asks elsewhere next. What came after this request on its connection is answered as well.
    if (options.isEnding() && options.connections.isNewest(reply.raw)) reply.header('connection', 'close');
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
  options.connections.watch(server);
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
    throw new CodedError(
      'MALFORMED_REQUEST',
      `Host must be a name or an address, got ${describeValue(host)}.`,
    );
  }
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
