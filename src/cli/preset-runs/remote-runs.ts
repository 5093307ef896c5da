import { SIDES } from '../../connectome/connectome.js';
import type { ChannelKind } from '../../connectome/populations.js';
import type { Experiment, View } from '../../answers/v1/experiment.js';
import { labelOfType } from '../../answers/v1/readout.js';
import { parsedBody, type ServiceClient } from '../service-client.js';
import { ServiceModel } from '../service-model.js';
import type { RunSource, ModelSummary, NeuronLabels } from './source.js';

interface ModelBody {
  readonly name: string;
  readonly atlas_url: string;
  readonly channels: readonly { readonly id: string; readonly kind: ChannelKind }[];
}

/** Runs experiments on a running service. */
export class RemoteRuns implements RunSource {
  readonly #model: ServiceModel<ModelBody>;

  constructor(private readonly service: ServiceClient) {
    this.#model = new ServiceModel<ModelBody>(service, ['name', 'atlas_url', 'channels']);
  }

  async model(): Promise<ModelSummary> {
    const { name, channels } = await this.#model.describe();
    return { name, kindOf: (channel) => channels.find(({ id }) => id === channel)?.kind };
  }

  async run(experiment: Experiment, view: View): Promise<Uint8Array> {
    const path = `api/v1/run?view=${view}`;
    const body = await this.service.bytes(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(experiment),
    });
    parsedBody(path, body, ['id', 'model', 'spikes', 'channels', 'drive']);
    return body;
  }

  async labels(): Promise<NeuronLabels> {
    const { ids, types, typeIndices, sides } = await this.#model.neurons();
    const typeOf = (i: number) => types[typeIndices[i]!]!;
    return {
      id: (i) => ids[i]!,
      type: (i) => typeOf(i).name,
      typeLabel: (i) => labelOfType(typeOf(i)),
      side: (i) => SIDES[sides[i]!]!,
    };
  }
}
