import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CodedError, describeValue } from '../../../errors.js';
import type { CardSearch } from '../../../scheduling/experiment-thread/messages.js';
import { siteOf } from '../../limits/client-address.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { IMMUTABLE, JSON_TYPE, StaticBody } from '../../http/static-body.js';
import { ModelHealth, perModel } from '../../health/model-health.js';
import { ATLAS_VERSION } from '../../../connectome/atlas.js';
import { firstPartLength } from '../../../connectome/atlas-binary.js';
import type { Connectome } from '../../../connectome/connectome.js';

const ATLAS_PATH = 'atlas';
const BINARY_TYPE = 'application/octet-stream';
/** End of the address of the part that is drawn first. */
const START = '-start.bin';
const DIGEST_CHARACTERS = 32;

/** The atlas depends only on the connectome and on its own layout, so its URL contains the versions of both. */
function atlasFolder({ digest }: Connectome): string {
  return `${digest.slice(0, DIGEST_CHARACTERS)}-${ATLAS_VERSION}`;
}

/** Path of the description of all neurons. */
export function atlasUrl(connectome: Connectome): string {
  return `/${ATLAS_PATH}/${atlasFolder(connectome)}.json`;
}

/** Path of the part of the compact atlas that is drawn first. */
export function atlasStartUrl(connectome: Connectome): string {
  return `/${ATLAS_PATH}/${atlasFolder(connectome)}${START}`;
}

interface CardParameters {
  readonly atlas: string;
  readonly index: string;
}

/**
 * Who the neurons are and where, and cards of single neurons and types: files beside the API that never change under
 * their addresses.
 */
@ApiExcludeController()
@Controller(ATLAS_PATH)
export class AtlasController {
  readonly #bodiesOf = perModel(({ connectome, atlas }) => {
    const name = atlasFolder(connectome);
    const { json, jsonGzip, binary, binaryGzip, startGzip } = atlas;
    const start = binary.subarray(0, firstPartLength(binary.buffer));
    return new Map([
      [`${name}.json`, new StaticBody(json, jsonGzip, JSON_TYPE, IMMUTABLE)],
      [`${name}.bin`, new StaticBody(binary, binaryGzip, BINARY_TYPE, IMMUTABLE)],
      [`${name}${START}`, new StaticBody(start, startGzip, BINARY_TYPE, IMMUTABLE)],
    ]);
  });

  constructor(private readonly health: ModelHealth) {}

  @Get(':file')
  atlas(@Param('file') file: string, @Res() reply: FastifyReply): void {
    const bodies = this.#bodiesOf(this.health.model());
    const body = bodies.get(file);
    if (body === undefined) {
      throw new CodedError(
        'NOT_FOUND',
        `There is no atlas ${describeValue(file)}; there are ${[...bodies.keys()].join(' and ')}.`,
      );
    }
    body.send(reply);
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
      throw new CodedError('NOT_FOUND', `There is no atlas ${describeValue(atlas)}; there is ${folder}.`);
    }
    const count = of === 'neuron' ? connectome.neuronCount : connectome.metadata.types.length;
    if (!/^\d{1,9}$/.test(index) || Number(index) >= count) {
      throw new CodedError(
        'NOT_FOUND',
        `There is no ${of} ${describeValue(index)}; their indices are 0 to ${count - 1}.`,
      );
    }
    const card = await withoutIdleLimit(reply.request, () =>
      experiments.query(siteOf(reply.request), (work) => work.call('card', { of, index: Number(index) })),
    );
    reply.header('cache-control', IMMUTABLE).send(card);
  }
}
