/** A static host as teachers have one: plain files below a path, no cross-origin isolation, no compression. */
import { once } from 'node:events';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const BELOW = '/courses/2026/fly/';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

export interface StaticSite {
  /** Ends with a slash. */
  readonly url: string;
  /** Other files, by their paths in the site; they come before those of the folder. Undefined: not found. */
  readonly files: Map<string, string | Uint8Array | undefined>;
  /** Paths that were asked for. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/** @param port a free one by default */
export async function serveFolder(folder: string, port = 0): Promise<StaticSite> {
  const files: StaticSite['files'] = new Map();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const path = normalize(pathname.slice(BELOW.length) + (pathname.endsWith('/') ? 'index.html' : ''));
    asked.push(path);
    const other = files.get(path);
    const file = typeof other === 'string' ? other : join(folder, path);
    const isThere = pathname.startsWith(BELOW) && !path.startsWith('..') && existsSync(file);
    response.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream');
    if (files.has(path) ? other === undefined : !isThere)
      response.writeHead(404).end('There is no such file.');
    else if (other instanceof Uint8Array) response.end(other);
    else {
      response.setHeader('Content-Length', statSync(file).size);
      createReadStream(file).pipe(response);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BELOW}`,
    files,
    asked,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
