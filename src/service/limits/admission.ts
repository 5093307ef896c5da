import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../config/environment.js';
import { queueFull } from '../../errors.js';
import { ClientShares, placesFor } from '../../scheduling/client-shares.js';
import { Limits, ARRIVING_DOCUMENTS, ARRIVING_DOCUMENTS_PER_CLIENT, DOCUMENT_LIMIT_BYTES } from './limits.js';
import { siteOf } from './client-address.js';

/** An experiment, or a document that arrives at all, takes seconds; asking more often does not help. */
const RETRY_AFTER_S = 5;

/** How many experiments are under way at once, of one client and of all: each holds memory until it is answered. */
@Injectable()
export class Admission {
  readonly #shares = new ClientShares();

  constructor(
    private readonly environment: Environment,
    private readonly limits: Limits,
  ) {}

  get underWay(): number {
    return this.#shares.ofAll;
  }

  /**
   * @param client whose place it is
   * @returns what ends the experiment; may be called more than once
   * @throws CodedError QUEUE_FULL
   */
  admit(client: string): () => void {
    const { EXPERIMENTS_AT_ONCE } = this.environment;
    const { experimentsPerClient } = this.limits;
    const own = this.#shares.of(client);
    if (own >= experimentsPerClient) {
      throw queueFull(`${experimentsPerClient} experiments of this client are under way`, RETRY_AFTER_S);
    }
    if (this.#shares.ofAll >= placesFor(own, EXPERIMENTS_AT_ONCE)) {
      throw queueFull(`${this.#shares.ofAll} experiments are under way`, RETRY_AFTER_S);
    }
    return this.#shares.take(client, 1);
  }
}

/**
 * Bounds the memory of documents that have begun to arrive: each may take its time, and nothing else limits how many
 * connections a client opens. What a request announces is counted, in bytes, so that it is refused before it is read.
 */
export class ArrivingDocuments {
  readonly #shares = new ClientShares();

  /**
   * @param request for a route whose body is a document
   * @throws CodedError QUEUE_FULL
   */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const bytes = announcedBytes(request);
    if (bytes === 0) return;
    const client = siteOf(request);
    const isOwn = this.#shares.of(client) + bytes > ARRIVING_DOCUMENTS_PER_CLIENT * DOCUMENT_LIMIT_BYTES;
    if (isOwn || this.#shares.ofAll + bytes > ARRIVING_DOCUMENTS * DOCUMENT_LIMIT_BYTES) {
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
function announcedBytes({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return DOCUMENT_LIMIT_BYTES;
  const length = Number(headers['content-length'] ?? 0);
  return length > DOCUMENT_LIMIT_BYTES ? 0 : length;
}
