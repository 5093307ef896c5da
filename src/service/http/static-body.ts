import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { getOrBegin } from '../../engine/get-or-insert.js';
import { acceptsGzip } from './request-headers.js';

/** Clients ask again each time and get 304 if nothing has changed. */
export const REVALIDATE = 'no-cache';
export const IMMUTABLE = 'public, max-age=31536000, immutable';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Compressed in Node's thread pool when a client first accepts it. */
const gzips = new WeakMap<StaticBody, Promise<Uint8Array>>();
const compressed = promisify(gzip);

/** A body that never changes during the life of the process. */
export class StaticBody {
  readonly #tag: string;

  constructor(
    private readonly identity: Uint8Array,
    private readonly contentType: string,
    private readonly cacheControl: string,
  ) {
    this.#tag = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  }

  /** A JSON body that clients revalidate. */
  static json(text: string | Uint8Array): StaticBody {
    return new StaticBody(Buffer.from(text), JSON_TYPE, REVALIDATE);
  }

  /** Answers with the body, or with 304 if the client already has it. */
  async send(reply: FastifyReply): Promise<void> {
    const { request } = reply;
    const isCompressed = acceptsGzip(request);
    const isKnown = this.#isKnownTo(request.headers['if-none-match']);
    // Awaited before the headers, because a failure has others.
    const body =
      isCompressed && !isKnown
        ? await getOrBegin(gzips, this, () => compressed(this.identity))
        : this.identity;
    reply.header('vary', 'Accept-Encoding');
    reply.header('cache-control', this.cacheControl);
    // A strong ETag identifies bytes, so each encoding needs its own.
    reply.header('etag', isCompressed ? `"${this.#tag}-gzip"` : `"${this.#tag}"`);
    if (isKnown) {
      reply.code(304).send();
      return;
    }
    reply.header('content-type', this.contentType);
    if (isCompressed) reply.header('content-encoding', 'gzip');
    reply.send(body);
  }

  /** Compares tags weakly, as RFC 9110, section 13.1.2 requires. */
  #isKnownTo(ifNoneMatch: string | undefined): boolean {
    if (ifNoneMatch === undefined) return false;
    if (ifNoneMatch.trim() === '*') return true;
    const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return known.includes(`"${this.#tag}"`) || known.includes(`"${this.#tag}-gzip"`);
  }
}
