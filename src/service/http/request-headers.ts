/** Headers with which a client says how it wants to be answered. */
import Negotiator from 'negotiator';
import type { FastifyRequest } from 'fastify';
import { CodedError, describeValue } from '../../errors.js';

type WithHeaders = Pick<FastifyRequest, 'headers'>;

/**
 * A string of RFC 9651 without escapes, or the same without its quotes, as many clients send it. A short one would be
 * chosen twice.
 */
export const IDEMPOTENCY_KEY = /^("[ !#-\x5b\x5d-~]{16,128}"|[!#-\x5b\x5d-~]{16,128})$/;

/**
 * A token in quotes may have commas and semicolons. One without its end goes on to the end of the header: to look for
 * that end from every quote would take time that follows the square of the length.
 */
const PREFERENCE_PARTS = /"(?:[^"\\]|\\.?)*"?|[^",;]+|[,;]/g;

/** Tells whether the client accepts gzip at all, however it words it. */
export function acceptsGzip({ headers }: WithHeaders): boolean {
  return (
    headers['accept-encoding'] !== undefined &&
    new Negotiator({ headers }).encodings(['gzip']).includes('gzip')
  );
}

/**
 * Name that a client gives its request, and gives again when it repeats it (draft-ietf-httpapi-idempotency-key-header).
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
 * Tells whether a request prefers to be answered before its work is done (RFC 7240, section 4.1). Preferences that are
 * not known are passed over, as that document asks for.
 */
export function prefersAsync({ headers }: WithHeaders): boolean {
  const header = [headers['prefer'] ?? []].flat().join(',');
  // The first part of each preference is its name; what follows a semicolon are parameters.
  let isName = true;
  for (const part of header.match(PREFERENCE_PARTS) ?? []) {
    if (part === ',') isName = true;
    else if (isName && part.trim() !== '') {
      if (part.trim().toLowerCase() === 'respond-async') return true;
      isName = false;
    }
  }
  return false;
}
