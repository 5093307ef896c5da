import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CONNECTION_GROUPS } from '../../../connectome/connections.js';
import { ALL_NEURONS, PUBLISHED_PREFIX } from '../../../connectome/set-selector.js';
import { TABLE_FORMATS } from '../../../experiments/formats/formats.js';
import { ModelHealth } from '../../health/model-health.js';
import { ApiOperationOf } from './experiments.api.js';
import { dtoOf } from '../../http/request-fields.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { siteOf } from '../../limits/client-address.js';
import { Limits } from '../../limits/limits.js';
import { sendAnswer } from './answer-bytes.js';
import { answerFormat, linkTo, shortText, wholeNumber, word } from './results-query.js';

const EVERYBODY = PUBLISHED_PREFIX + ALL_NEURONS;
/** Less than half of what the headers of a request may have: the other end may be as long. */
const LONGEST_SELECTOR = 6000;
const ROWS_OF_A_PAGE = 10_000;
const CONNECTION_FORMATS = ['json', ...TABLE_FORMATS] as const;

function selector(description: string, example: string) {
  return shortText(LONGEST_SELECTOR, {
    description: `${description}: a selector, or several with commas between them; labels, neighbours and root ids as JSON.`,
    default: EVERYBODY,
    examples: [example],
  });
}

export class ConnectionQuery extends dtoOf({
  source: selector('Neurons that the connections come from', 'LC4:left'),
  target: selector('Neurons that they lead to', 'DNp01'),
  group_by: word(CONNECTION_GROUPS, 'A row for each pair of cell types, or of neurons. By default of types.'),
  format: word(CONNECTION_FORMATS, 'Format of the answer. It decides over Accept.', 'csv'),
  from: wholeNumber(99_999_999, 0, 'Lists rows from this one on.'),
  limit: wholeNumber(ROWS_OF_A_PAGE, ROWS_OF_A_PAGE, 'Lists so many rows at most. Totals are of all.'),
}) {}

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
    const search = {
      source: query.source ?? EVERYBODY,
      target: query.target ?? EVERYBODY,
      groupBy: query.group_by ?? 'type',
      from: Number(query.from ?? 0),
      limit: Number(query.limit ?? ROWS_OF_A_PAGE),
      ids: this.limits.ids,
      format,
    };
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
    if (next !== undefined) reply.headers(linkTo(format, query, { from: String(next) }));
    await sendAnswer({ whole: Buffer.from(bytes.buffer) }, format, reply);
  }
}
