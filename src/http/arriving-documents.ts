import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../errors.js';
import { clientOf } from './client-address.js';
import { isDocumentRoute } from './document-route.js';

/** Of the largest size, of one client and of all: as many documents of a client may wait to be planned. */
const DOCUMENTS_OF_CLIENT = 32;
const DOCUMENTS_OF_ALL = 1024;
/** With smaller limits, documents are still counted as if they could be so large. */
const SMALLEST_UNIT_BYTES = 256 * 1024;
/** A document that arrives at all takes seconds at most. */
const RETRY_AFTER_S = 5;

/**
 * Bounds the memory of documents that have begun to arrive: each may take its time, and nothing else limits how many
 * connections a client opens. What a request announces is counted, so that it is refused before it is read.
 */
export class ArrivingDocuments {
  readonly #ofClients = new Map<string, number>();
  #all = 0;

  /** Bytes that documents under way have announced. */
  get bytes(): number {
    return this.#all;
  }

  /** @throws CodedError QUEUE_FULL */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const { bodyLimit, config } = request.routeOptions;
    if (!isDocumentRoute(config) || bodyLimit === undefined) return;
    const bytes = announcedBytes(request, bodyLimit);
    if (bytes === 0) return;
    const unit = Math.max(bodyLimit, SMALLEST_UNIT_BYTES);
    const client = clientOf(request);
    const own = (this.#ofClients.get(client) ?? 0) + bytes;
    const isOwn = own > DOCUMENTS_OF_CLIENT * unit;
    if (isOwn || this.#all + bytes > DOCUMENTS_OF_ALL * unit) {
      // The body is not read, so nothing after it can be.
      reply.header('connection', 'close');
      throw new CodedError(
        'QUEUE_FULL',
        `The queue is full: ${isOwn ? 'too many documents of this client' : 'too many documents'} are arriving; ` +
          'try again shortly.',
        { retryAfterS: RETRY_AFTER_S },
      );
    }
    this.#ofClients.set(client, own);
    this.#all += bytes;
    let isOpen = true;
    const leave = () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= bytes;
      const left = this.#ofClients.get(client)! - bytes;
      if (left > 0) this.#ofClients.set(client, left);
      else this.#ofClients.delete(client);
    };
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
