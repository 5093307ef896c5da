import { gzipSync } from 'node:zlib';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeNodeSets } from '../answers/v2/node-set-list.js';
import { ref } from '../answers/v2/api/schema.js';
import { publishedNodeSets } from '../connectome/node-sets.js';
import { ModelHealth, type LoadedModel } from '../health/model-health.js';
import { ApiDescription } from '../http/api-description.js';
import type { ApiVersion } from '../http/api-versions.js';
import { REVALIDATE, StaticBody } from '../http/static-body.js';

@ApiTags('Neurons')
@Controller({ path: 'node-sets', version: '2' satisfies ApiVersion })
export class NodeSetsController {
  readonly #bodies = new WeakMap<LoadedModel, StaticBody>();

  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiDescription({
    operationId: 'getNodeSets',
    summary: 'Lists the sets of neurons that a selector can name.',
    description:
      'Published lists of neurons with their sources, and the channels and stimuli of version 1. A selector names them ' +
      'as given here, such as "@sugar".',
    schema: ref('NodeSetList'),
    failures: ['MODEL_LOADING', 'MODEL_FAILED'],
  })
  nodeSets(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#bodyOf(this.health.model()).send(request, reply);
  }

  #bodyOf(model: LoadedModel): StaticBody {
    let body = this.#bodies.get(model);
    if (body === undefined) {
      const json = Buffer.from(JSON.stringify(describeNodeSets(model.connectome, publishedNodeSets())));
      body = new StaticBody(json, gzipSync(json), 'application/json; charset=utf-8', REVALIDATE);
      this.#bodies.set(model, body);
    }
    return body;
  }
}
