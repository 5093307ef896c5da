import { gzipSync } from 'node:zlib';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelHealth, type LoadedModel } from '../health/model-health.js';
import { REVALIDATE, StaticBody } from '../http/static-body.js';
import { describeModel } from './model-description.js';

@Controller('api/v1/model')
export class ModelController {
  readonly #bodies = new WeakMap<LoadedModel, StaticBody>();

  constructor(private readonly health: ModelHealth) {}

  @Get()
  model(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#bodyOf(this.health.model()).send(request, reply);
  }

  #bodyOf(model: LoadedModel): StaticBody {
    let body = this.#bodies.get(model);
    if (body === undefined) {
      const json = Buffer.from(JSON.stringify(describeModel(model.connectome)));
      body = new StaticBody(json, gzipSync(json), 'application/json; charset=utf-8', REVALIDATE);
      this.#bodies.set(model, body);
    }
    return body;
  }
}
