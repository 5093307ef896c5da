/**
 * Downloads the tables of a data set, with retries, and resumes after an interruption. FILE.part has the bytes so far; a
 * file is checked before it is renamed to FILE. So FILE is always complete.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { SourceFile } from '../../engine/connectome/connectome.js';
import { CodedError, describeValue } from '../../engine/errors.js';
import type { PublishedFile } from './dataset.js';
import type { Progress } from './progress.js';

export const MANIFEST_FILE = 'manifest.json';

const [OK, PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE] = [200, 206, 416];
/** Statuses of temporary failures. */
const PASSING_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);
const MAX_REDIRECTS = 5;
const HERE = 'Mount a directory there that can be written to, or name another one with --out';

export interface DownloadedFile extends SourceFile {
  readonly bytes: number;
  /** The published digest, if that of the file differs. */
  readonly published?: string;
}

/** A file as published. A manifest of an earlier download lists only its name and digest. */
export type ExpectedFile = Partial<PublishedFile> & Pick<PublishedFile, 'file'>;

export interface DownloadOptions {
  readonly dir: string;
  readonly baseUrl: string;
  readonly progress: Progress;
  /** Called with a sentence for the user, such as on a retry. */
  readonly note: (sentence: string) => void;
  /** The sizes and digests that the files must have. */
  readonly files: readonly ExpectedFile[];
  /** Accepts files whose digest or size is not the expected one. */
  readonly allowChanged?: boolean;
  /** Number of successive attempts without a new byte after which the download fails. */
  readonly attempts?: number;
  /** Half of the pause after the first such attempt; the pause doubles each time. */
  readonly pauseMs?: number;
  /** A connection without data for this time is closed. */
  readonly stallMs?: number;
}

/**
 * Downloads the missing files and checks all of them.
 * @throws CodedError DOWNLOAD_FAILED with the address and advice
 */
export async function downloadTables(options: DownloadOptions): Promise<DownloadedFile[]> {
  const { dir } = options;
  try {
    await mkdir(dir, { recursive: true });
  } catch (error) {
    throw failed(`The directory ${dir} cannot be created: ${(error as Error).message}. ${HERE}.`);
  }
  const files: DownloadedFile[] = [];
  for (const file of options.files) files.push(await new Download(file, options).run());
  return files;
}

/**
 * The files with the digests of a manifest instead of the published ones.
 * @throws CodedError DOWNLOAD_FAILED
 */
export async function readManifest(path: string, files: readonly ExpectedFile[]): Promise<SourceFile[]> {
  let manifest: { files?: unknown };
  try {
    manifest = JSON.parse(await readFile(path, 'utf8')) as typeof manifest;
  } catch (error) {
    throw failed(`The manifest ${path} cannot be read: ${(error as Error).message}.`);
  }
  const listed = Array.isArray(manifest?.files) ? (manifest.files as SourceFile[]) : [];
  return files.map(({ file }) => {
    const sha256: unknown = listed.find((each) => each?.file === file)?.sha256;
    if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw failed(
        `The manifest ${path} should have a member files with the sha256 of ${file} in 64 hex digits, found ${describeValue(sha256)}.`,
      );
    }
    return { file, sha256 };
  });
}

/** An attempt ended before the file was complete; another attempt may succeed. */
class Interrupted extends Error {}

class Download {
  readonly #url: string;
  readonly #path: string;
  readonly #part: string;
  readonly file: string;

  constructor(
    readonly expected: ExpectedFile,
    readonly options: DownloadOptions,
  ) {
    const { file } = expected;
    this.file = file;
    this.#url = `${options.baseUrl.replace(/\/+$/, '')}/${file}`;
    this.#path = join(options.dir, file);
    this.#part = `${this.#path}.part`;
  }

