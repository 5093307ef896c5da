import { gzipSync } from 'node:zlib';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelHealth, type LoadedModel } from '../health/model-health.js';
import type { ApiVersion } from '../http/api-versions.js';
import { ApiDescription } from '../http/api-description.js';
import { REVALIDATE, StaticBody } from '../http/static-body.js';
import { Model } from '../answers/v1/api/model.dto.js';
import { atlasUrl } from '../atlas/atlas-url.js';
import { describeModel } from '../answers/v1/api/model-description.js';

@ApiTags('Descriptions')
@ApiExtraModels(Model)
@Controller({ path: 'model', version: '1' satisfies ApiVersion })
export class ModelController {
  readonly #bodies = new WeakMap<LoadedModel, StaticBody>();

  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiDescription({
    operationId: 'getModel',
    summary: 'Describes the model.',
    description:
      'The source of the wiring, the available stimuli, the channels and drives, all constants and limits, and the ' +
      'limitations of the model.',
    schema: { $ref: getSchemaPath(Model) },
    failures: ['MODEL_LOADING', 'MODEL_FAILED'],
  })
  model(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#bodyOf(this.health.model()).send(request, reply);
  }

  #bodyOf(model: LoadedModel): StaticBody {
    let body = this.#bodies.get(model);
    if (body === undefined) {
      const json = Buffer.from(JSON.stringify(describeModel(model.connectome, atlasUrl(model.connectome))));
      body = new StaticBody(json, gzipSync(json), 'application/json; charset=utf-8', REVALIDATE);
      this.#bodies.set(model, body);
    }
    return body;
  }
}
