/** Loads the labels of neurons from the service of the page. */
import { haveSameNeurons } from '../../../src/engine/connectome/model-id.js';
import { fetchAtlas, service, ServiceFailure } from './client.js';
import { idsOfBrain, type NeuronIndex, neuronIndexOf } from './neuron-index.js';

/**
 * Loads about 1 MB for the whole brain; the browser caches them.
 * @param modelId model of the ids
 * @throws ServiceFailure, also if the service now has another model
 */
export async function fetchNeuronIndex(modelId: string): Promise<NeuronIndex> {
  const model = await service.model();
  if (!haveSameNeurons(model.id, modelId)) {
    throw new ServiceFailure('failed', 'The service has another model now; run the experiment again.');
  }
  const [atlas, ids] = await Promise.all([fetchAtlas(model.atlas_url), idsOfBrain(service, model.atlas_url)]);
  return neuronIndexOf(model, atlas, ids);
}
