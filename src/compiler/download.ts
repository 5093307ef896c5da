/**
 * Fetches the tables of the release: resumable, with retries, each file checked before it gets its name.
 * Under its own name there is only ever a whole file; what has arrived so far is in FILE.part.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { SourceFile } from '../connectome/connectome.js';
import { CodedError, describeValue } from '../errors.js';
import type { Progress } from './progress.js';
import { TABLE_FILES } from './tables.js';

export const TABLES_URL = 'https://storage.googleapis.com/flywire-data/codex/data/fafb/783';
export const MANIFEST_FILE = 'manifest.json';

const HTTP_OK = 200;
const HTTP_PARTIAL_CONTENT = 206;
const HTTP_RANGE_NOT_SATISFIABLE = 416;
/** Answers that may be another one the next time. */
const PASSING_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);
const MAXIMUM_REDIRECTS = 5;

export interface DownloadedFile extends SourceFile {
  readonly bytes: number;
}

export interface DownloadOptions {
  readonly dir: string;
  readonly baseUrl: string;
  readonly progress: Progress;
  /** Called with a sentence where something happened that a person wants to know. */
  readonly note: (sentence: string) => void;
  /** Digests that the files must have. */
  readonly expected?: readonly SourceFile[];
  /** Attempts in a row that bring no byte beyond those of the attempts before. */
  readonly attempts?: number;
  /** Pause after the first such attempt; it doubles with each. */
  readonly pauseMs?: number;
  /** A connection on which nothing arrives for so long is given up. */
  readonly stallMs?: number;
}

/**
 * Downloads what is not there yet and checks everything.
 * @throws CodedError DOWNLOAD_FAILED with the address and what to do by hand
 */
export async function downloadTables(options: DownloadOptions): Promise<DownloadedFile[]> {
  const { dir, baseUrl, expected } = options;
  const files: DownloadedFile[] = [];
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    throw failed(`The directory ${dir} cannot be created: ${(error as Error).message}.`);
  }
  for (const file of TABLE_FILES) {
    const download = new Download(file, `${baseUrl.replace(/\/+$/, '')}/${file}`, options);
    files.push(await download.run(expected?.find((each) => each.file === file)?.sha256));
  }
  return files;
}

/** @throws CodedError DOWNLOAD_FAILED */
export async function readManifest(path: string): Promise<SourceFile[]> {
  let manifest: { files?: unknown };
  try {
    manifest = JSON.parse(await readFile(path, 'utf8')) as typeof manifest;
  } catch (error) {
    throw failed(`The manifest ${path} cannot be read: ${(error as Error).message}.`);
  }
  const files = Array.isArray(manifest?.files) ? (manifest.files as SourceFile[]) : [];
  for (const file of TABLE_FILES) {
    const sha256: unknown = files.find((each) => each?.file === file)?.sha256;
    if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw failed(
        `The manifest ${path} should have a member files with the sha256 of ${file} in 64 hex digits, found ${describeValue(sha256)}.`,
      );
    }
  }
  return files;
}

/** An attempt that ended without the whole file, but need not have been the last. */
class Interrupted extends Error {}

class Download {
  readonly #path: string;
  readonly #part: string;
  readonly #attempts: number;
  readonly #pauseMs: number;
  readonly #stallMs: number;

  constructor(
    readonly file: string,
    readonly url: string,
    readonly options: DownloadOptions,
  ) {
    this.#path = join(options.dir, file);
    this.#part = `${this.#path}.part`;
    this.#attempts = options.attempts ?? 6;
    this.#pauseMs = options.pauseMs ?? 1000;
    this.#stallMs = options.stallMs ?? 30_000;
  }

