import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { IMMUTABLE, REVALIDATE, StaticBody } from '../http/static-body.js';

/** The page as Vite builds it; from a source file, as in tests, the way leads to what was built. */
const PAGE_DIRECTORY = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/dashboard/page/' : './page/',
  import.meta.url,
);
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.jpg': 'image/jpeg',
  '.json': 'application/json; charset=utf-8',
};

/** Addresses for which the document is kept. */
const ADDRESSES = 16;
/** Whoever shows a link with its picture asks for an absolute address. */
const PREVIEW = /(<meta property="og:image" content=")(?=\/)/;

/** The files of the page, read and compressed once. Few and small: some 800 kB. */
export class PageFiles {
  readonly #documents = new LRUCache<string, StaticBody>({ max: ADDRESSES });

  private constructor(
    /** Nothing where the page was not built. */
    private readonly html: string | undefined,
    readonly assets: ReadonlyMap<string, StaticBody>,
  ) {}

  static read(directory = PAGE_DIRECTORY): PageFiles {
    const assetsDirectory = new URL('assets/', directory);
    const documentFile = new URL('index.html', directory);
    if (!existsSync(documentFile)) return new PageFiles(undefined, new Map());
    const names = readdirSync(assetsDirectory);
    return new PageFiles(
      readFileSync(documentFile, 'utf8'),
      // Their names hold a hash of their content.
      new Map(
        names.map((name) => [
          name,
          bodyOf(readFileSync(new URL(name, assetsDirectory)), extname(name), IMMUTABLE),
        ]),
      ),
    );
  }

  /**
   * @param origin that the reader used, without a slash at its end; nothing where it is not known
   * @returns nothing where the page was not built
   */
  documentAt(origin: string): StaticBody | undefined {
    if (this.html === undefined) return undefined;
    let document = this.#documents.get(origin);
    if (document === undefined) {
      const html = this.html.replace(PREVIEW, (start) => start + origin);
      document = bodyOf(Buffer.from(html), '.html', REVALIDATE);
      this.#documents.set(origin, document);
    }
    return document;
  }
}

function bodyOf(content: Uint8Array, extension: string, cacheControl: string): StaticBody {
  const contentType = CONTENT_TYPES[extension] ?? 'application/octet-stream';
  return new StaticBody(content, gzipSync(content), contentType, cacheControl);
}
