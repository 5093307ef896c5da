import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CONNECTION_GROUPS } from '../../../connectome/connections.js';
import { ALL_NEURONS, PUBLISHED_PREFIX } from '../../../connectome/set-selector.js';
import { FORMATS, TABLE_FORMATS } from '../../../experiments/formats/formats.js';
import { ModelHealth } from '../../health/model-health.js';
import { ApiEndpoint, component, textHeader } from '../../http/api-operation.js';
import { dtoOf } from '../../http/request-fields.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { siteOf } from '../../limits/client-address.js';
import { Limits } from '../../limits/limits.js';
import { sendAnswer } from './answer-bytes.js';
import { ACCEPT_HEADER } from './experiments.api.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import { answerFormat, linkTo, shortText, wholeNumber, word } from './results-query.js';

const EVERYBODY = PUBLISHED_PREFIX + ALL_NEURONS;
/** Half of what the headers of a request may have: the other end may be as long. */
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

const TABLE = { schema: { type: 'string', description: 'The rows of `connections`, as columns.' } };

const ApiConnections = ApiEndpoint({
  operationId: 'findConnections',
  summary: 'Lists the connections between two sets of neurons.',
  description:
    'How many pairs of neurons are connected, with how many synapses and which sign, by cell types or neuron by neuron. ' +
    'Rows stand in the order of the model: by source, then by target. Those that do not fit into an answer follow on ' +
    'pages, which the header Link names.',
  requestHeaders: ACCEPT_HEADER,
  answers: {
    200: {
      description: 'The connections.',
      headers: {
        Link: textHeader(
          'If rows follow: the query of the next page. `<?format=csv&target=DNp01&from=10000>; rel="next"`',
        ),
        Vary: textHeader('The format follows Accept; text is gzipped where the client accepts that.'),
      },
      content: {
        [FORMATS.json.mediaType]: {
          schema: component('ConnectionList'),
          examples: {
            type: { summary: 'Of ?source=LC4,LPLC2&target=DNp01', value: EXAMPLES.connections },
          },
        },
        ...Object.fromEntries(TABLE_FORMATS.map((name) => [FORMATS[name].mediaType, TABLE])),
      },
    },
  },
  failures: [
    'INVALID_PARAMETER',
    'UNKNOWN_NEURONS',
    'EMPTY_NODE_SET',
    'NOT_ACCEPTABLE',
    'MODEL_LOADING',
    'MODEL_FAILED',
    'QUEUE_FULL',
    'WORKER_LOST',
  ],
  failureDescriptions: {
    INVALID_PARAMETER: {
      example: { error: 'group_by must be one of type, neuron, got "side".' },
    },
    UNKNOWN_NEURONS: {
      meaning: 'The model lacks cell types, sets or root ids that the query names.',
      example: { path: '/source', suggestions: ['LC44', 'LC14b', 'LC24', 'LC34', 'LC4'] },
    },
    EMPTY_NODE_SET: {
      meaning: 'A selector of the query selects no neuron.',
      example: {
        error: 'The selector at /target must select at least one neuron, got none with "DNp01:center".',
        path: '/target',
      },
    },
    NOT_ACCEPTABLE: {
      example: {
        error:
          'Accept must allow application/json, text/csv, application/vnd.apache.arrow.stream or ' +
          'application/vnd.apache.parquet, got "image/png".',
        path: '',
      },
    },
    QUEUE_FULL: {
      meaning: 'Too many questions wait for their turn, of all clients or of this one.',
      example: {
        error: 'The queue is full: 2048 searches of this client wait for their turn; try again shortly.',
      },
    },
  },
});

@ApiTags('Neurons')
@Controller({ path: 'connections', version: '2' })
export class ConnectionsController {
  constructor(
    private readonly health: ModelHealth,
    private readonly limits: Limits,
  ) {}

  @Get()
  @ApiConnections
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
