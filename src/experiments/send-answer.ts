import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip as gzipCallback, type ZlibOptions } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FORMATS, type Format } from '../answers/v2/formats/formats.js';
import { acceptsGzip } from '../http/content-encoding.js';
import type { HeldAnswer } from './answer-bytes.js';

const gzip = promisify(gzipCallback);
/** As for runs: further levels take much longer and save little. */
const GZIP_LEVEL = 3;
const TEXT_FORMATS: readonly Format[] = ['json', 'ndjson', 'csv'];

/** Sends the bytes of an answer; text is gzipped where the client accepts that. */
export async function sendAnswer(
  held: HeldAnswer,
  format: Format,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { mediaType, parameters } = FORMATS[format];
  const gzipped = TEXT_FORMATS.includes(format) && acceptsGzip(request);
  reply.headers({
    'content-type': mediaType + parameters,
    'cache-control': 'no-store',
    vary: 'Accept, Accept-Encoding',
    'x-backend': 'cpu',
    'server-timing': `total;dur=${reply.elapsedTime.toFixed(2)}`,
    // A proxy that collects lines would take away what they are for.
    ...(format === 'ndjson' && { 'x-accel-buffering': 'no' }),
    ...(gzipped && { 'content-encoding': 'gzip' }),
  });
  if ('whole' in held) {
    reply.send(gzipped ? await gzip(held.whole, { level: GZIP_LEVEL }) : held.whole);
  } else {
    const bytes = Readable.from(held.stream, { objectMode: false });
    // Fastify ends the connection over a stream that fails; the callback is there because pipeline wants one.
    reply.send(gzipped ? pipeline(bytes, createGzip(gzipOptions(format)), () => undefined) : bytes);
  }
}

function gzipOptions(format: Format): ZlibOptions {
  return { level: GZIP_LEVEL, ...(format === 'ndjson' && { flush: constants.Z_SYNC_FLUSH }) };
}
