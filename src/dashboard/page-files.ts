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

/** The pages by the name of their file, as they are linked: the brain, and the laboratory. */
const PAGES = ['index', 'laboratory'] as const;
export type PageName = (typeof PAGES)[number];

/** Pages and addresses for which the document is kept. */
const DOCUMENTS = 16 * PAGES.length;
/** Whoever shows a link with its picture asks for an absolute address. */
const PREVIEW = /(<meta property="og:image" content=")(?=\/)/;

/** The files of the pages, read and compressed once. Few and small: some 900 kB. */
export class PageFiles {
  readonly #documents = new LRUCache<string, StaticBody>({ max: DOCUMENTS });

  private constructor(
    /** Empty where the pages were not built. */
    private readonly html: ReadonlyMap<PageName, string>,
    readonly assets: ReadonlyMap<string, StaticBody>,
  ) {}

  static read(directory = PAGE_DIRECTORY): PageFiles {
    const assetsDirectory = new URL('assets/', directory);
    const documentOf = (page: PageName) => new URL(`${page}.html`, directory);
    if (!PAGES.every((page) => existsSync(documentOf(page)))) return new PageFiles(new Map(), new Map());
    const names = readdirSync(assetsDirectory);
    return new PageFiles(
      new Map(PAGES.map((page) => [page, readFileSync(documentOf(page), 'utf8')])),
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
   * @returns nothing where the pages were not built
   */
  documentAt(page: PageName, origin: string): StaticBody | undefined {
    const html = this.html.get(page);
    if (html === undefined) return undefined;
    const key = `${page} ${origin}`;
    let document = this.#documents.get(key);
    if (document === undefined) {
      document = bodyOf(Buffer.from(html.replace(PREVIEW, (start) => start + origin)), '.html', REVALIDATE);
      this.#documents.set(key, document);
    }
    return document;
  }
}

function bodyOf(content: Uint8Array, extension: string, cacheControl: string): StaticBody {
  const contentType = CONTENT_TYPES[extension] ?? 'application/octet-stream';
  return new StaticBody(content, gzipSync(content), contentType, cacheControl);
}
