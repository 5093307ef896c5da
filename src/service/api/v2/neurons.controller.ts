import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { FORMATS } from '../../../experiments/formats/formats.js';
import { ModelHealth, type LoadedModel } from '../../health/model-health.js';
import { siteOf } from '../../limits/client-address.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { sendAnswer } from './answer-bytes.js';
import { answerFormat, shortText, wholeNumber, word } from './results-query.js';
import { ApiEndpoint, component, textHeader, ApiRevalidated } from '../../http/api-operation.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import { getOrBegin } from '../../../get-or-insert.js';
import type { NeuronPatterns } from '../../../connectome/neuron-search.js';
import { text } from '../../../schema/json-schema.js';
import { LABELS } from '../../../connectome/neuron-index.js';
import { NAMED_SIDES } from '../../../connectome/set-selector.js';
import { dtoOf } from '../../http/request-fields.js';
import { StaticBody } from '../../http/static-body.js';

const ApiNeurons = ApiEndpoint({
  operationId: 'findNeurons',
  summary: 'Finds neurons by their labels or root ids.',
  description:
    'Neurons that have all labels that are given, or those with given ids, with their number by type and side. Where ' +
    'no neuron has a label, the answer is empty and suggests names that come near.',
  requestHeaders: {
    Accept: textHeader('application/json or text/csv, with weights; `format` overrides it.'),
  },
  answers: {
    200: {
      description: 'The neurons.',
      headers: {
        Vary: textHeader('The format follows Accept; the body is gzipped where the client accepts that.'),
      },
      content: {
        [FORMATS.json.mediaType]: {
          schema: component('NeuronSearch'),
          examples: { type: { summary: 'Of ?type=DNp01', value: EXAMPLES.neurons } },
        },
        [FORMATS.csv.mediaType]: {
          schema: {
            type: 'string',
            description: 'A row for each neuron: root_id, type, class, sub_class, super_class, side.',
          },
        },
      },
    },
  },
  failures: ['INVALID_PARAMETER', 'NOT_ACCEPTABLE', 'MODEL_LOADING', 'MODEL_FAILED'],
  failureDescriptions: {
    INVALID_PARAMETER: { example: { error: 'limit must be an integer from 0 to 10000, got "all".' } },
    NOT_ACCEPTABLE: {
      example: { error: 'Accept must allow application/json or text/csv, got "image/png".', path: '' },
    },
  },
});

/** In characters. The longest label of release 783 has 31. */
const LONGEST_PATTERN = 100;
/** Some 4 kB of a request's line, of which proxies take 8 kB. */
const MAX_IDS = 200;
export const DEFAULT_LIMIT = 1000;
const LARGEST_LIMIT = 10_000;
const SEARCH_FORMATS = ['json', 'csv'] as const;

function pattern(what: string, example: string) {
  return shortText(LONGEST_PATTERN, { description: `${what}; * stands for any text.`, examples: [example] });
}

/** The query of GET /api/v2/neurons. All that is given must agree. */
export class NeuronQuery extends dtoOf({
  root_id: text(undefined, {
    description:
      `Root ids with commas between them, ${MAX_IDS} at most: finds those of these neurons that have the labels. ` +
      'Ids that the model lacks are members of `suggestions`, with none.',
    examples: ['720575940622838154,720575940632499757'],
    allowed: `1 to ${MAX_IDS} ids of 1 to ${LONGEST_PATTERN} characters, with commas between them, given once`,
    accepts: (value) => typeof value === 'string' && isListOfIds(value.split(',')),
  }),
  type: pattern('Cell type', 'LC4'),
  class: pattern('Class', 'gustatory'),
  sub_class: pattern('Sub-class', 'bitter'),
  super_class: pattern('Super-class', 'descending'),
  side: word(NAMED_SIDES, 'Side of the neuron.', 'left'),
  format: word(SEARCH_FORMATS, 'Format of the answer. It decides over Accept.', 'csv'),
  from: wholeNumber(999_999, 0, 'Lists neurons from this one on, in the order of the model.'),
  limit: wholeNumber(
    LARGEST_LIMIT,
    DEFAULT_LIMIT,
    'Lists so many neurons at most. Counts are of all that match.',
  ),
}) {}

/** The labels and ids that are given. */
function patternsOf(query: NeuronQuery): NeuronPatterns {
  const given = LABELS.filter((label) => query[label] !== undefined);
  const labels = Object.fromEntries(given.map((label) => [label, query[label]!]));
  return { ...labels, ...(query.root_id !== undefined && { root_id: query.root_id.split(',') }) };
}

function isListOfIds(ids: readonly string[]): boolean {
  return ids.length <= MAX_IDS && ids.every((id) => id.length > 0 && id.length <= LONGEST_PATTERN);
}

@ApiTags('Neurons')
@Controller({ path: 'neurons', version: '2' })
export class NeuronsController {
  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiNeurons
  async neurons(@Query() query: NeuronQuery, @Res() reply: FastifyReply): Promise<void> {
    const { request } = reply;
    const format = answerFormat(query.format, request, SEARCH_FORMATS);
    const { experiments } = this.health.model();
    const search = {
      patterns: patternsOf(query),
      from: Number(query.from ?? 0),
      limit: Number(query.limit ?? DEFAULT_LIMIT),
      format,
    };
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
  @ApiRevalidated({
    operationId: 'getNodeSets',
    summary: 'Lists the sets of neurons that a selector can name.',
    description:
      'Published lists of neurons with their sources, and the channels and stimuli of version 1. A selector names them ' +
      'as given here, such as "@sugar".',
    schema: component('NodeSetList'),
    failures: ['MODEL_LOADING', 'MODEL_FAILED'],
  })
  async nodeSets(@Res() reply: FastifyReply): Promise<void> {
    const model = this.health.model();
    const body = await getOrBegin(this.#bodies, model, async ({ experiments }) =>
      StaticBody.json(await experiments.query(siteOf(reply.request), (work) => work.call('nodeSets'))),
    );
    body.send(reply);
  }
}
