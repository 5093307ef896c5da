import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Environment } from '../config/environment.js';
import { CodedError, describeValue } from '../../errors.js';
import { getOrInsert } from '../../get-or-insert.js';
import { ModelHealth } from '../health/model-health.js';
import { atlasStartUrl } from '../api/atlas/atlas.controller.js';
import { publicAddress, SAME_ORIGIN } from '../http/public-address.js';
import { StaticBody, IMMUTABLE, REVALIDATE } from '../http/static-body.js';

/** Stricter than what holds for the rest of the service: nothing inline, nothing from anywhere else. */
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

/** The page as Vite builds it; from a source file, as in tests, the way leads to what was built. */
const PAGE_DIRECTORY = new URL(
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

/** The pages by the name of their file, as they are linked: the brain, the laboratory, and the API. */
const PAGES = ['index', 'laboratory', 'docs'] as const;
type PageName = (typeof PAGES)[number];

/** Pages and addresses for which the document is kept. */
const MAX_DOCUMENTS = 32;
/** Address of the picture: who shows a link with it asks for an absolute one. */
const PREVIEW = /(<meta property="og:image" content=")(?=\/)/;

/** The last of the head: links to what the browser shall ask for before the script does stand there. */
const HEAD_END = '</head>';

/** The pages for people. Their files are few and small, some 4 MB: they are read and compressed once. */
@ApiExcludeController()
@Controller()
export class PagesController {
  /** Empty where the pages were not built. */
  readonly #html = new Map(PAGES.filter(isBuilt).map((page) => [page, readFileSync(fileOf(page), 'utf8')]));
  readonly #assets = readAssets();
  /** By page, origin and what is asked for ahead. */
  readonly #documents = new LRUCache<string, StaticBody>({ max: MAX_DOCUMENTS });

  constructor(
    private readonly environment: Environment,
    private readonly health: ModelHealth,
  ) {}

  /** With the origin that the reader used, without a slash at its end, where it is known. */
  @Get(['', 'laboratory', 'docs'])
  page(@Res() reply: FastifyReply): void {
    const page = PAGES.find((name) => reply.request.routeOptions.url === `/${name}`) ?? 'index';
    const address = publicAddress(reply.request, this.environment.PUBLIC_URL);
    const origin = address === SAME_ORIGIN ? '' : address;
    const html = this.#html.get(page);
    if (html === undefined) {
      throw new CodedError(
        'NOT_FOUND',
        'The page was not built; npm run build does it. The API is at /api/v1.',
      );
    }
    const ahead = page === 'index' ? this.#ahead() : '';
    const document = getOrInsert(this.#documents, `${page} ${origin} ${ahead}`, () =>
      bodyOf(
        Buffer.from(html.replace(PREVIEW, (start) => start + origin).replace(HEAD_END, (end) => ahead + end)),
        '.html',
        REVALIDATE,
      ),
    );
    send(document, reply);
  }

  @Get('assets/:file')
  asset(@Param('file') file: string, @Res() reply: FastifyReply): void {
    const asset = this.#assets.get(file);
    if (asset === undefined) {
      throw new CodedError('NOT_FOUND', `The page has no file ${describeValue(file)}.`);
    }
    send(asset, reply);
  }

  /**
   * A link to the first part of the brain, which the page needs before anything else is drawn; none until it is ready.
   */
  #ahead(): string {
    const { state } = this.health;
    if (state.name !== 'ready') return '';
    const url = atlasStartUrl(state.model.connectome);
    return `<link rel="preload" href="${url}" as="fetch" crossorigin />`;
  }
}

function fileOf(page: PageName): URL {
  return new URL(`${page}.html`, PAGE_DIRECTORY);
}

function isBuilt(page: PageName): boolean {
  return existsSync(fileOf(page));
}

function readAssets(): Map<string, StaticBody> {
  const folder = new URL('assets/', PAGE_DIRECTORY);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  // Their names hold a hash of their content.
  return new Map(
    names.map((name) => [name, bodyOf(readFileSync(new URL(name, folder)), extname(name), IMMUTABLE)]),
  );
}

function bodyOf(content: Uint8Array, extension: string, cacheControl: string): StaticBody {
  const contentType = CONTENT_TYPES[extension] ?? 'application/octet-stream';
  return new StaticBody(content, gzipSync(content), contentType, cacheControl);
}

function send(body: StaticBody, reply: FastifyReply): void {
  reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
  body.send(reply);
}
