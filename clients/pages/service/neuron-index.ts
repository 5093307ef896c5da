/** The neurons of a brain by id, for tables of spikes, which have only ids. Needs no page. */
import type { NeuralExperimentClient } from '#client';
import { ATLAS_IDS } from '../../../src/engine/connectome/atlas.js';
import { decodeAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { decodeIds } from '../../../src/engine/connectome/atlas-ids.js';
import type { LabelledNeurons } from '../../../src/experiments/formats/tables.js';

export interface NeuronIndex extends LabelledNeurons {
  readonly model: string;
  /** Index of a neuron in the connectome. */
  indexOf(id: string): number;
}

/** The ids of all neurons, in the order of the atlas. */
export async function idsOfBrain(client: NeuralExperimentClient, atlasUrl: string): Promise<string[]> {
  return decodeIds(new TextDecoder().decode(await client.bytes(atlasUrl.replace(/\.json$/, ATLAS_IDS))));
}

/** Loads about 1 MB for the whole brain. */
export async function neuronIndexOfBrain(client: NeuralExperimentClient): Promise<NeuronIndex> {
  const { id: model, wiring, dataset, release, atlas_url: url } = await client.model();
  const [ids, atlas] = await Promise.all([
    idsOfBrain(client, url),
    client.bytes(url.replace(/\.json$/, '.bin')),
  ]);
  const { types, typeIndices, sides } = decodeAtlas(atlas.buffer);
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
