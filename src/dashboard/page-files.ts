import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
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
};

/** The files of the page, read and compressed once. Few and small: some 700 kB. */
export class PageFiles {
  private constructor(
    /** Nothing where the page was not built. */
    readonly document: StaticBody | undefined,
    readonly assets: ReadonlyMap<string, StaticBody>,
  ) {}

  static read(directory = PAGE_DIRECTORY): PageFiles {
    const assetsDirectory = new URL('assets/', directory);
    const documentFile = new URL('index.html', directory);
    if (!existsSync(documentFile)) return new PageFiles(undefined, new Map());
    const names = readdirSync(assetsDirectory);
    return new PageFiles(
      bodyOf(documentFile, REVALIDATE),
      // Their names hold a hash of their content.
      new Map(names.map((name) => [name, bodyOf(new URL(name, assetsDirectory), IMMUTABLE)])),
    );
  }
}

function bodyOf(file: URL, cacheControl: string): StaticBody {
  const content = readFileSync(file);
  const contentType = CONTENT_TYPES[extname(file.pathname)] ?? 'application/octet-stream';
  return new StaticBody(content, gzipSync(content), contentType, cacheControl);
}
