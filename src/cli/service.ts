/** A running service as commands use it: through the typed client, with its failures as those of a command. */
import { InterruptedError, NeuralExperimentClient, ServiceError, type RequestOptions } from '#client';
import { decodeAtlas } from '../connectome/atlas-binary.js';
import { CodedError, ERRORS, type ErrorCode } from '../errors.js';
import type { LabelledNeurons } from '../experiments/formats/tables.js';
import type { ProgressLine } from './progress.js';

/** Rate limits are of one minute, and a service that is restarted may be away for some. */
const WAIT_AT_MOST_S = 300;

/** Neurons of the model of a service, by their index and by their id. */
export interface ServiceNeurons extends LabelledNeurons {
  readonly model: string;
  /** @throws CodedError SERVICE_UNREACHABLE where another model is served meanwhile */
  indexOf(id: string): number;
}

export class Service {
  readonly client: NeuralExperimentClient;
  /** Waits as long as the service says, and notes it. */
  readonly patience: RequestOptions;
  readonly #url: string;

  /** @param url origin of the service, with or without a path before /api */
  constructor(url: string, progress: ProgressLine) {
    this.#url = url.replace(/\/+$/, '');
    this.client = new NeuralExperimentClient(url);
    this.patience = {
      waitAtMostS: WAIT_AT_MOST_S,
      onWait: (seconds, { message }) => progress.note(`Waiting ${seconds} s for the service: ${message}`),
    };
  }

  /** @param path below the address of the service */
  at(path: string): string {
    return `${this.#url}/${path}`;
  }

  /** @throws CodedError SERVICE_UNREACHABLE, or the failure that the service names */
  async asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  /** The failure of a request as a command reports it; anything else stays what it is. */
  failureOf(error: unknown): unknown {
    const { name, cause } = error as Error;
    if (error instanceof ServiceError) {
      const { code, message, path } = error;
      return new CodedError(codeOf(code), `${this.#url}: ${message}`, path === undefined ? {} : { path });
    }
    if (error instanceof InterruptedError) {
      const reason = cause === undefined ? '' : ` (${reasonOf(cause as Error)})`;
      return new CodedError('SERVICE_UNREACHABLE', `${this.#url}: ${error.message}${reason}`);
    }
    // fetch throws a TypeError that has a cause; without one it is a bug.
    if (name !== 'TimeoutError' && (name !== 'TypeError' || cause === undefined)) return error;
    return new CodedError(
      'SERVICE_UNREACHABLE',
      `${this.#url} does not answer: ${reasonOf(error as Error)}.`,
    );
  }

  /** Labels of all neurons, and the name of the model that they are of. */
  async neurons(): Promise<ServiceNeurons> {
    const { client, patience } = this;
    const { id: model, atlas_url: url, ...labels } = await this.asked(client.model(patience));
    const bytes = await this.asked(client.bytes(url, patience));
    // The compact form has no ids, but the types in the order of their indices.
    const compact = await this.asked(client.bytes(url.replace(/\.json$/, '.bin'), patience));
    try {
      const { id: ids } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly id: readonly string[] };
      const { types, typeIndices, sides } = decodeAtlas(compact.buffer);
      const indices = new Map(ids.map((id, neuron) => [id, neuron]));
      return {
        model,
        metadata: { types, wiring: labels.wiring, dataset: labels.dataset, release: labels.release },
        typeIndices,
        sides,
        neuronId: (neuron) => ids[neuron]!,
        indexOf: (id) => indices.get(id) ?? this.refuseModel(id),
      };
    } catch (error) {
      throw new CodedError('SERVICE_UNREACHABLE', `The atlas of the service: ${(error as Error).message}`);
    }
  }

  /** @throws CodedError SERVICE_UNREACHABLE: the service was replaced by one of another model */
  refuseModel(lacking: string): never {
    throw new CodedError(
      'SERVICE_UNREACHABLE',
      `The service now serves another model than the one that the answer is of: it does not have ${lacking}.`,
    );
  }
}

/** A newer service may have codes that this command does not know; a proxy has none. */
function codeOf(code: string | undefined): ErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'SERVICE_UNREACHABLE';
}

function reasonOf({ message, cause }: Error): string {
  const reason = (cause as Error | undefined)?.message || message;
  return reason.replace(/\.$/, '');
}
