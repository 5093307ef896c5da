import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Environment } from '../config/environment.js';
import { describeValue, notFound } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { ModelHealth } from '../health/model-health.js';
import { atlasStartUrl } from '../../engine/connectome/atlas.js';
import { escaped } from '../../experiments/figures/svg.js';
import { publicAddress, SAME_ORIGIN } from '../http/public-address.js';
import { StaticBody, IMMUTABLE, REVALIDATE } from '../http/static-body.js';
import { type Dare, dareIn, previewPath } from './dare.js';

/** Stricter than the policy of the rest of the service: no inline code, no other origins. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The worker of a brain in the tab compiles kernels and the checks of documents. It has no document of its own. */
const TAB_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval'; connect-src 'self'";

/** The pages that Vite built. Tests run the source files, so this leads from there to the built pages. */
export const PAGE_DIRECTORY = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/pages/' : '../../pages/',
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

/** Names of the pages and of their files: the brain, the laboratory, the lesson, and the API. */
const PAGES = ['index', 'laboratory', 'lesson', 'docs'] as const;

/** Number of rendered pages in the cache; each combination of page, address and dare is one. */
const MAX_DOCUMENTS = 32;
/** URL of the preview picture, which must be absolute for sites that show it beside a link. */
const PREVIEW = /(?<=<meta property="og:image" content=")\.([^"]*)/;

/** End of the head, before which links for preloading are inserted. */
const HEAD_END = '</head>';

/** Serves the pages for people. Their files take about 4 MB, so they are read and compressed once. */
@ApiExcludeController()
@Controller()
export class PagesController {
  /** Empty if the pages were not built. */
  readonly #html = new Map(
    PAGES.map((page) => [page, new URL(`${page}.html`, PAGE_DIRECTORY)] as const)
      .filter(([, file]) => existsSync(file))
      .map(([page, file]) => [page, readFileSync(file, 'utf8')]),
  );
  // File names contain a hash of the content, so files never change.
  readonly #assets = readFolder('assets/', IMMUTABLE);
  /** The files of a brain in the tab; see clients/tab. */
  readonly #tab = readFolder('tab/', REVALIDATE);
  /** Rendered pages by page, address, preload link and dare. */
  readonly #documents = new LRUCache<string, StaticBody>({ max: MAX_DOCUMENTS });

  constructor(
    private readonly environment: Environment,
    private readonly health: ModelHealth,
  ) {}

  /** Inserts the address of the preview picture, which contains that of the service if it is known. */
  @Get(['', 'laboratory', 'lesson', 'docs'])
  async page(@Res() reply: FastifyReply): Promise<void> {
    const page = PAGES.find((name) => reply.request.routeOptions.url === `/${name}`) ?? 'index';
    const html = this.#html.get(page);
    if (html === undefined) {
      throw notFound('The page was not built; npm run build does it. The API is at /api/v1.');
    }
    // Other pages do not contain it, so invented Host headers would fill the cache with equal copies.
    const address = PREVIEW.test(html) ? publicAddress(reply.request, this.environment.PUBLIC_URL) : '';
    const folder = address === SAME_ORIGIN ? '.' : address;
    const { state } = this.health;
    const model = page === 'index' && state.name === 'ready' ? state.model : undefined;
    // Preloads the first part of the atlas, which the page draws first. Relative, because a proxy may serve the pages
    // below any path.
    const ahead =
      model === undefined
        ? ''
        : `<link rel="preload" href=".${atlasStartUrl(model.connectome)}" as="fetch" crossorigin />`;
    const dare = model && dareIn(reply.request.query, model.connectome);
    const preview = dare && previewPath(dare);
    const document = getOrInsert(this.#documents, `${page} ${folder} ${ahead} ${preview ?? ''}`, () => {
      const text = html
        .replace(PREVIEW, (_, usual: string) => escaped(folder + (preview ?? usual)))
        .replace(HEAD_END, (end) => ahead + end);
      return bodyOf(Buffer.from(dare === undefined ? text : asDare(text, dare)), '.html', REVALIDATE);
    });
    await send(document, reply);
  }

  @Get('assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    await send(found(this.#assets, file), reply);
  }

  @Get('tab/:file')
  async tab(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    await send(found(this.#tab, file), reply, TAB_POLICY);
  }
}

/** Gives a page the title and the text of a dare, which sites show beside its link. */
function asDare(html: string, { types }: Dare): string {
  const names = types.join(' and ');
  const texts = {
    'og:title': `A dare: silence ${names}`,
    'og:image:alt': `Drives of a simulated fly with and without ${names}`,
  };
  return Object.entries(texts).reduce((text, [property, content]) => {
    const old = new RegExp(`(?<=<meta\\s+property="${property}"\\s+content=")[^"]*`);
    return text.replace(old, () => escaped(content));
  }, html);
}

function readFolder(path: string, cacheControl: string): Map<string, StaticBody> {
  const folder = new URL(path, PAGE_DIRECTORY);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(
    names.map((name) => [name, bodyOf(readFileSync(new URL(name, folder)), extname(name), cacheControl)]),
  );
}

/** @throws CodedError NOT_FOUND */
function found(files: ReadonlyMap<string, StaticBody>, name: string): StaticBody {
  const file = files.get(name);
  if (file === undefined) throw notFound(`The page has no file ${describeValue(name)}.`);
  return file;
}

function bodyOf(content: Uint8Array, extension: string, cacheControl: string): StaticBody {
  const contentType = CONTENT_TYPES[extension] ?? 'application/octet-stream';
  return new StaticBody(content, contentType, cacheControl);
}

function send(body: StaticBody, reply: FastifyReply, policy = CONTENT_SECURITY_POLICY): Promise<void> {
  reply.header('content-security-policy', policy);
  return body.send(reply);
}