  async run(): Promise<DownloadedFile> {
    const { sha256 } = this.expected;
    if ((await sizeOf(this.#path)) > 0) {
      const found = await this.#checked(this.#path);
      if (found === null || this.#isRefused(found)) {
        const what = found === null ? 'is damaged' : `has the SHA-256 ${found.sha256}, expected ${sha256!}`;
        const taking = found === null ? '' : ', or take it as it is with --allow-changed';
        throw failed(`${this.#path} already exists, but ${what}. Move it away and try again${taking}.`);
      }
      this.options.note(`${this.file} already exists.`);
      return this.#noted(found);
    }
    for (let isLast = false; ; isLast = true) {
      const isResumed = (await sizeOf(this.#part)) > 0;
      await this.#fetch();
      const arrived = await this.#checked(this.#part);
      if (arrived !== null && !this.#isRefused(arrived)) {
        await rename(this.#part, this.#path);
        return this.#noted(arrived);
      }
      await rm(this.#part, { force: true });
      // The parts of two attempts may come from different versions of a file.
      if (!isLast && (arrived === null || isResumed)) {
        this.options.note(`${this.file} arrived damaged; downloading it again from the start.`);
        continue;
      }
      throw arrived === null
        ? this.#failed(`is not an intact ${this.file.endsWith('.gz') ? 'gzip ' : ''}file`)
        : this.#changed(`has the SHA-256 ${arrived.sha256}, expected ${sha256!}`);
    }
  }

  #isRefused({ sha256 }: SourceFile): boolean {
    const { sha256: expected = sha256 } = this.expected;
    return sha256 !== expected && this.options.allowChanged !== true;
  }

  #noted(file: DownloadedFile): DownloadedFile {
    const { sha256: published = file.sha256 } = this.expected;
    if (file.sha256 === published) return file;
    this.options.note(
      `${this.file} is not the published file: its SHA-256 is ${file.sha256}, expected ${published}.`,
    );
    return { ...file, published };
  }

  /** Completes FILE.part; tries again as long as attempts bring new bytes. */
  async #fetch(): Promise<void> {
    const { attempts = 6, pauseMs = 1000, note } = this.options;
    let furthest = await sizeOf(this.#part);
    for (let idle = 0; ;) {
      try {
        await this.#attempt(await sizeOf(this.#part));
        return;
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        // A server without range requests starts from the first byte each time, so only bytes beyond `furthest` count.
        const arrived = await sizeOf(this.#part);
        idle = arrived > furthest ? 0 : idle + 1;
        furthest = Math.max(furthest, arrived);
        if (idle >= attempts) throw this.#failed(`cannot be downloaded: ${error.message}`);
        note(`${this.file}: ${error.message}; trying again.`);
        await setTimeout(pauseMs * 2 ** idle);
      }
    }
  }

  /** Appends the missing bytes to FILE.part. @throws Interrupted if another attempt may help */
  async #attempt(offset: number): Promise<void> {
    const response = await this.#respond(this.#url, offset);
    const { statusCode: status = 0, headers } = response;
    const range = headers['content-range'];
    const resumes = status === PARTIAL_CONTENT && Number(/^bytes (\d+)-/.exec(range ?? '')?.[1]) === offset;
    if (resumes || status === OK) {
      await this.#receive(response, resumes ? offset : 0);
      return;
    }
    response.destroy();
    if (status === RANGE_NOT_SATISFIABLE && offset > 0) return;
    if (status === PARTIAL_CONTENT) {
      await rm(this.#part, { force: true });
      throw new Interrupted(`the server sent ${describeValue(range)} when asked for ${offset}-`);
    }
    if (PASSING_STATUSES.has(status)) throw new Interrupted(`the server answered ${status}`);
    throw this.#failed(`cannot be downloaded: the server answered ${status}`);
  }

  async #receive(response: IncomingMessage, begin: number): Promise<void> {
    const { progress } = this.options;
    const length = response.headers['content-length'];
    const total = length === undefined ? 0 : begin + Number(length);
    const { bytes = total } = this.expected;
    if (total > 0 && total !== bytes && this.options.allowChanged !== true) {
      response.destroy();
      throw this.#changed(`has ${total} bytes, expected ${bytes}`);
    }
    let done = begin;
    progress.begin(`Downloading ${this.file}`, total, 'bytes', begin);
    // The server may not have sent a length.
    const most = this.options.allowChanged === true ? Infinity : (this.expected.bytes ?? Infinity);
    response.on('data', (chunk: Buffer) => {
      progress.reached((done += chunk.length));
      if (done > most) response.destroy(this.#changed(`has more than the expected ${most} bytes`));
    });
    try {
      await pipeline(response, createWriteStream(this.#part, { flags: begin > 0 ? 'a' : 'w' }));
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (error instanceof CodedError) {
        await rm(this.#part, { force: true });
        throw error;
      }
      if (DISK_ERRORS.has(code)) throw failed(`${this.#part} cannot be written: ${message}. ${HERE}.`);
      throw new Interrupted(`the connection broke off after ${done} bytes (${message})`);
    }
    if (total > 0 && done !== total) {
      throw new Interrupted(`the server promised ${total} bytes and sent ${done}`);
    }
  }

  /** Uses node:http, because fetch decompresses a .gz file that is sent with Content-Encoding: gzip. */
  async #respond(url: string, offset: number, redirects = 0): Promise<IncomingMessage> {
    const { stallMs = 30_000 } = this.options;
    const get = url.startsWith('https:') ? getHttps : getHttp;
    const headers = { 'Accept-Encoding': 'gzip', ...(offset > 0 && { Range: `bytes=${offset}-` }) };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = get(url, { headers, timeout: stallMs }, resolve);
      request.on('timeout', () => request.destroy(new Error(`nothing arrived for ${stallMs / 1000} s`)));
      request.on('error', (error: NodeJS.ErrnoException) =>
        // If several addresses refused the connection, the error has a code but no message.
        reject(new Interrupted(error.message || error.code)),
      );
    });
    const { location } = response.headers;
    if (location === undefined || !/^3/.test(String(response.statusCode))) return response;
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw this.#failed('cannot be downloaded: too many redirects');
    const target = redirectTarget(url, location);
    if (target !== null) return this.#respond(target, offset, redirects + 1);
    const scheme = url.startsWith('https:') ? 'https' : 'http or https';
    throw this.#failed(
      `cannot be downloaded: the server redirects to ${describeValue(location)}, expected an address with ${scheme}`,
    );
  }

  /**
   * Size and digest of a file. Null if it is empty, if gzip finds it damaged, or if its size is wrong and no digest was
   * published.
   */
  async #checked(path: string): Promise<DownloadedFile | null> {
    const hash = createHash('sha256');
    const bytes = await sizeOf(path);
    const { file } = this;
    this.options.progress.begin(`Checking ${file}`, bytes, 'bytes');
    const { bytes: expected = bytes, sha256: published } = this.expected;
    if (published === undefined && bytes !== expected && this.options.allowChanged !== true) return null;
    let content = 0;
    try {
      const read = createReadStream(path).on('data', (chunk) => hash.update(chunk));
      const inflated = file.endsWith('.gz') ? createGunzip() : new PassThrough();
      await pipeline(read, inflated, async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) content += chunk.length;
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') === true) return null;
      throw error;
    }
    return content === 0 ? null : { file, bytes, sha256: hash.digest('hex') };
  }

  #failed(what: string): CodedError {
    return failed(
      `${this.#url} ${what}. Download it manually to ${this.#path}, or give a mirror with --base-url; ` +
        `existing files are not downloaded again. The host to allow is ${new URL(this.#url).host}.`,
    );
  }

  #changed(what: string): CodedError {
    return failed(
      `${this.#url} ${what}: it is another version or was altered on the way. --allow-changed takes it and records that.`,
    );
  }
}

/** @returns the target of a redirect; null if it is no http or https address, or if it leads from https to http */
export function redirectTarget(from: string, location: string): string | null {
  if (!URL.canParse(location, from)) return null;
  const { href, protocol } = new URL(location, from);
  return protocol === 'https:' || (protocol === 'http:' && from.startsWith('http:')) ? href : null;
}

const DISK_ERRORS = new Set(['ENOSPC', 'EACCES', 'EROFS', 'EISDIR', 'EDQUOT', 'EIO']);

/** 0 if there is no such file. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function failed(message: string): CodedError {
  return new CodedError('DOWNLOAD_FAILED', message);
}