  async run(sha256: string | undefined): Promise<DownloadedFile> {
    if ((await sizeOf(this.#path)) > 0) {
      const found = await this.#checked(this.#path);
      if (found === null || (sha256 !== undefined && found.sha256 !== sha256)) {
        const what = found === null ? 'is damaged' : `has the SHA-256 ${found.sha256}, expected ${sha256!}`;
        throw failed(`${this.#path} already exists, but ${what}. Move it away and try again.`);
      }
      this.options.note(`${this.file} already exists.`);
      return found;
    }
    const arrived = (await this.#fetch()) ?? (await this.#fetchAnew());
    if (sha256 !== undefined && arrived.sha256 !== sha256) {
      await rm(this.#part, { force: true });
      throw failed(
        `${this.url} has the SHA-256 ${arrived.sha256}, the manifest expects ${sha256}: it is another version or was altered on the way.`,
      );
    }
    await rename(this.#part, this.#path);
    return arrived;
  }

  /** @returns null where what has arrived in the end is no intact gzip file */
  async #fetch(): Promise<DownloadedFile | null> {
    let idle = 0;
    let furthest = await sizeOf(this.#part);
    for (;;) {
      try {
        await this.#attempt(await sizeOf(this.#part));
        return await this.#checked(this.#part);
      } catch (error) {
        if (!(error instanceof Interrupted)) {
          throw error;
        }
        // A server without ranges begins again each time: to get as far as before is no progress.
        const arrived = await sizeOf(this.#part);
        idle = arrived > furthest ? 0 : idle + 1;
        furthest = Math.max(furthest, arrived);
        if (idle >= this.#attempts) {
          throw failed(`${this.url} cannot be downloaded: ${error.message}. ${this.#byHand()}`);
        }
        this.options.note(`${this.file}: ${error.message}; trying again.`);
        await setTimeout(this.#pauseMs * 2 ** idle);
      }
    }
  }

  /** The parts of two attempts may come from different versions of a file. */
  async #fetchAnew(): Promise<DownloadedFile> {
    this.options.note(`${this.file} arrived damaged; downloading it again from the start.`);
    await rm(this.#part, { force: true });
    const arrived = await this.#fetch();
    if (arrived === null) {
      await rm(this.#part, { force: true });
      throw failed(`${this.url} is not an intact gzip file. ${this.#byHand()}`);
    }
    return arrived;
  }

  /** Appends what is missing to the part. @throws Interrupted where another attempt may help */
  async #attempt(offset: number): Promise<void> {
    const response = await this.#respond(this.url, offset);
    const status = response.statusCode ?? 0;
    if (status === HTTP_RANGE_NOT_SATISFIABLE && offset > 0) {
      response.destroy();
      return;
    }
    if (status !== HTTP_OK && status !== HTTP_PARTIAL_CONTENT) {
      response.destroy();
      if (PASSING_STATUSES.has(status)) {
        throw new Interrupted(`the server answered ${status}`);
      }
      throw failed(`${this.url} cannot be downloaded: the server answered ${status}. ${this.#byHand()}`);
    }
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '');
    const resumes = status === HTTP_PARTIAL_CONTENT && Number(range?.[1]) === offset;
    if (status === HTTP_PARTIAL_CONTENT && !resumes) {
      response.destroy();
      await rm(this.#part, { force: true });
      throw new Interrupted(
        `the server sent ${describeValue(response.headers['content-range'])} when asked for ${offset}-`,
      );
    }
    const begin = resumes ? offset : 0;
    const length = Number(response.headers['content-length'] ?? NaN);
    await this.#receive(response, begin, Number.isNaN(length) ? 0 : begin + length);
  }

  async #receive(response: IncomingMessage, begin: number, total: number): Promise<void> {
    let done = begin;
    this.options.progress.begin(`Downloading ${this.file}`, total, 'bytes', begin);
    try {
      await pipeline(
        response,
        async function* (this: Download, chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            done += chunk.length;
            this.options.progress.reached(done);
            yield chunk;
          }
        }.bind(this),
        createWriteStream(this.#part, { flags: begin > 0 ? 'a' : 'w' }),
      );
    } catch (error) {
      if (isDiskError(error as NodeJS.ErrnoException)) {
        throw failed(`${this.#part} cannot be written: ${(error as Error).message}.`);
      }
      throw new Interrupted(`the connection broke off after ${done} bytes (${(error as Error).message})`);
    }
    if (total > 0 && done !== total) {
      throw new Interrupted(`the server promised ${total} bytes and sent ${done}`);
    }
  }

  /** Node's fetch would inflate a file that is served as an encoding, so the plain client is used. */
  async #respond(url: string, offset: number, redirects = 0): Promise<IncomingMessage> {
    const get = url.startsWith('https:') ? getHttps : getHttp;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'Accept-Encoding': 'gzip', ...(offset > 0 ? { Range: `bytes=${offset}-` } : {}) };
      const request = get(url, { headers }, resolve);
      request.setTimeout(this.#stallMs, () =>
        request.destroy(new Error(`nothing arrived for ${this.#stallMs / 1000} s`)),
      );
      request.on('error', (error: NodeJS.ErrnoException) =>
        // A refused connection has tried several addresses and says so in its code alone.
        reject(new Interrupted(error.message || error.code)),
      );
    });
    const { location } = response.headers;
    if ((response.statusCode ?? 0) < 300 || (response.statusCode ?? 0) >= 400 || location === undefined) {
      return response;
    }
    response.destroy();
    if (redirects === MAXIMUM_REDIRECTS) {
      throw failed(`${this.url} cannot be downloaded: too many redirects. ${this.#byHand()}`);
    }
    return this.#respond(new URL(location, url).href, offset, redirects + 1);
  }

  /** Size and digest of a file whose gzip stream is whole, else null. */
  async #checked(path: string): Promise<DownloadedFile | null> {
    const hash = createHash('sha256');
    const bytes = await sizeOf(path);
    this.options.progress.begin(`Checking ${this.file}`, bytes, 'bytes');
    let inflated = 0;
    try {
      await pipeline(
        createReadStream(path),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createGunzip(),
        new Writable({
          write(chunk: Buffer, _encoding, next) {
            inflated += chunk.length;
            next();
          },
        }),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') === true) {
        return null;
      }
      throw error;
    }
    return inflated === 0 ? null : { file: this.file, bytes, sha256: hash.digest('hex') };
  }

  #byHand(): string {
    return (
      `Download it manually to ${this.#path}, or give a mirror with --base-url; ` +
      'existing files are not downloaded again.'
    );
  }
}

function isDiskError({ code }: NodeJS.ErrnoException): boolean {
  return ['ENOSPC', 'EACCES', 'EROFS', 'EISDIR', 'EDQUOT', 'EIO'].includes(code ?? '');
}

/** 0 where there is no such file. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

function failed(message: string): CodedError {
  return new CodedError('DOWNLOAD_FAILED', message);
}
