import { pipeline, Readable } from 'node:stream';
import { constants, createGzip, type ZlibOptions } from 'node:zlib';
import { Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { withTimeout } from '../../../with-timeout.js';
import { errorBody, expectedErrorOf, internalError } from '../../http/error-of.js';
import { FORMATS, type Format } from '../../../experiments/formats/formats.js';
import { gzip, GZIP_LEVEL } from '../../../gzip.js';
import { acceptsGzip } from '../../http/request-headers.js';

const log = new Logger('experiments');

/** An answer up to this length has a Content-Length, and its failure a status. */
export const HELD_BYTES = 1024 * 1024;

/** Bytes as they are made: the next piece is made when somebody asks for it. */
export type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

/** An answer that is complete, or one that is longer or takes longer than anybody wants to hold. */
export type HeldAnswer = { readonly whole: Buffer } | { readonly stream: Bytes };

/**
 * Collects the beginning of an answer. One that ends within the limit has a length, and a failure until then has a
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

/** Adds a line of progress wherever nothing else has come for a while. */
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

/** Ends lines that fail with a line that says why: their status has left long ago. */
export async function* withFailureLine(lines: Bytes): Bytes {
  try {
    for (;;) {
      const next = await lines.next().catch((thrown: unknown) => failureLine(thrown));
      if (next instanceof Uint8Array) {
        yield next;
        return;
      }
      if (next.done === true) return;
      // An error that is thrown here comes from the reader, who has left: nothing failed.
      yield next.value;
    }
  } finally {
    await lines.return();
  }
}

function failureLine(thrown: unknown): Uint8Array {
  const error = expectedErrorOf(thrown) ?? internalError(thrown);
  if (error.code === 'INTERNAL') {
    log.error(`An experiment failed: ${String((thrown as Error).stack ?? thrown)}`);
  }
  return Buffer.from(`${JSON.stringify(errorBody(error))}\n`);
}

const TEXT_FORMATS: readonly Format[] = ['json', 'ndjson', 'csv'];

/** Time until an answer begins. */
export function serverTiming(reply: FastifyReply) {
  return { 'server-timing': `total;dur=${reply.elapsedTime.toFixed(2)}` };
}

export async function sendAnswer(held: HeldAnswer, format: Format, reply: FastifyReply): Promise<void> {
  const { mediaType, parameters } = FORMATS[format];
  const gzipped = TEXT_FORMATS.includes(format) && acceptsGzip(reply.request);
  reply.headers({
    'content-type': mediaType + parameters,
    'cache-control': 'no-store',
    vary: 'Accept, Accept-Encoding',
    // A proxy that collects lines would take away what they are for.
    ...(format === 'ndjson' && { 'x-accel-buffering': 'no' }),
    ...(gzipped && { 'content-encoding': 'gzip' }),
  });
  if ('whole' in held) {
    reply.send(gzipped ? await gzip(held.whole) : held.whole);
  } else {
    const bytes = Readable.from(held.stream, { objectMode: false });
    // Fastify ends the connection over a stream that fails; the callback is there because pipeline wants one.
    reply.send(gzipped ? pipeline(bytes, createGzip(gzipOptions(format)), () => undefined) : bytes);
  }
}

function gzipOptions(format: Format): ZlibOptions {
  return { level: GZIP_LEVEL, ...(format === 'ndjson' && { flush: constants.Z_SYNC_FLUSH }) };
}
