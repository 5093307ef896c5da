/** Access to a running service for commands. It uses the typed client and turns its failures into errors of commands. */
import { InterruptedError, NeuralExperimentClient, ServiceError, type RequestOptions } from '#client';
import { decodeAtlas } from '../../engine/connectome/atlas-binary.js';
import { CodedError, ERRORS, type ErrorCode } from '../../engine/errors.js';
import type { ProgressLine } from './progress.js';

/** Longest wait. Rate limits last one minute, and a restarting service may need several. */
const WAIT_AT_MOST_S = 300;

/** Neurons of a service's model, by index and by id. */
export type ServiceNeurons = Awaited<ReturnType<Service['neurons']>>;

export class Service {
  readonly client: NeuralExperimentClient;
  /** Options that make a request wait as long as the service asks, with a note to the user. */
  readonly patience: RequestOptions;

  /** @param url origin of the service, with or without a path before /api */
  constructor(url: string, progress: ProgressLine) {
    this.client = new NeuralExperimentClient(url);
    this.patience = {
      waitAtMostS: WAIT_AT_MOST_S,
      onWait: (seconds, { message }) => progress.note(`Waiting ${seconds} s for the service: ${message}`),
    };
  }

  /** @throws CodedError with the service's code, or SERVICE_UNREACHABLE */
  async asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  /** Turns the failure of a request into a CodedError; returns any other error unchanged. */
  failureOf(error: unknown): unknown {
    const { name, cause } = error as Error;
    if (error instanceof ServiceError) {
      const { code, message, path } = error;
      return new CodedError(
        codeOf(code),
        `${this.client.address}: ${message}`,
        path === undefined ? {} : { path },
      );
    }
    if (error instanceof InterruptedError) {
      if (cause instanceof ServiceError) return this.failureOf(cause);
      const reason = cause === undefined ? '' : ` (${reasonOf(cause as Error)})`;
      return new CodedError('SERVICE_UNREACHABLE', `${this.client.address}: ${error.message}${reason}`);
    }
    // fetch throws a TypeError with a cause; a TypeError without one is a bug.
    if (name !== 'TimeoutError' && (name !== 'TypeError' || cause === undefined)) return error;
    return new CodedError(
      'SERVICE_UNREACHABLE',
      `${this.client.address} does not answer: ${reasonOf(error as Error)}.`,
    );
  }

  /** Labels of all neurons, and the id of their model. */
  async neurons() {
    const { client, patience } = this;
    const { id: model, atlas_url: url, ...labels } = await this.asked(client.model(patience));
    const bytes = await this.asked(client.bytes(url, patience));
    // The JSON form has the ids; the compact form has the types in the order of their indices.
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
        neuronId: (neuron: number) => ids[neuron]!,
        /** @throws CodedError SERVICE_UNREACHABLE if the service has changed its model */
        indexOf: (id: string) => indices.get(id) ?? this.refuseModel(id),
      };
    } catch (error) {
      throw new CodedError('SERVICE_UNREACHABLE', `The atlas of the service: ${(error as Error).message}`);
    }
  }

  /** @throws CodedError SERVICE_UNREACHABLE, because the service has changed its model */
  refuseModel(lacking: string): never {
    throw new CodedError(
      'SERVICE_UNREACHABLE',
      `The service now serves another model than the one that the answer is of: it does not have ${lacking}.`,
    );
  }
}

/** A newer service may use unknown codes, and a proxy sends no code. */
function codeOf(code: string | undefined): ErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'SERVICE_UNREACHABLE';
}

function reasonOf({ message, cause }: Error): string {
  const reason = (cause as Error | undefined)?.message || message;
  return reason.replace(/\.$/, '');
}
