import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ModelHealth, perModel } from '../../health/model-health.js';
import { ApiOperationOf } from './operations.js';
import { StaticBody } from '../../http/static-body.js';
import { servedModel } from '../../../experiments/document/served-model.js';

@ApiTags('Descriptions')
@Controller({ path: 'model', version: '2' })
export class ModelV2Controller {
  readonly #bodyOf = perModel(({ connectome }) => StaticBody.json(JSON.stringify(servedModel(connectome))));

  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiOperationOf('getServedModel')
  model(@Res() reply: FastifyReply): void {
    this.#bodyOf(this.health.model()).send(reply);
  }
}
