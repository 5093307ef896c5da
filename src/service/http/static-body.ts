import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { acceptsGzip } from './request-headers.js';

/** Asked again each time; answered with 304 while nothing has changed. */
export const REVALIDATE = 'no-cache';
export const IMMUTABLE = 'public, max-age=31536000, immutable';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A body that stays the same while the process lives, kept in both encodings. */
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

  /** A JSON text that a client asks for again. */
  static json(text: string | Uint8Array): StaticBody {
    const json = Buffer.from(text);
    return new StaticBody(json, gzipSync(json), JSON_TYPE, REVALIDATE);
  }

  /** Answers with the body, or with 304 where the client has it already. */
  send(reply: FastifyReply): void {
    const { request } = reply;
    const gzip = acceptsGzip(request);
    reply.header('vary', 'Accept-Encoding');
    reply.header('cache-control', this.cacheControl);
    // A strong tag names bytes, and the two encodings are different bytes.
    reply.header('etag', gzip ? `"${this.#tag}-gzip"` : `"${this.#tag}"`);
    if (this.#isKnownTo(request.headers['if-none-match'])) {
      reply.code(304).send();
      return;
    }
    reply.header('content-type', this.contentType);
    if (gzip) reply.header('content-encoding', 'gzip');
    reply.send(gzip ? this.gzip : this.identity);
  }

  /** The weak comparison of RFC 9110, section 13.1.2. */
  #isKnownTo(ifNoneMatch: string | undefined): boolean {
    if (ifNoneMatch === undefined) return false;
    if (ifNoneMatch.trim() === '*') return true;
    const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return known.includes(`"${this.#tag}"`) || known.includes(`"${this.#tag}-gzip"`);
  }
}
