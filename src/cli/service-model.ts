/** The model of a running service as commands need it: what it is called, and what its neurons are. */
import { type CompactAtlas, decodeAtlas } from '../connectome/atlas-binary.js';
import { CodedError } from '../errors.js';
import { parsedBody, type ServiceClient } from './service-client.js';

const MODEL_PATH = 'api/v1/model';

/** The neurons in the order of their indices. */
export interface ServiceNeurons extends Pick<CompactAtlas, 'types' | 'typeIndices' | 'sides'> {
  readonly ids: readonly string[];
}

/** @param Body members of GET /api/v1/model that are needed; atlas_url is one of them */
export class ServiceModel<Body extends { readonly atlas_url: string }> {
  #body: Promise<Body> | undefined;

  constructor(
    private readonly service: ServiceClient,
    private readonly members: readonly (keyof Body & string)[],
  ) {}

  /** Asked once. */
  describe(): Promise<Body> {
    this.#body ??= this.service
      .bytes(MODEL_PATH)
      .then((body) => parsedBody<Body>(MODEL_PATH, body, this.members));
    return this.#body;
  }

  async neurons(): Promise<ServiceNeurons> {
    const path = (await this.describe()).atlas_url.replace(/^\//, '');
    const { id: ids } = parsedBody<{ id: readonly string[] }>(path, await this.service.bytes(path), ['id']);
    // The compact form has no ids, but it has the super classes.
    const { types, typeIndices, sides } = decoded(await this.service.bytes(path.replace(/\.json$/, '.bin')));
    return { ids, types, typeIndices, sides };
  }
}

function decoded(body: Uint8Array<ArrayBuffer>): CompactAtlas {
  try {
    return decodeAtlas(body.buffer);
  } catch (error) {
    throw new CodedError('SERVICE_UNREACHABLE', `The atlas of the service: ${(error as Error).message}`);
  }
}
