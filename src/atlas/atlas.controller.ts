import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, describeValue } from '../errors.js';
import { IMMUTABLE, StaticBody } from '../http/static-body.js';
import { ModelHealth, type LoadedModel } from '../health/model-health.js';
import { ATLAS_PATH, atlasName } from './atlas-url.js';

/** Who the neurons are and where: a file beside the API that never changes under its address. */
@ApiExcludeController()
@Controller(ATLAS_PATH)
export class AtlasController {
  readonly #bodies = new WeakMap<LoadedModel, ReadonlyMap<string, StaticBody>>();

  constructor(private readonly health: ModelHealth) {}

  @Get(':file')
  atlas(@Param('file') file: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const model = this.health.model();
    const bodies = this.#bodiesOf(model);
    const body = bodies.get(file);
    if (body === undefined) {
      throw new CodedError(
        'NOT_FOUND',
        `There is no atlas ${describeValue(file)}; there are ${[...bodies.keys()].join(' and ')}.`,
      );
    }
    body.send(request, reply);
  }

  #bodiesOf(model: LoadedModel): ReadonlyMap<string, StaticBody> {
    let bodies = this.#bodies.get(model);
    if (bodies === undefined) {
      const { json, jsonGzip, binary, binaryGzip } = model.atlas;
      bodies = new Map([
        [
          atlasName(model.connectome, 'json'),
          new StaticBody(json, jsonGzip, 'application/json; charset=utf-8', IMMUTABLE),
        ],
        [
          atlasName(model.connectome, 'bin'),
          new StaticBody(binary, binaryGzip, 'application/octet-stream', IMMUTABLE),
        ],
      ]);
      this.#bodies.set(model, bodies);
    }
    return bodies;
  }
}
