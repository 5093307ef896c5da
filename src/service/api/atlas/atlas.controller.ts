import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { describeValue, notFound } from '../../../engine/errors.js';
import type { CardSearch } from '../../../workers/thread/messages.js';
import { siteOf } from '../../limits/client-address.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { IMMUTABLE, JSON_TYPE, StaticBody } from '../../http/static-body.js';
import { ModelHealth, perModel } from '../../health/model-health.js';
import {
  ATLAS_IDS,
  ATLAS_MAP,
  ATLAS_PATH,
  ATLAS_START,
  atlasFolder,
} from '../../../engine/connectome/atlas.js';
import { firstPartLength, mapOf } from '../../../engine/connectome/atlas-binary.js';

const BINARY_TYPE = 'application/octet-stream';
const TEXT_TYPE = 'text/plain; charset=utf-8';

interface CardParameters {
  readonly atlas: string;
  readonly index: string;
}

/**
 * Serves the atlas (labels and positions of all neurons) and cards of single neurons and types. Nothing changes under
 * its URL, and it is not part of the API.
 */
@ApiExcludeController()
@Controller(ATLAS_PATH)
export class AtlasController {
  readonly #bodiesOf = perModel(({ connectome, atlas: { json, binary, ids } }) => {
    const files = [
      ['.json', json, JSON_TYPE],
      ['.bin', binary, BINARY_TYPE],
      [ATLAS_START, binary.subarray(0, firstPartLength(binary.buffer)), BINARY_TYPE],
      [ATLAS_MAP, mapOf(binary), BINARY_TYPE],
      [ATLAS_IDS, ids, TEXT_TYPE],
    ] as const;
    const name = atlasFolder(connectome);
    return new Map(
      files.map(([ending, bytes, type]) => [name + ending, new StaticBody(bytes, type, IMMUTABLE)]),
    );
  });

  constructor(private readonly health: ModelHealth) {}

  @Get(':file')
  async atlas(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const bodies = this.#bodiesOf(this.health.model());
    const body = bodies.get(file);
    if (body === undefined) {
      throw notFound(
        `There is no atlas ${describeValue(file)}; there are ${[...bodies.keys()].join(' and ')}.`,
      );
    }
    await body.send(reply);
  }

  @Get(':atlas/neurons/:index')
  neuron(@Param() card: CardParameters, @Res() reply: FastifyReply): Promise<void> {
    return this.#sendCard('neuron', card, reply);
  }

  @Get(':atlas/types/:index')
  type(@Param() card: CardParameters, @Res() reply: FastifyReply): Promise<void> {
    return this.#sendCard('type', card, reply);
  }

  async #sendCard(
    of: CardSearch['of'],
    { atlas, index }: CardParameters,
    reply: FastifyReply,
  ): Promise<void> {
    const { connectome, experiments } = this.health.model();
    const folder = atlasFolder(connectome);
    if (atlas !== folder) {
      throw notFound(`There is no atlas ${describeValue(atlas)}; there is ${folder}.`);
    }
    const count = of === 'neuron' ? connectome.neuronCount : connectome.metadata.types.length;
    if (!/^\d{1,9}$/.test(index) || Number(index) >= count) {
      throw notFound(`There is no ${of} ${describeValue(index)}; their indices are 0 to ${count - 1}.`);
    }
    const card = await withoutIdleLimit(reply.request, () =>
      experiments.query(siteOf(reply.request), (work) => work.call('card', { of, index: Number(index) })),
    );
    reply.header('cache-control', IMMUTABLE).send(card);
  }
}
