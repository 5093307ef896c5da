import { gzipSync } from 'node:zlib';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiDescription } from '../http/api-description.js';
import { REVALIDATE, StaticBody } from '../http/static-body.js';

@ApiTags('Descriptions')
@Controller('api/v1/openapi')
export class OpenApiController {
  #body: StaticBody | undefined;

  /** The document describes the whole application, so it exists only after all of it was put together. */
  publish(document: OpenAPIObject): void {
    const json = Buffer.from(JSON.stringify(document));
    this.#body = new StaticBody(json, gzipSync(json), 'application/json; charset=utf-8', REVALIDATE);
  }

  @Get()
  @ApiDescription({
    operationId: 'getOpenApi',
    summary: 'Describes the interface.',
    description: 'This description: OpenAPI 3.1 in JSON, for programs. For people it is at /docs.',
    schema: {
      type: 'object',
      required: ['openapi', 'info', 'paths'],
      properties: {
        openapi: { type: 'string', description: 'Version of the form.', example: '3.1.0' },
        info: { type: 'object', description: 'Title, version and rules of the interface.' },
        servers: {
          type: 'array',
          description: 'Where it is: on the origin that served this.',
          items: { type: 'object' },
        },
        security: {
          type: 'array',
          description: 'Empty: there are no credentials.',
          items: { type: 'object' },
        },
        tags: { type: 'array', description: 'Groups of operations.', items: { type: 'object' } },
        paths: { type: 'object', description: 'Every operation.' },
        components: { type: 'object', description: 'The schemas that operations refer to.' },
      },
    },
  })
  openapi(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#body!.send(request, reply);
  }
}
