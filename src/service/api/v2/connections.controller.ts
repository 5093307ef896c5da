import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import {
  CONNECTION_FORMATS,
  connectionSearchOf,
  linkTo,
  MAX_LINK_LENGTH,
} from '../../../experiments/formats/queries.js';
import type { CodedError } from '../../../engine/errors.js';
import { ModelHealth } from '../../health/model-health.js';
import { invalid } from '../../../engine/schema/json-path.js';
import { ApiOperationOf } from './operations.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { siteOf } from '../../limits/client-address.js';
import { Limits } from '../../limits/limits.js';
import { sendAnswer } from './answer-bytes.js';
import { answerFormat, ConnectionQuery } from './queries.js';

@ApiTags('Neurons')
@Controller({ path: 'connections', version: '2' })
export class ConnectionsController {
  constructor(
    private readonly health: ModelHealth,
    private readonly limits: Limits,
  ) {}

  @Get()
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
      else if (format !== 'json' && query.from === undefined) throw noLink();
    }
    await sendAnswer({ whole: Buffer.from(bytes.buffer) }, format, reply);
  }
}

function noLink(): CodedError {
  return invalid(
    [],
    'from must be given: more rows follow than an answer holds, and the query is too long for a Link to them. ' +
      'Begin with from=0.',
  );
}
