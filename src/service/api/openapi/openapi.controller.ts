import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../../get-or-insert.js';
import { gzip } from '../../../gzip.js';
import { Environment } from '../../config/environment.js';
import { API_VERSIONS, apiPath, type ApiVersion } from '../../http/api-versions.js';
import { ApiRevalidated } from '../../http/api-operation.js';
import { publicAddress } from '../../http/public-address.js';
import { JSON_TYPE, REVALIDATE, StaticBody } from '../../http/static-body.js';

/** A service has few addresses; those that somebody makes up in Host must not fill memory. */
const ADDRESSES = 16;

@ApiTags('Descriptions')
@Controller({ path: 'openapi', version: [...API_VERSIONS] })
export class OpenApiController {
  /** By path. */
  readonly #documents = new Map<string, OpenAPIObject>();
  /** By path and by the address that the description names. */
  readonly #bodies = new LRUCache<string, Promise<StaticBody>>({ max: ADDRESSES });

  constructor(private readonly environment: Environment) {}

  /** The document describes the whole application, so it exists only after all of it was put together. */
  publish(version: ApiVersion, document: OpenAPIObject): void {
    this.#documents.set(apiPath(version, 'openapi'), document);
  }

  @Get()
  @ApiRevalidated({
    operationId: 'getOpenApi',
    summary: 'Describes the interface.',
    description: 'This document: OpenAPI 3.1 as JSON. /docs displays it in the browser.',
    schema: {
      type: 'object',
      required: ['openapi', 'info', 'paths'],
      properties: {
        openapi: { type: 'string', description: 'Version of OpenAPI.', examples: ['3.1.0'] },
        info: { type: 'object', description: 'Title, version and rules of the interface.' },
        servers: {
          type: 'array',
          description:
            'Base URL of the service: PUBLIC_URL if the service sets it, otherwise the address of the request.',
          items: { type: 'object' },
        },
        security: {
          type: 'array',
          description: 'Empty: there are no credentials.',
          items: { type: 'object' },
        },
        tags: { type: 'array', description: 'Groups of operations.', items: { type: 'object' } },
        paths: { type: 'object', description: 'All operations.' },
        components: { type: 'object', description: 'The schemas that operations refer to.' },
      },
      additionalProperties: false,
    },
    failures: [],
  })
  async openapi(@Res() reply: FastifyReply): Promise<void> {
    const path = reply.request.routeOptions.url!;
    const url = publicAddress(reply.request, this.environment.PUBLIC_URL);
    // Made once for all who ask at the same time.
    const make = () => describedAt(url, this.#documents.get(path)!);
    (await getOrInsert(this.#bodies, `${path} ${url}`, make)).send(reply);
  }
}

/** Compressed off the main thread, because whoever asks may name any address. */
async function describedAt(url: string, document: OpenAPIObject): Promise<StaticBody> {
  const json = Buffer.from(JSON.stringify({ ...document, servers: [{ url }] }));
  return new StaticBody(json, await gzip(json), JSON_TYPE, REVALIDATE);
}
