import { gzipSync } from 'node:zlib';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { REVALIDATE, StaticBody } from '../http/static-body.js';

@Controller('api/v1/openapi')
export class OpenApiController {
  #body: StaticBody | undefined;

  /** The document describes the whole application, so it exists only after all of it was put together. */
  publish(document: OpenAPIObject): void {
    const json = Buffer.from(JSON.stringify(document));
    this.#body = new StaticBody(json, gzipSync(json), 'application/json; charset=utf-8', REVALIDATE);
  }

  @Get()
  openapi(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#body!.send(request, reply);
  }
}
