import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../../engine/get-or-insert.js';
import { gzip } from '../../../workers/pool/gzip.js';
import { Environment } from '../../config/environment.js';
import { API_VERSIONS, apiPath, type ApiVersion } from '../../http/api-versions.js';
import { readOperations } from '../../http/api-operation.js';
import { publicAddress } from '../../http/public-address.js';
import { JSON_TYPE, REVALIDATE, StaticBody } from '../../http/static-body.js';

/** Limit of cached descriptions. A service has few real addresses, and invented Host headers must not fill memory. */
const ADDRESSES = 16;

const ApiOperationOf = readOperations(new URL('./operations.yaml', import.meta.url));

@ApiTags('Descriptions')
@Controller({ path: 'openapi', version: [...API_VERSIONS] })
export class OpenApiController {
  /** By path. */
  readonly #documents = new Map<string, OpenAPIObject>();
  /** By path and by the server URL in the description. */
  readonly #bodies = new LRUCache<string, Promise<StaticBody>>({ max: ADDRESSES });

  constructor(private readonly environment: Environment) {}

  /** Sets a document. It describes the whole application, so it exists only after the application was assembled. */
  publish(version: ApiVersion, document: OpenAPIObject): void {
    this.#documents.set(apiPath(version, 'openapi'), document);
  }

  @Get()
  @ApiOperationOf('getOpenApi')
  async openapi(@Res() reply: FastifyReply): Promise<void> {
    const path = reply.request.routeOptions.url!;
    const url = publicAddress(reply.request, this.environment.PUBLIC_URL);
    // Created once for all concurrent requests.
    const make = () => describedAt(url, this.#documents.get(path)!);
    (await getOrInsert(this.#bodies, `${path} ${url}`, make)).send(reply);
  }
}

/** Compresses off the main thread, because clients may invent any number of addresses. */
async function describedAt(url: string, document: OpenAPIObject): Promise<StaticBody> {
  const json = Buffer.from(JSON.stringify({ ...document, servers: [{ url }] }));
  return new StaticBody(json, await gzip(json), JSON_TYPE, REVALIDATE);
}
