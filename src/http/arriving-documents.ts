import type { FastifyReply, FastifyRequest } from 'fastify';
import { queueFull } from '../errors.js';
import { clientOf } from './client-address.js';
import { ClientShares } from './client-shares.js';
import { isDocumentRoute } from './document-route.js';

/** Of the largest size, of one client and of all. With the usual settings as many of a client may wait to be planned. */
const DOCUMENTS_OF_CLIENT = 32;
const DOCUMENTS_OF_ALL = 1024;
/** With smaller limits, documents are still counted as if they could be so large. */
const SMALLEST_UNIT_BYTES = 256 * 1024;
/** A document that arrives at all takes seconds at most. */
const RETRY_AFTER_S = 5;

/**
 * Bounds the memory of documents that have begun to arrive: each may take its time, and nothing else limits how many
 * connections a client opens. What a request announces is counted, in bytes, so that it is refused before it is read.
 */
export class ArrivingDocuments {
  readonly #shares = new ClientShares();

  /** @throws CodedError QUEUE_FULL */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const { bodyLimit, config } = request.routeOptions;
    if (!isDocumentRoute(config) || bodyLimit === undefined) return;
    const bytes = announcedBytes(request, bodyLimit);
    if (bytes === 0) return;
    const unit = Math.max(bodyLimit, SMALLEST_UNIT_BYTES);
    const client = clientOf(request);
    const isOwn = this.#shares.of(client) + bytes > DOCUMENTS_OF_CLIENT * unit;
    if (isOwn || this.#shares.ofAll + bytes > DOCUMENTS_OF_ALL * unit) {
      // The body is not read, so nothing after it can be.
      reply.header('connection', 'close');
      const whose = isOwn ? ' of this client' : '';
      throw queueFull(`too many documents${whose} are arriving`, RETRY_AFTER_S);
    }
    const leave = this.#shares.take(client, bytes);
    // A body that was read has ended; one that was refused or cut off closes with its connection.
    request.raw.once('end', leave);
    request.raw.once('close', leave);
    reply.raw.once('close', leave);
  }
}

/** The parser has checked Content-Length; what is larger than the limit is refused before it is read. */
function announcedBytes({ headers }: FastifyRequest, bodyLimit: number): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit;
  const length = Number(headers['content-length'] ?? 0);
  return length > bodyLimit ? 0 : length;
}
