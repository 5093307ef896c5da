import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CodedError, errorBody, type ErrorBody } from '../../../engine/errors.js';
import { withTimeout } from '../../../workers/pool/with-timeout.js';
import { expectedErrorOf, internalError } from '../../http/error-of.js';
import type { AnswerHead, AnswerPiece } from '../../../experiments/formats/answer.js';
import { contentTypeOf, type Format, TABLE_FORMATS } from '../../../experiments/formats/formats.js';
import { gzip, GZIP_LEVEL } from '../../../workers/pool/gzip.js';
import { acceptsGzip } from '../../http/request-headers.js';

const log = new Logger('experiments');

/** An answer up to this length is sent with a Content-Length, and if it fails, with a status. */
export const HELD_BYTES = 1024 * 1024;

/** Bytes that are produced on demand. */
export type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

/** An answer whose bytes are produced on demand. */
export interface AnswerBytes extends AnswerHead {
  readonly bytes: Bytes;
}

/** A complete answer, or a stream for one that exceeds the limit. */
export type HeldAnswer = { readonly whole: Buffer } | { readonly stream: Bytes };

/** @param over called after the last piece, or if nobody reads on */
export async function* bytesOf(pieces: AsyncIterable<AnswerPiece>, over?: () => void): Bytes {
  try {
    for await (const { bytes } of pieces) yield bytes;
  } finally {
    over?.();
  }
}

/**
 * Collects an answer up to a limit. An answer that ends within it gets a Content-Length. A failure within it gets a
 * status.
 */
export async function holdBeginning(bytes: Bytes, limitBytes: number): Promise<HeldAnswer> {
  const held: Uint8Array[] = [];
  let length = 0;
  while (length <= limitBytes) {
    const next = await bytes.next();
    if (next.done === true) return { whole: Buffer.concat(held, length) };
    held.push(next.value);
    length += next.value.length;
  }
  return { stream: following(Buffer.concat(held, length), bytes) };
}

async function* following(beginning: Uint8Array, rest: Bytes): Bytes {
  yield beginning;
  yield* rest;
}

/** Adds a progress line after each interval in which no other line came. */
export async function* withProgress(lines: Bytes, progress: () => Uint8Array, everyMs: number): Bytes {
  let next = lines.next();
  try {
    for (;;) {
      const line = await withTimeout<Awaited<typeof next> | undefined>(everyMs, next, () => undefined);
      if (line === undefined) {
        yield progress();
      } else if (line.done === true) {
        return;
      } else {
        yield line.value;
        next = lines.next();
      }
    }
  } finally {
    await lines.return();
  }
}

/** If the lines fail, adds a last line with the error, because the status was already sent. */
export async function* withFailureLine(lines: Bytes): Bytes {
  try {
    for (;;) {
      const next = await lines.next().catch((thrown: unknown) => failureLine(thrown));
      if (next instanceof Uint8Array) {
        yield next;
        return;
      }
      if (next.done === true) return;
      // The reader throws here if it has disconnected; that is no failure.
      yield next.value;
    }
  } finally {
    await lines.return();
  }
}

/**
 * Reads an answer in lines.
 * @throws CodedError the failure in its last line
 */
export function linesOf(bytes: Buffer): object[] {
  const lines = bytes.toString().trimEnd().split('\n');
  const read = lines.map((line) => JSON.parse(line) as object);
  const last = read.at(-1) as Partial<ErrorBody>;
  if (last.error !== undefined) throw CodedError.fromFailure({ ...(last as ErrorBody), message: last.error });
  return read;
}

function failureLine(thrown: unknown): Uint8Array {
  const error = expectedErrorOf(thrown) ?? internalError(thrown);
  if (error.code === 'INTERNAL') {
    log.error(`An experiment failed: ${String((thrown as Error).stack ?? thrown)}`);
  }
  return Buffer.from(`${JSON.stringify(errorBody(error))}\n`);
}

const TEXT_FORMATS: readonly Format[] = ['json', 'ndjson', 'csv', 'svg'];

/** Header with the time until the answer begins. */
export function serverTiming(reply: FastifyReply) {
  return { 'server-timing': `total;dur=${reply.elapsedTime.toFixed(2)}` };
}

export async function sendAnswer(held: HeldAnswer, format: Format, reply: FastifyReply): Promise<void> {
  const gzipped = TEXT_FORMATS.includes(format) && acceptsGzip(reply.request);
  const isTable = (TABLE_FORMATS as readonly Format[]).includes(format);
  if ('stream' in held && isTable && reply.request.raw.httpVersion === '1.0') {
    await held.stream.return();
    // Over HTTP/1.0, the end of an answer without a length looks like a broken connection, so half a table would look
    // complete.
    throw new CodedError(
      'NOT_ACCEPTABLE',
      `A table of more than ${HELD_BYTES} bytes is sent only over HTTP/1.1, where its end can be told from a connection ` +
        'that was cut. A proxy in between may need a setting: proxy_http_version 1.1 in nginx.',
    );
  }
  reply.headers({
    'content-type': contentTypeOf(format),
    'cache-control': 'no-store',
    vary: 'Accept, Accept-Encoding',
    // Tells nginx not to buffer the lines, which are for immediate reading.
    ...(format === 'ndjson' && { 'x-accel-buffering': 'no' }),
    ...(gzipped && { 'content-encoding': 'gzip' }),
  });
  if ('whole' in held) {
    reply.send(gzipped ? await gzip(held.whole) : held.whole);
  } else {
    const bytes = Readable.from(held.stream, { objectMode: false });
    const flush = format === 'ndjson' ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH;
    const zip = () => createGzip({ level: GZIP_LEVEL, flush });
    // If the stream fails, Fastify ends the connection; pipeline only requires a callback.
    reply.send(gzipped ? pipeline(bytes, zip(), () => undefined) : bytes);
  }
}
