/** Loads files of the brain: over HTTP, from the cache of the browser, or from a disk in Node. */
import type * as NodeFiles from 'node:fs/promises';
import type { LoadProgress } from '#client';
import { joinedBytes } from '../../src/engine/bytes.js';
import { CodedError } from '../../src/engine/errors.js';
import { fetchInTime } from './fetch-in-time.js';

/** The address of brain.js; the other files of the brain are beside it. A bundler must not follow them. */
export const HERE = import.meta.url;

interface LoadOptions {
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The file of a site's brain, relative to brain.js. */
interface SiteBrain {
  readonly file: string;
}

/**
 * Name of the browser's cache of brains. It holds one of each folder, because others there are older. Sites of one origin
 * share it.
 */
const CACHE = 'brain';
/** The name of a file that holds a digest, so another file has another name. Others are loaded each time. */
const NAMED_BY_CONTENT = /[0-9a-f]{16,}\.connectome(\.gz)?$/;

/** The bytes of a connectome file as it is stored: a site holds its brain compressed. They are not checked yet. */
interface LoadedBrain {
  readonly bytes: ArrayBuffer;
  /** Names the file in errors. */
  readonly source: string;
  /** Stores the file in the browser, if it has a cache. Call it when the bytes are known to be right. */
  readonly keep: () => Promise<void>;
}

/**
 * @param source file or URL; by default the brain that brain.json beside this file names
 * @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID
 */
export async function loadBrain(
  source: string | URL | undefined,
  options: LoadOptions,
): Promise<LoadedBrain> {
  const from = source === undefined ? await brainOfSite(options) : source;
  const url = String(from);
  if (isFile(from)) return { bytes: await loadFile(from, options.signal), source: url, keep: doNothing };
  // A browser offers its cache only on pages with TLS, and may refuse to store.
  const cache = NAMED_BY_CONTENT.test(url)
    ? await globalThis.caches?.open(CACHE).catch(doNothing)
    : undefined;
  const stored = await cache?.match(url);
  if (stored !== undefined) return { bytes: await stored.arrayBuffer(), source: url, keep: doNothing };
  const response = await responseOf(url, options.signal);
  // This copy waits in memory until it is stored.
  const copy = cache && response.clone();
  const keep = async (): Promise<void> => {
    const own = new Request(url);
    for (const other of (await cache?.keys()) ?? [])
      if (folderOf(other) === folderOf(own)) await cache!.delete(other);
    if (copy !== undefined) await cache!.put(own, copy);
  };
  return { bytes: await bytesOf(url, response, options), source: url, keep };
}

function folderOf({ url }: Request): string {
  return new URL('.', url).href;
}

async function doNothing(): Promise<undefined> {}

async function brainOfSite({ signal }: LoadOptions): Promise<URL> {
  const url = new URL('./brain.json', HERE);
  const text = new TextDecoder().decode(await loadFile(url, signal));
  try {
    return new URL((JSON.parse(text) as SiteBrain).file, HERE);
  } catch (error) {
    throw missing(url, error);
  }
}

/** Node, also if it has a `document` for tests, and programs like it; but no page of Electron. */
const { process } = globalThis as {
  readonly process?: { readonly type?: string; readonly versions?: { readonly node?: string } };
};
const IS_NODE = process?.versions?.node !== undefined && process.type !== 'renderer';

/** In Node, paths and file: URLs; in a browser, none. */
function isFile(source: string | URL): boolean {
  return IS_NODE && !/^https?:/.test(String(source));
}

/** @throws CodedError CONNECTOME_MISSING */
export async function loadFile(source: string | URL, signal: AbortSignal | undefined): Promise<ArrayBuffer> {
  if (!isFile(source)) {
    const response = await responseOf(String(source), signal);
    return read(source, signal, response.arrayBuffer());
  }
  const module = 'node:fs/promises';
  const { readFile } = (await import(/* @vite-ignore */ module)) as typeof NodeFiles;
  const path = String(source).startsWith('file:') ? new URL(source) : source;
  return Uint8Array.from(await read(source, signal, readFile(path, { signal }))).buffer;
}

async function responseOf(url: string, signal: AbortSignal | undefined): Promise<Response> {
  const response = await read(url, signal, fetchInTime(url, signal ? { signal } : {}));
  if (!response.ok) throw missing(url, new Error(`the server answered ${response.status}`));
  return response;
}

/** @throws CodedError CONNECTOME_MISSING if reading fails, or the reason of the signal */
async function read<T>(
  source: string | URL,
  signal: AbortSignal | undefined,
  reading: Promise<T>,
): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    signal?.throwIfAborted();
    throw missing(source, error);
  }
}

/** An error of `onProgress` is passed on as it is. */
async function bytesOf(
  url: string,
  response: Response,
  { onProgress, signal }: LoadOptions,
): Promise<ArrayBuffer> {
  if (onProgress === undefined) return read(url, signal, response.arrayBuffer());
  const isEncoded = response.headers.has('content-encoding');
  const length = Number(response.headers.get('content-length'));
  const totalBytes = isEncoded || length === 0 ? undefined : length;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let loadedBytes = 0;
  const reader = response.body!.getReader();
  try {
    for (;;) {
      const { done, value } = await read(url, signal, reader.read());
      if (done) break;
      pieces.push(value);
      loadedBytes += value.length;
      onProgress({ loadedBytes, totalBytes });
    }
  } finally {
    // Without effect at the end.
    void reader.cancel().catch(doNothing);
  }
  return joinedBytes(pieces).buffer;
}

function missing(source: string | URL, cause: unknown): CodedError {
  const message = `The file ${String(source)} cannot be read: ${(cause as Error).message.replace(/\.$/, '')}.`;
  return new CodedError('CONNECTOME_MISSING', message, { cause });
}
