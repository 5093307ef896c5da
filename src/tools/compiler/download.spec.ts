import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { until } from '../../../test/support/service-process.js';
import { downloadTables, type DownloadOptions, readManifest, redirectTarget } from './download.js';
import { silent } from './progress.js';

const TABLE_FILES = [
  'neurons',
  'classification',
  'consolidated_cell_types',
  'coordinates',
  'connections',
].map((name) => `${name}.csv.gz`);
const FILES = TABLE_FILES.map((file) => ({ file }));

/** Noise, so that a file is large enough to break off in its middle. */
const noise = Buffer.from(Uint32Array.from({ length: 50_000 }, (_, i) => Math.imul(i, 0x9e3779b1)).buffer);
const CONTENT = Object.fromEntries(
  TABLE_FILES.map((file) => [file, gzipSync(Buffer.concat([Buffer.from(file), noise]))]),
);
const HALF = 60_000;

type Handler = (request: IncomingMessage, response: ServerResponse, file: string, attempt: number) => void;

let server: Server | undefined;
const requests: { file: string; range: string | undefined }[] = [];

/** Serves the tables from a port that the system chooses; one table is served as the test says. */
async function serving(oddFile: string, odd: Handler): Promise<string> {
  requests.length = 0;
  server = createServer((request, response) => {
    const file = request.url!.split('/').at(-1)!;
    requests.push({ file, range: request.headers.range });
    const attempt = requests.filter((each) => each.file === file).length;
    (file === oddFile ? odd : whole)(request, response, file, attempt);
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/codex`;
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A correct server, which supports range requests. */
const whole: Handler = (request, response, file) => {
  const content = CONTENT[file]!;
  const begin = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (begin >= content.length) {
    response.writeHead(416, { 'Content-Range': `bytes */${content.length}` }).end();
    return;
  }
  const headers = { 'Content-Length': content.length - begin };
  response
    .writeHead(begin > 0 ? 206 : 200, {
      ...headers,
      ...(begin > 0 ? { 'Content-Range': `bytes ${begin}-${content.length - 1}/${content.length}` } : {}),
    })
    .end(content.subarray(begin));
};

const ODD = 'coordinates.csv.gz';
/** File to which the current download writes. */
let partFile = '';

/** Sends the first half and closes the connection once the client has written it. Unread bytes would be lost. */
const breaksOff: Handler = (_, response, file) => {
  response.writeHead(200, { 'Content-Length': CONTENT[file]!.length });
  response.write(CONTENT[file]!.subarray(0, HALF));
  void until(() => existsSync(partFile) && statSync(partFile).size === HALF).then(() => response.destroy());
};

async function download(handler: Handler, options: Partial<DownloadOptions> = {}) {
  const baseUrl = await serving(ODD, handler);
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'download-'));
  partFile = join(dir, `${ODD}.part`);
  const notes: string[] = [];
  const files = await downloadTables({
    dir,
    baseUrl,
    files: FILES,
    progress: silent,
    note: (sentence) => notes.push(sentence),
    attempts: 3,
    pauseMs: 1,
    ...options,
  });
  return { dir, baseUrl, notes, files };
}

/** Expects all five files as they are on the server, and nothing else. */
function expectComplete(dir: string): void {
  expect(readdirSync(dir).sort()).toEqual([...TABLE_FILES].sort());
  for (const file of TABLE_FILES) {
    expect(readFileSync(join(dir, file)).equals(CONTENT[file]!)).toBe(true);
  }
}

const rangesOf = (file: string) => requests.filter((each) => each.file === file).map(({ range }) => range);

describe('model:download', () => {
  it('fetches the five tables and tells their size and digest', async () => {
    const { dir, files, notes } = await download(whole);
    expectComplete(dir);
    expect(notes).toEqual([]);
    expect(files).toEqual(
      TABLE_FILES.map((file) => ({
        file,
        bytes: CONTENT[file]!.length,
        sha256: createHash('sha256').update(CONTENT[file]!).digest('hex'),
      })),
    );
  });

  it('keeps the bytes that are there already', async () => {
    const { dir } = await download(whole);
    server!.close();
    const { notes } = await download(whole, { dir });
    expect(requests).toEqual([]);
    expect(notes).toHaveLength(5);
  });

  it('goes on from the byte at which the connection broke', async () => {
    const { dir, notes } = await download((request, response, file, attempt) =>
      (attempt === 1 ? breaksOff : whole)(request, response, file, attempt),
    );
    expectComplete(dir);
    expect(rangesOf(ODD)).toEqual([undefined, `bytes=${HALF}-`]);
    expect(notes).toEqual([
      expect.stringMatching(/^coordinates\.csv\.gz: the connection broke off after 60000 bytes/),
    ]);
  });

  it('goes on from the end of an earlier run', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'download-'));
    writeFileSync(join(dir, `${ODD}.part`), CONTENT[ODD]!.subarray(0, 1234));
    await download(whole, { dir });
    expectComplete(dir);
    expect(rangesOf(ODD)).toEqual(['bytes=1234-']);
  });

  it('takes a part that was complete for the file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'download-'));
    writeFileSync(join(dir, `${ODD}.part`), CONTENT[ODD]!);
    await download(whole, { dir });
    expectComplete(dir);
  });

  it('begins again if the server knows no ranges, or answers another one', async () => {
    const noRanges: Handler = (request, response, file, attempt) => {
      delete request.headers.range;
      (attempt === 1 ? breaksOff : whole)(request, response, file, attempt);
    };
    expectComplete((await download(noRanges)).dir);
    server!.close();
    const otherRange: Handler = (request, response, file, attempt) => {
      if (attempt === 2) {
        response.writeHead(206, { 'Content-Range': 'bytes 7-8/9' }).end('xy');
        return;
      }
      (attempt === 1 ? breaksOff : whole)(request, response, file, attempt);
    };
    expectComplete((await download(otherRange)).dir);
  });

  it('begins again if the part belongs to another version of the file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'download-'));
    writeFileSync(join(dir, `${ODD}.part`), gzipSync(noise).fill(7, 100).subarray(0, 5000));
    const { notes } = await download(whole, { dir });
    expectComplete(dir);
    expect(notes).toEqual([`${ODD} arrived damaged; downloading it again from the start.`]);
  });

  it('waits out a server that fails for a while', async () => {
    const { dir, notes } = await download((request, response, file, attempt) =>
      attempt < 3 ? void response.writeHead(503).end() : whole(request, response, file, attempt),
    );
    expectComplete(dir);
    expect(notes).toEqual(Array(2).fill(`${ODD}: the server answered 503; trying again.`));
  });

  it('is patient with a slow server, not with one that has stopped', async () => {
    const slow: Handler = (_, response, file) => {
      const content = CONTENT[file]!;
      response.writeHead(200, { 'Content-Length': content.length });
      let at = 0;
      const timer = setInterval(() => {
        response.write(content.subarray(at, (at += 8000)));
        if (at >= content.length) {
          clearInterval(timer);
          response.end();
        }
      }, 100);
    };
    // All of it takes longer than the limit, but no piece does.
    expectComplete((await download(slow, { stallMs: 1000 })).dir);
    server!.close();
    const stopped: Handler = (request, response, file, attempt) => {
      if (attempt > 1) {
        whole(request, response, file, attempt);
        return;
      }
      response.writeHead(200, { 'Content-Length': CONTENT[file]!.length });
      response.write(CONTENT[file]!.subarray(0, HALF));
    };
    const { dir, notes } = await download(stopped, { stallMs: 300 });
    expectComplete(dir);
    expect(notes).toEqual([expect.stringContaining('broke off after 60000 bytes')]);
  });

  it('follows a redirect', async () => {
    const { dir } = await download((request, response, file, attempt) =>
      request.url!.startsWith('/mirror')
        ? whole(request, response, file, attempt)
        : void response.writeHead(302, { Location: `/mirror/${file}` }).end(),
    );
    expectComplete(dir);
  });

  it('stops at the expected size of a file whose server gives none and does not end', async () => {
    let sent = 0;
    const endless: Handler = (_, response) => {
      const send = () => {
        while (!response.destroyed && response.write(noise)) sent += noise.length;
      };
      response.on('drain', send);
      send();
    };
    const dir = mkdtempSync(join(tmpdir(), 'download-'));
    const files = [{ file: ODD, bytes: CONTENT[ODD]!.length }];
    await expect(download(endless, { dir, files })).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringContaining(
        `has more than the expected ${files[0]!.bytes} bytes: it is another version`,
      ),
    });
    expect(sent).toBeLessThan(1e8);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('follows no redirect from https into the open', () => {
    expect(redirectTarget('https://a.org/x', 'http://a.org/y')).toBeNull();
    expect(redirectTarget('https://a.org/x', '/y')).toBe('https://a.org/y');
    expect(redirectTarget('http://a.org/x', 'https://b.org/y')).toBe('https://b.org/y');
  });

  it('checks digests against a manifest', async () => {
    const { dir, files } = await download(whole);
    const path = join(dir, 'manifest.json');
    writeFileSync(path, JSON.stringify({ files }));
    const expected = await readManifest(path, FILES);
    server!.close();
    expectComplete((await download(whole, { files: expected })).dir);

    const wrong = expected.map((each) => (each.file === ODD ? { ...each, sha256: 'f'.repeat(64) } : each));
    server!.close();
    const other = mkdtempSync(join(tmpdir(), 'download-'));
    await expect(download(whole, { dir: other, files: wrong })).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringMatching(/coordinates\.csv\.gz has the SHA-256 [0-9a-f]{64}, expected ffff/),
    });
    expect(existsSync(join(other, ODD))).toBe(false);
    expect(existsSync(join(other, `${ODD}.part`))).toBe(false);
  });

  it('refuses a manifest that lacks a table', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'download-')), 'manifest.json');
    writeFileSync(path, '{"files": [{"file": "neurons.csv.gz", "sha256": "abc"}]}');
    await expect(readManifest(path, FILES)).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: `The manifest ${path} should have a member files with the sha256 of neurons.csv.gz in 64 hex digits, found "abc".`,
    });
  });
});

describe('a download that cannot succeed', () => {
  it.each<[string, Handler, RegExp, number]>([
    [
      '404',
      (_, response) => void response.writeHead(404).end('no'),
      /the server answered 404\. Download it manually/,
      1,
    ],
    [
      '500 for ever',
      (_, response) => void response.writeHead(500).end(),
      /the server answered 500\. Download it/,
      3,
    ],
    [
      'redirects in a circle',
      (_, response, file) => void response.writeHead(302, { Location: `/codex/${file}` }).end(),
      /too many redirects/,
      6,
    ],
    ...['ftp://127.0.0.1/x', 'file:///etc/hostname', 'http://'].map(
      (location): [string, Handler, RegExp, number] => [
        `a redirect to ${location}`,
        (_, response) => void response.writeHead(302, { Location: location }).end(),
        /cannot be downloaded: the server redirects to "[^"]+", expected an address with http or https\. Download it/,
        1,
      ],
    ),
    [
      'a promise of more bytes than there are',
      (_, response, file) => {
        // Each attempt after the first gets further than the previous one, but none gets further than the first.
        const part = [1, 0.25, 0.5, 0.75][rangesOf(file).length - 1] ?? 1;
        response.writeHead(200, { 'Content-Length': 10 * CONTENT[file]!.length });
        response.write(CONTENT[file]!.subarray(0, part * CONTENT[file]!.length), () =>
          setTimeout(() => response.destroy(), 100),
        );
      },
      /cannot be downloaded: the connection broke off after/,
      4,
    ],
    [
      'a promise of fewer bytes than there are',
      (request, response, file) => {
        const begin = Number(/\d+/.exec(request.headers.range ?? '0')![0]);
        response
          .writeHead(begin > 0 ? 416 : 200, { 'Content-Length': begin > 0 ? 0 : HALF })
          .end(begin > 0 ? undefined : CONTENT[file]!.subarray(0, HALF));
      },
      /is not an intact gzip file\. Download it manually/,
      2,
    ],
    [
      'a page instead of a table',
      (_, response) => void response.end('<html>'),
      /is not an intact gzip file/,
      2,
    ],
    ['an empty answer', (_, response) => void response.end(), /is not an intact gzip file/, 2],
  ])('%s: one sentence with the address', async (_, handler, message, attempts) => {
    const dir = mkdtempSync(join(tmpdir(), 'download-'));
    const error = (await download(handler, { dir }).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: 'DOWNLOAD_FAILED', message: expect.stringMatching(message) });
    expect(error.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/codex\/coordinates\.csv\.gz /);
    expect(rangesOf(ODD)).toHaveLength(attempts);
    expect(existsSync(join(dir, ODD))).toBe(false);
  });

  it('nobody there', async () => {
    const baseUrl = await serving(ODD, whole);
    await new Promise((resolve) => server!.close(resolve));
    await expect(download(whole, { baseUrl })).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringMatching(
        /neurons\.csv\.gz cannot be downloaded: .*ECONNREFUSED.*\. Download it manually to .*neurons\.csv\.gz/,
      ),
    });
  });

  it('a file of that name that is damaged', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'download-'));
    writeFileSync(join(dir, ODD), CONTENT[ODD]!.subarray(0, 500));
    await expect(download(whole, { dir })).rejects.toMatchObject({
      message: `${join(dir, ODD)} already exists, but is damaged. Move it away and try again.`,
    });
  });
});
