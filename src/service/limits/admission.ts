import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../config/environment.js';
import { queueFull } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { type Bounds, ClientShares } from '../../workers/queue/client-shares.js';
import {
  Limits,
  ARRIVING_DOCUMENTS,
  ARRIVING_DOCUMENTS_PER_CLIENT,
  DOCUMENT_LIMIT_BYTES,
  LEAVING_BYTES,
  LEAVING_BYTES_PER_CLIENT,
} from './limits.js';
import { siteOf } from './client-address.js';
import { ClientTurns } from './client-turns.js';

/** An experiment or the upload of a document takes seconds, so asking more often does not help. */
const RETRY_AFTER_S = 5;
/** Bytes of documents that are arriving. */
const ARRIVING: Bounds = {
  ofClient: ARRIVING_DOCUMENTS_PER_CLIENT * DOCUMENT_LIMIT_BYTES,
  ofAll: ARRIVING_DOCUMENTS * DOCUMENT_LIMIT_BYTES,
};
/** Bytes of answers that are not read yet. */
const LEAVING: Bounds = { ofClient: LEAVING_BYTES_PER_CLIENT, ofAll: LEAVING_BYTES };

/** Limits pending experiments, of one client and in total, because each one holds memory until it is answered. */
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
   * @returns a function that ends the experiment; further calls do nothing
   * @throws CodedError QUEUE_FULL
   */
  admit(client: string): () => void {
    const bounds = {
      ofClient: this.limits.experimentsPerClient,
      ofAll: this.environment.EXPERIMENTS_AT_ONCE,
    };
    return this.#shares.admit(client, 1, bounds, (underWay, whose) =>
      queueFull(`${underWay} experiments${whose} are under way`, RETRY_AFTER_S),
    );
  }
}

/**
 * Limits the memory of documents that are arriving. An upload may be slow, and the number of a client's connections
 * is not limited. A request is counted with its announced length, so it is refused before it is read.
 */
export class ArrivingDocuments {
  readonly #shares = new ClientShares();

  /**
   * @param request a request whose body is a document
   * @throws CodedError QUEUE_FULL
   */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const bytes = announcedBytes(request);
    if (bytes === 0) return;
    const leave = this.#shares.admit(siteOf(request), bytes, ARRIVING, (_, whose) =>
      queueFull(`too many documents${whose} are arriving`, RETRY_AFTER_S),
    );
    // A body that was read ends; one that was refused or cut off closes with its connection.
    request.raw.once('end', leave);
    request.raw.once('close', leave);
    reply.raw.once('close', leave);
  }
}

interface Leaving {
  answers: number;
  readonly leave: () => void;
}

/**
 * Limits the memory of answers that clients do not read. Bytes count until the operating system has taken them. If
 * several answers of a client share a buffer, it counts once; of a text, each answer has a copy.
 */
export class LeavingAnswers {
  readonly #shares = new ClientShares();
  /** By client and payload. */
  readonly #answers = new Map<string, Map<unknown, Leaving>>();
  readonly #turns = new ClientTurns(PIECE_BYTES);

  /**
   * @param payload buffer, text or stream; a stream counts with the most that it may buffer
   * @param send called with the payload to send, at once or when the client has a turn; a large one is a stream of pieces
   * @throws CodedError QUEUE_FULL
   */
  admit(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    send: (payload: unknown) => void,
  ): void {
    const bytes = bytesHeld(payload);
    if (bytes < COUNTED_FROM_BYTES || reply.raw.closed || request.method === 'HEAD') {
      send(payload);
      return;
    }
    const client = siteOf(request);
    const held = typeof payload === 'string' ? reply : payload;
    const known = this.#answers.get(client)?.get(held);
    const admit = () =>
      this.#shares.admit(client, bytes, LEAVING, (_, whose) =>
        queueFull(`too many answers${whose} are not read`, RETRY_AFTER_S),
      );
    const leaving = known ?? { answers: 0, leave: admit() };
    const ofClient = getOrInsert(this.#answers, client, () => new Map<unknown, Leaving>());
    ofClient.set(held, leaving);
    leaving.answers++;
    reply.raw.once('close', () => {
      if (--leaving.answers > 0) return;
      leaving.leave();
      ofClient.delete(held);
      if (ofClient.size === 0) this.#answers.delete(client);
    });
    if (payload instanceof Readable || bytes <= PIECE_BYTES) {
      this.#turns.begin(client, Math.min(bytes, PIECE_BYTES), () => {
        // Meanwhile the request may have been answered, because the rest of its body was broken.
        if (!reply.raw.headersSent) send(payload);
        else if (payload instanceof Readable) payload.destroy();
      });
    } else {
      // Fastify does not know the length of a stream.
      reply.header('content-length', bytes);
      const whole = typeof payload === 'string' ? Buffer.from(payload) : (payload as Uint8Array);
      send(Readable.from(this.#pieces(client, whole), { objectMode: false, highWaterMark: 1 }));
    }
  }

  async *#pieces(client: string, bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      await this.#turns.turn(client, piece.length);
      yield piece;
    }
  }
}

/** Bytes of one client that are sent in one turn of the event loop. */
const PIECE_BYTES = 64 * 1024;
/** Smaller answers fit into the socket's buffer and are not counted. */
const COUNTED_FROM_BYTES = 16 * 1024;
/** Memory of a stream: its first part, which waits in memory, and its compressor. */
const STREAM_BYTES = 2 * 1024 * 1024;

function bytesHeld(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.length;
  return payload instanceof Readable ? STREAM_BYTES : 0;
}

/** The parser has checked Content-Length. A longer body is refused before it is read, so it counts as 0. */
function announcedBytes({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return DOCUMENT_LIMIT_BYTES;
  const length = Number(headers['content-length'] ?? 0);
  return length > DOCUMENT_LIMIT_BYTES ? 0 : length;
}
