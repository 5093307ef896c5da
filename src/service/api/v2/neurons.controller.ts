import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ModelHealth, type LoadedModel } from '../../health/model-health.js';
import { siteOf } from '../../limits/client-address.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { sendAnswer } from './answer-bytes.js';
import { answerFormat, shortText, wholeNumber, word } from './results-query.js';
import { ApiOperationOf } from './experiments.api.js';
import { getOrBegin } from '../../../get-or-insert.js';
import type { NeuronPatterns } from '../../../connectome/neuron-search.js';
import { text } from '../../../schema/json-schema.js';
import { LABELS } from '../../../connectome/neuron-index.js';
import { NAMED_SIDES } from '../../../connectome/set-selector.js';
import { dtoOf } from '../../http/request-fields.js';
import { StaticBody } from '../../http/static-body.js';

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
  @ApiOperationOf('findNeurons')
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
  @ApiOperationOf('getNodeSets')
  async nodeSets(@Res() reply: FastifyReply): Promise<void> {
    const model = this.health.model();
    const body = await getOrBegin(this.#bodies, model, async ({ experiments }) =>
      StaticBody.json(await experiments.query(siteOf(reply.request), (work) => work.call('nodeSets'))),
    );
    body.send(reply);
  }
}
