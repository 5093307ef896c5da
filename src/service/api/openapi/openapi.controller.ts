import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../../engine/get-or-insert.js';
import { gzip } from '../../../workers/pool/gzip.js';
import { Environment } from '../../config/environment.js';
import { API_VERSIONS, apiPath, type ApiVersion } from '../../http/api-versions.js';
import { readOperations } from '../../http/api-operation.js';
import { ModelHealth } from '../../health/model-health.js';
import { publicAddress } from '../../http/public-address.js';
import { JSON_TYPE, REVALIDATE, StaticBody } from '../../http/static-body.js';

/** Limit of cached descriptions. A service has few real addresses, and invented Host headers must not fill memory. */
const ADDRESSES = 16;

const ApiOperationOf = readOperations(new URL('./operations.yaml', import.meta.url));

@ApiTags('Descriptions')
@Controller({ path: 'openapi', version: [...API_VERSIONS] })
export class OpenApiController {
  /** By path. */
  readonly #descriptions = new Map<string, (url: string, channels: readonly string[]) => object>();
  /** By path, model, and the server URL in the description. */
  readonly #bodies = new LRUCache<string, Promise<StaticBody>>({ max: ADDRESSES });

  constructor(
    private readonly environment: Environment,
    private readonly health: ModelHealth,
  ) {}

  /**
   * Sets a description. It describes the whole application, so it exists only after the application was assembled.
   * @param described makes the document of a service with this URL and these channels of its model
   */
  publish(version: ApiVersion, described: (url: string, channels: readonly string[]) => object): void {
    this.#descriptions.set(apiPath(version, 'openapi'), described);
  }

  @Get()
  @ApiOperationOf('getOpenApi')
  async openapi(@Res() reply: FastifyReply): Promise<void> {
    const path = reply.request.routeOptions.url!;
    const url = publicAddress(reply.request, this.environment.PUBLIC_URL);
    const { state } = this.health;
    // Until the model is loaded, no channel is known.
    const model = state.name === 'ready' ? state.model : undefined;
    const channels = model?.connectome.metadata.channels.map(({ id }) => id) ?? [];
    // Created once for all concurrent requests.
    const make = () => bodyOf(this.#descriptions.get(path)!(url, channels));
    (await getOrInsert(this.#bodies, `${path} ${model?.id} ${url}`, make)).send(reply);
  }
}

/** Compresses off the main thread, because clients may invent any number of addresses. */
async function bodyOf(document: object): Promise<StaticBody> {
  const json = Buffer.from(JSON.stringify(document));
  return new StaticBody(json, await gzip(json), JSON_TYPE, REVALIDATE);
}
