import type { FastifyRequest } from 'fastify';
import { CodedError, describeValue } from '../errors.js';

/**
 * A string of RFC 9651 without escapes, or the same without its quotes, as many clients send it. A short one would be
 * chosen twice.
 */
export const IDEMPOTENCY_KEY = /^("[ !#-\x5b\x5d-~]{16,128}"|[!#-\x5b\x5d-~]{16,128})$/;

/**
 * What a client calls its request, and calls it again when it repeats it (draft-ietf-httpapi-idempotency-key-header).
 * @throws CodedError INVALID_PARAMETER
 */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
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
