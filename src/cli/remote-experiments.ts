import { setTimeout } from 'node:timers/promises';
import { type CompactAtlas, decodeAtlas } from '../connectome/atlas-binary.js';
import { SIDES } from '../connectome/connectome.js';
import type { ChannelKind } from '../connectome/populations.js';
import type { Experiment, View } from '../answers/v1/experiment.js';
import { labelOfType } from '../answers/v1/readout.js';
import { CodedError, ERRORS, describeValue, type ErrorCode } from '../errors.js';
import type { ExperimentSource, ModelSummary, NeuronLabels } from './experiment-source.js';

const TIMEOUT_MS = 60_000;
const LONGEST_WAIT_S = 120;
const MOST_WAITS = 10;

interface ModelBody {
  readonly name: string;
  readonly atlas_url: string;
  readonly channels: readonly { readonly id: string; readonly kind: ChannelKind }[];
}

interface AtlasBody {
  readonly id: readonly string[];
}

/** Runs experiments on a running service. Waits as long as its rate limit says. */
export class RemoteExperiments implements ExperimentSource {
  #model: Promise<ModelBody> | undefined;

  /**
   * @param baseUrl origin of the service, with or without a path before /api/v1
   * @param onWait is called before each wait for the rate limit, with its duration in s
   */
  constructor(
    private readonly baseUrl: string,
    private readonly onWait: (seconds: number) => void,
  ) {}

  async model(): Promise<ModelSummary> {
    const { name, channels } = await this.#describe();
    return { name, kindOf: (channel) => channels.find(({ id }) => id === channel)?.kind };
  }

  async run(experiment: Experiment, view: View): Promise<Uint8Array> {
    const path = `api/v1/run?view=${view}`;
    const body = await this.#fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(experiment),
    });
    parsed(path, body, ['id', 'model', 'spikes', 'channels', 'drive']);
    return body;
  }

  async labels(): Promise<NeuronLabels> {
    const { atlas_url: atlasUrl } = await this.#describe();
    const path = atlasUrl.replace(/^\//, '');
    const { id } = parsed<AtlasBody>(path, await this.#fetch(path), ['id']);
    // The compact form has no ids, but it has the super classes.
    const { types, typeIndices, sides } = decoded(await this.#fetch(path.replace(/\.json$/, '.bin')));
    const typeOf = (i: number) => types[typeIndices[i]!]!;
    return {
      id: (i) => id[i]!,
      type: (i) => typeOf(i).name,
      typeLabel: (i) => labelOfType(typeOf(i)),
      side: (i) => SIDES[sides[i]!]!,
    };
  }

  #describe(): Promise<ModelBody> {
    const path = 'api/v1/model';
    this.#model ??= this.#fetch(path).then((body) =>
      parsed<ModelBody>(path, body, ['name', 'atlas_url', 'channels']),
    );
    return this.#model;
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Uint8Array<ArrayBuffer>> {
    const url = `${this.baseUrl.replace(/\/$/, '')}/${path}`;
    for (let waits = 0; ; waits++) {
      const { response, body } = await this.#answer(url, init);
      if (response.ok) return body;
      const waitS = Number(response.headers.get('retry-after') ?? NaN);
      if (response.status === 429 && waits < MOST_WAITS && waitS >= 0 && waitS <= LONGEST_WAIT_S) {
        this.onWait(waitS);
        await setTimeout(waitS * 1000);
        continue;
      }
      throw errorOf(url, response.status, body);
    }
  }

  async #answer(
    url: string,
    init: RequestInit,
  ): Promise<{ response: Response; body: Uint8Array<ArrayBuffer> }> {
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      return { response, body: new Uint8Array(await response.arrayBuffer()) };
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
      throw new CodedError('SERVICE_UNREACHABLE', `${url} does not answer: ${reason}.`);
    }
  }
}

/** The service's own message if there is one; the answer may come from a different service. */
function errorOf(url: string, status: number, body: Uint8Array): CodedError {
  let error: unknown;
  let code: unknown;
  try {
    ({ error, code } = parsed<{ error: unknown; code?: unknown }>(url, body, ['error']));
  } catch {
    // Not an answer of this service; the status is reported below.
  }
  if (typeof error !== 'string') {
    return new CodedError('SERVICE_UNREACHABLE', `${url} answered ${status}, but is not this service.`);
  }
  const known = typeof code === 'string' && Object.hasOwn(ERRORS, code);
  return new CodedError(known ? (code as ErrorCode) : 'SERVICE_UNREACHABLE', `${url}: ${error}`);
}

function decoded(body: Uint8Array<ArrayBuffer>): CompactAtlas {
  try {
    return decodeAtlas(body.buffer);
  } catch (error) {
    throw new CodedError('SERVICE_UNREACHABLE', `The atlas of the service: ${(error as Error).message}`);
  }
}

/** @throws CodedError SERVICE_UNREACHABLE unless it is an object with these members, as this service sends */
function parsed<T extends object>(path: string, body: Uint8Array, members: readonly (keyof T & string)[]): T {
  const text = new TextDecoder().decode(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CodedError(
      'SERVICE_UNREACHABLE',
      `Expected JSON from the service, found ${describeValue(text)}.`,
    );
  }
  const missing = members.filter((member) => !Object.hasOwn(Object(value) as object, member));
  if (missing.length > 0) {
    throw new CodedError(
      'SERVICE_UNREACHABLE',
      `${path} should have answered with ${missing.join(', ')}, found ${describeValue(text)}.`,
    );
  }
  return value as T;
}
