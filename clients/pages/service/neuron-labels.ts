/** Labels of neurons by id, for tables of spikes, which have the ids alone. */
import { haveSameNeurons } from '../../../src/connectome/model-id.js';
import type { LabelledNeurons } from '../../../src/experiments/formats/tables.js';
import { fetchAtlas, fetchJson, service, ServiceFailure } from './client.js';

export interface NeuronIndex extends LabelledNeurons {
  readonly model: string;
  /** Place of a neuron in the connectome, whose neurons are in the order of type, side and id. */
  indexOf(id: string): number;
}

/**
 * Some 3 MB for the whole brain, which the browser keeps.
 * @param modelId of the model that the ids are of
 * @throws ServiceFailure, also where the service has another model by now
 */
export async function fetchNeuronIndex(modelId: string): Promise<NeuronIndex> {
  const { id: model, atlas_url: url, wiring, dataset, release } = await service.model();
  if (!haveSameNeurons(model, modelId)) {
    throw new ServiceFailure('failed', 'The service has another model now; run the experiment again.');
  }
  const [{ types, typeIndices, sides }, { id: ids }] = await Promise.all([
    fetchAtlas(url),
    fetchJson<{ readonly id: readonly string[] }>(url),
  ]);
  const indices = new Map(ids.map((each, index) => [each, index]));
  return {
    model,
    metadata: { types: [...types], wiring, dataset, release },
    typeIndices,
    sides,
    neuronId: (neuron) => ids[neuron]!,
    indexOf: (each) => indices.get(each)!,
  };
}
