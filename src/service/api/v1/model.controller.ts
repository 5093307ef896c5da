import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ModelHealth, perModel } from '../../health/model-health.js';
import type { ApiVersion } from '../../http/api-versions.js';
import { ApiRevalidated, component } from '../../http/api-operation.js';
import { StaticBody } from '../../http/static-body.js';
import { atlasUrl } from '../atlas/atlas.controller.js';
import { describeModel } from './model-description.js';

@ApiTags('Descriptions')
@Controller({ path: 'model', version: '1' satisfies ApiVersion })
export class ModelController {
  readonly #bodyOf = perModel(({ connectome }) =>
    StaticBody.json(JSON.stringify(describeModel(connectome, atlasUrl(connectome)))),
  );

  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiRevalidated({
    operationId: 'getModel',
    summary: 'Describes the model.',
    description:
      'The source of the wiring, the available stimuli, the channels and drives, all constants and limits, and the ' +
      'limitations of the model.',
    schema: component('Model'),
    failures: ['MODEL_LOADING', 'MODEL_FAILED'],
  })
  model(@Res() reply: FastifyReply): void {
    this.#bodyOf(this.health.model()).send(reply);
  }
}
