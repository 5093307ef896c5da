import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../../engine/get-or-insert.js';
import { Environment } from '../../config/environment.js';
import { API_VERSIONS, apiPath, type ApiVersion } from '../../http/api-versions.js';
import { readOperations } from '../../http/api-operation.js';
import { ModelHealth } from '../../health/model-health.js';
import { publicAddress } from '../../http/public-address.js';
import { dtoOf } from '../../http/request-fields.js';
import { StaticBody } from '../../http/static-body.js';
import { inVersion, OPENAPI_QUERY, OPENAPI_VERSIONS } from './openapi-versions.js';

/** Limit of cached descriptions. A service has few real addresses, and invented Host headers must not fill memory. */
const ADDRESSES = 16;

const ApiOperationOf = readOperations(new URL('./operations.yaml', import.meta.url));

class OpenApiQuery extends dtoOf(OPENAPI_QUERY) {}

@ApiTags('Descriptions')
@Controller({ path: 'openapi', version: [...API_VERSIONS] })
export class OpenApiController {
  /** By path. */
  readonly #describe = new Map<string, (channels: readonly string[]) => object>();
  /** JSON without its servers, by path, model, and version of OpenAPI. */
  readonly #descriptions = new Map<string, readonly [before: string, after: string]>();
  /** By path, model, version of OpenAPI, and the server URL in the description. */
  readonly #bodies = new LRUCache<string, StaticBody>({ max: ADDRESSES * OPENAPI_VERSIONS.length });

  constructor(
    private readonly environment: Environment,
    private readonly health: ModelHealth,
  ) {}

  /**
   * Sets the function that makes a description. It is called on request, because it takes longer than the rest of the
   * assembly.
   * @param describe makes the document of a service with these channels of its model
   */
  publish(version: ApiVersion, describe: (channels: readonly string[]) => object): void {
    this.#describe.set(apiPath(version, 'openapi'), describe);
  }

  @Get()
  @ApiOperationOf('getOpenApi')
  async openapi(
    @Query() { version = OPENAPI_QUERY.version.default }: OpenApiQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const path = reply.request.routeOptions.url!;
    const url = publicAddress(reply.request, this.environment.PUBLIC_URL);
    const { state } = this.health;
    // Until the model is loaded, no channel is known.
    const model = state.name === 'ready' ? state.model : undefined;
    const channels = model?.connectome.metadata.channels.map(({ id }) => id) ?? [];
    const key = `${path} ${model?.id} ${version}`;
    const describe = () => aroundServers(inVersion(this.#describe.get(path)!(channels), version));
    const [before, after] = getOrInsert(this.#descriptions, key, describe);
    const make = () => StaticBody.json(`${before}${JSON.stringify([{ url }])}${after}`);
    await getOrInsert(this.#bodies, `${key} ${url}`, make).send(reply);
  }
}

/** Writes the description once, because clients may invent any number of addresses. */
function aroundServers(document: object): [before: string, after: string] {
  const member = '"servers":';
  const [before, after] = JSON.stringify({ ...document, servers: null }).split(`${member}null`);
  return [before! + member, after!];
}
