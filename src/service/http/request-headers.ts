/** Headers with which a client chooses the form of its answer. */
import Negotiator from 'negotiator';
import type { FastifyRequest } from 'fastify';
import { CodedError, describeValue } from '../../engine/errors.js';

type WithHeaders = Pick<FastifyRequest, 'headers'>;

/**
 * A string of RFC 9651 without escapes, or without its quotes too, as many clients send it. The minimum length makes
 * accidental repetitions unlikely.
 */
export const IDEMPOTENCY_KEY = /^("[ !#-\x5b\x5d-~]{16,128}"|[!#-\x5b\x5d-~]{16,128})$/;

/**
 * A quoted value may contain commas and semicolons. An unclosed one runs to the end of the header. Searching for the
 * closing quote from every quote would take quadratic time.
 */
const PREFERENCE = /(?:"(?:[^"\\]|\\.?)*"?|[^",])+/g;
/** Parameters may follow after a semicolon. An empty value is equal to none (RFC 7240, section 2). */
const RESPOND_ASYNC = /^\s*respond-async\s*(?:=\s*""\s*)?(?:;|$)/i;

/** True if the client accepts gzip in any form. */
export function acceptsGzip({ headers }: WithHeaders): boolean {
  return (
    headers['accept-encoding'] !== undefined &&
    new Negotiator({ headers }).encodings(['gzip']).includes('gzip')
  );
}

/**
 * The client's name for its request, which it repeats on a retry (draft-ietf-httpapi-idempotency-key-header).
 * @throws CodedError INVALID_PARAMETER
 */
export function idempotencyKeyOf({ headers }: WithHeaders): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (IDEMPOTENCY_KEY.test(String(header))) return String(header).replaceAll('"', '');
  throw new CodedError(
    'INVALID_PARAMETER',
    'Idempotency-Key must be 16 to 128 printable ASCII characters without " and \\, in quotes if spaces are among ' +
      `them, such as a UUID, got ${describeValue(header)}.`,
    { path: '' },
  );
}

/**
 * True if the client prefers an answer before the work is done (RFC 7240, section 4.1). Unknown preferences are
 * ignored, as the RFC requires.
 */
export function prefersAsync({ headers }: WithHeaders): boolean {
  const header = [headers['prefer'] ?? []].flat().join(',');
  return (header.match(PREFERENCE) ?? []).some((each) => RESPOND_ASYNC.test(each));
}
