import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ModelHealth, perModel } from '../../health/model-health.js';
import { ApiOperationOf } from './operations.js';
import { StaticBody } from '../../http/static-body.js';
import { describeModel } from '../../../experiments/presets/model-description.js';

@ApiTags('Descriptions')
@Controller({ path: 'model', version: '1' })
export class ModelController {
  readonly #bodyOf = perModel(({ connectome }) => StaticBody.json(JSON.stringify(describeModel(connectome))));

  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiOperationOf('getModel')
  async model(@Res() reply: FastifyReply): Promise<void> {
    await this.#bodyOf(this.health.model()).send(reply);
  }
}
