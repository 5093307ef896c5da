import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';
import { describeValue, notFound } from '../../engine/errors.js';
import { getOrBegin } from '../../engine/get-or-insert.js';
import { ModelHealth, perModel } from '../health/model-health.js';
import { withoutIdleLimit } from '../http/request-watch.js';
import { IMMUTABLE } from '../http/static-body.js';

/** Takes 1.1 s for the default brain; the next levels take much longer for a few per cent. */
const BROTLI_QUALITY = 5;
const GZIP_LEVEL = 6;

/** Each encoding is made once, off the main thread. */
const ENCODERS = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: GZIP_LEVEL }),
};
const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];

/** Serves the file of the brain to pages that compute in the tab. Nothing changes under its URL. */
@ApiExcludeController()
@Controller('brain')
export class BrainController {
  /** All sections lie in one buffer, which is the file. One object, so that a client's downloads count once. */
  readonly #fileOf = perModel(({ connectome }) => Buffer.from(connectome.rowStart.buffer));
  readonly #bodiesOf = perModel(() => new Map<string, Promise<Buffer>>());

  constructor(private readonly health: ModelHealth) {}

  @Get(':file')
  async brain(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const model = this.health.model();
    const name = `${model.connectome.digest}.connectome`;
    if (file !== name) {
      throw notFound(`There is no brain ${describeValue(file)}; there is ${name}.`);
    }
    const bytes = this.#fileOf(model);
    const { headers } = reply.request;
    const accepted =
      headers['accept-encoding'] === undefined ? [] : new Negotiator({ headers }).encodings(ENCODINGS);
    const encoding = ENCODINGS.find((each) => accepted.includes(each));
    reply.headers({
      'content-type': 'application/octet-stream',
      'cache-control': IMMUTABLE,
      vary: 'Accept-Encoding',
      ...(encoding && { 'content-encoding': encoding }),
    });
    const encode = () => getOrBegin(this.#bodiesOf(model), encoding!, () => ENCODERS[encoding!](bytes));
    reply.send(encoding === undefined ? bytes : await withoutIdleLimit(reply.request, encode));
  }
}
