import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { acceptsGzip } from './request-headers.js';

/** Clients ask again each time and get 304 if nothing has changed. */
export const REVALIDATE = 'no-cache';
export const IMMUTABLE = 'public, max-age=31536000, immutable';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A body that never changes during the life of the process, stored with and without compression. */
export class StaticBody {
  readonly #tag: string;

  constructor(
    private readonly identity: Uint8Array,
    private readonly gzip: Uint8Array,
    private readonly contentType: string,
    private readonly cacheControl: string,
  ) {
    this.#tag = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  }

  /** A JSON body that clients revalidate. */
  static json(text: string | Uint8Array): StaticBody {
    const json = Buffer.from(text);
    return new StaticBody(json, gzipSync(json), JSON_TYPE, REVALIDATE);
  }

  /** Answers with the body, or with 304 if the client already has it. */
  send(reply: FastifyReply): void {
    const { request } = reply;
    const gzip = acceptsGzip(request);
    reply.header('vary', 'Accept-Encoding');
    reply.header('cache-control', this.cacheControl);
    // A strong ETag identifies bytes, so each encoding needs its own.
    reply.header('etag', gzip ? `"${this.#tag}-gzip"` : `"${this.#tag}"`);
    if (this.#isKnownTo(request.headers['if-none-match'])) {
      reply.code(304).send();
      return;
    }
    reply.header('content-type', this.contentType);
    if (gzip) reply.header('content-encoding', 'gzip');
    reply.send(gzip ? this.gzip : this.identity);
  }

  /** Compares tags weakly, as RFC 9110, section 13.1.2 requires. */
  #isKnownTo(ifNoneMatch: string | undefined): boolean {
    if (ifNoneMatch === undefined) return false;
    if (ifNoneMatch.trim() === '*') return true;
    const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return known.includes(`"${this.#tag}"`) || known.includes(`"${this.#tag}-gzip"`);
  }
}
