import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { getOrBegin } from '../../../engine/get-or-insert.js';
import { invalid } from '../../../engine/schema/json-path.js';
import { servedModel } from '../../../experiments/document/served-model.js';
import {
  CONNECTION_FORMATS,
  connectionSearchOf,
  linkTo,
  MAX_LINK_LENGTH,
  neuronSearchOf,
  SEARCH_FORMATS,
} from '../../../experiments/formats/queries.js';
import { type LoadedModel, ModelHealth, perModel } from '../../health/model-health.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { StaticBody } from '../../http/static-body.js';
import { siteOf } from '../../limits/client-address.js';
import { Limits } from '../../limits/limits.js';
import { sendAnswer } from './answer-bytes.js';
import { ApiOperationOf } from './operations.js';
import { answerFormat, ConnectionQuery, NeuronQuery } from './queries.js';

/** Routes that read the model. */
@Controller({ version: '2' })
export class ModelV2Controller {
  readonly #bodyOf = perModel(({ connectome }) => StaticBody.json(JSON.stringify(servedModel(connectome))));
  readonly #nodeSets = new WeakMap<LoadedModel, Promise<StaticBody>>();

  constructor(
    private readonly health: ModelHealth,
    private readonly limits: Limits,
  ) {}

  @Get('model')
  @ApiTags('Descriptions')
  @ApiOperationOf('getServedModel')
  async model(@Res() reply: FastifyReply): Promise<void> {
    await this.#bodyOf(this.health.model()).send(reply);
  }

  @Get('neurons')
  @ApiTags('Neurons')
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

  @Get('node-sets')
  @ApiTags('Neurons')
  @ApiOperationOf('getNodeSets')
  async nodeSets(@Res() reply: FastifyReply): Promise<void> {
    const body = await getOrBegin(this.#nodeSets, this.health.model(), async ({ experiments }) =>
      StaticBody.json(await experiments.query(siteOf(reply.request), (work) => work.call('nodeSets'))),
    );
    await body.send(reply);
  }

  @Get('connections')
  @ApiTags('Neurons')
  @ApiOperationOf('findConnections')
  async connections(@Query() query: ConnectionQuery, @Res() reply: FastifyReply): Promise<void> {
    const { request } = reply;
    const format = answerFormat(query.format, request, CONNECTION_FORMATS);
    const { experiments } = this.health.model();
    const search = connectionSearchOf(query, format, this.limits.ids);
    const { bytes, next } = await withoutIdleLimit(request, () =>
      experiments.query(siteOf(request), async (work) => {
        const stopListening = whenEnded(request, () => work.stop(clientGone()));
        try {
          return await work.call('connections', search);
        } finally {
          stopListening();
        }
      }),
    );
    if (next !== undefined) {
      const header = linkTo(format, query, { from: String(next) });
      if (header.link.length <= MAX_LINK_LENGTH) reply.headers(header);
      // JSON contains the number of rows, and a client that gives from counts rows itself.
      else if (format !== 'json' && query.from === undefined) {
        throw invalid(
          [],
          'from must be given: more rows follow than an answer holds, and the query is too long for a Link to them. ' +
            'Begin with from=0.',
        );
      }
    }
    await sendAnswer({ whole: Buffer.from(bytes.buffer) }, format, reply);
  }
}
