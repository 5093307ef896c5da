import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** The part that this request has in the trace of its client (W3C Trace Context). */
export interface TraceSpan {
  readonly traceId: string;
  /** Id of the client's span, which asked. */
  readonly parentSpanId: string;
  /** Id of this request's span. */
  readonly spanId: string;
  /** Tells whether the client records the trace, and whether its id is random; two hexadecimal digits. */
  readonly flags: string;
}

/** W3C Trace Context, section 3.2.2: lower case alone. A version after 00 may add fields behind. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** The version that is spoken here. */
const VERSION = '00';
/** Sampled and random; bits without a meaning are not passed on. */
const KNOWN_FLAGS = 0b11;
const SPAN_ID_BYTES = 8;

const spans = new WeakMap<FastifyRequest, TraceSpan | undefined>();

/** @returns undefined without a valid `traceparent`: this service does not start traces */
export function traceSpanOf(request: FastifyRequest): TraceSpan | undefined {
  if (request.headers['traceparent'] === undefined) return undefined;
  if (!spans.has(request)) spans.set(request, parseTraceparent(request.headers['traceparent']));
  return spans.get(request);
}

/** Trace of the answer: the same trace, with this request in the client's place. */
export function traceparentOf({ traceId, spanId, flags }: TraceSpan): string {
  return `${VERSION}-${traceId}-${spanId}-${flags}`;
}

export function parseTraceparent(header: string | string[] | undefined): TraceSpan | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, parentSpanId, flags, more] = TRACEPARENT.exec(header.trim()) ?? [];
  if (version === undefined || (version === VERSION && more !== undefined)) return undefined;
  const known = Number.parseInt(flags!, 16) & KNOWN_FLAGS;
  return {
    traceId: traceId!,
    parentSpanId: parentSpanId!,
    spanId: randomBytes(SPAN_ID_BYTES).toString('hex'),
    flags: known.toString(16).padStart(2, '0'),
  };
}
