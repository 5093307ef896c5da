import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../../get-or-insert.js';
import { gzip } from '../../../gzip.js';
import { Environment } from '../../config/environment.js';
import { API_VERSIONS, apiPath, type ApiVersion } from '../../http/api-versions.js';
import { readOperations } from '../../http/api-operation.js';
import { publicAddress } from '../../http/public-address.js';
import { JSON_TYPE, REVALIDATE, StaticBody } from '../../http/static-body.js';

/** A service has few addresses; those that somebody makes up in Host must not fill memory. */
const ADDRESSES = 16;

const { ApiOperationOf } = readOperations(new URL('./operations.yaml', import.meta.url));

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
  @ApiOperationOf('getOpenApi')
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
