import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ModelHealth, type LoadedModel } from '../../health/model-health.js';
import { siteOf } from '../../limits/client-address.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { sendAnswer } from './answer-bytes.js';
import { answerFormat, NeuronQuery } from './queries.js';
import { ApiOperationOf } from './operations.js';
import { getOrBegin } from '../../../engine/get-or-insert.js';
import { neuronSearchOf, SEARCH_FORMATS } from '../../../experiments/formats/queries.js';
import { StaticBody } from '../../http/static-body.js';

@ApiTags('Neurons')
@Controller({ path: 'neurons', version: '2' })
export class NeuronsController {
  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiOperationOf('findNeurons')
  async neurons(@Query() query: NeuronQuery, @Res() reply: FastifyReply): Promise<void> {
    const { request } = reply;
    const format = answerFormat(query.format, request, SEARCH_FORMATS);
    const { experiments } = this.health.model();
    const search = neuronSearchOf(query, format);
    const body = await withoutIdleLimit(request, () =>
      experiments.query(siteOf(request), (work) => work.call('neurons', search)),
    );
    await sendAnswer({ whole: Buffer.from(body.buffer) }, format, reply);
  }
}

@ApiTags('Neurons')
@Controller({ path: 'node-sets', version: '2' })
export class NodeSetsController {
  readonly #bodies = new WeakMap<LoadedModel, Promise<StaticBody>>();

  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiOperationOf('getNodeSets')
  async nodeSets(@Res() reply: FastifyReply): Promise<void> {
    const model = this.health.model();
    const body = await getOrBegin(this.#bodies, model, async ({ experiments }) =>
      StaticBody.json(await experiments.query(siteOf(reply.request), (work) => work.call('nodeSets'))),
    );
    body.send(reply);
  }
}
