import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Partners } from '../connectome/partners.js';
import { CodedError, describeValue } from '../errors.js';
import { IMMUTABLE } from '../http/static-body.js';
import { ModelHealth, type LoadedModel } from '../health/model-health.js';
import { ATLAS_PATH, atlasFolder } from './atlas-url.js';
import { cardOfNeuron, cardOfType, type CellCard } from './cell-card.js';

/** Who one neuron or type is and with whom it connects. Like the atlas, a card never changes under its address. */
@ApiExcludeController()
@Controller(`${ATLAS_PATH}/:atlas`)
export class CellCardController {
  readonly #partners = new WeakMap<LoadedModel, Partners>();

  constructor(private readonly health: ModelHealth) {}

  @Get('neurons/:index')
  neuron(@Param('atlas') atlas: string, @Param('index') index: string, @Res() reply: FastifyReply): void {
    const model = this.#modelOf(atlas);
    const neuron = indexIn(model.connectome.neuronCount, index, 'neuron');
    this.#send(cardOfNeuron(model.connectome, this.#partnersOf(model), neuron), reply);
  }

  @Get('types/:index')
  type(@Param('atlas') atlas: string, @Param('index') index: string, @Res() reply: FastifyReply): void {
    const model = this.#modelOf(atlas);
    const type = indexIn(model.connectome.metadata.types.length, index, 'type');
    this.#send(cardOfType(model.connectome, this.#partnersOf(model), type), reply);
  }

  #send(card: CellCard, reply: FastifyReply): void {
    reply.header('cache-control', IMMUTABLE).send(card);
  }

  #modelOf(atlas: string): LoadedModel {
    const model = this.health.model();
    const folder = atlasFolder(model.connectome);
    if (atlas !== folder) {
      throw new CodedError('NOT_FOUND', `There is no atlas ${describeValue(atlas)}; there is ${folder}.`);
    }
    return model;
  }

  #partnersOf(model: LoadedModel): Partners {
    let partners = this.#partners.get(model);
    if (partners === undefined) this.#partners.set(model, (partners = new Partners(model.connectome)));
    return partners;
  }
}

function indexIn(count: number, text: string, what: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) < count) return Number(text);
  throw new CodedError(
    'NOT_FOUND',
    `There is no ${what} ${describeValue(text)}; their indices are 0 to ${count - 1}.`,
  );
}
