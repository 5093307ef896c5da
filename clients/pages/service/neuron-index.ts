/** The neurons of a brain by id, for tables of spikes, which have only ids. Needs no page. */
import type { Model, NeuralExperimentClient } from '#client';
import { ATLAS_IDS } from '../../../src/engine/connectome/atlas.js';
import { type CompactAtlas, decodeAtlas } from '../../../src/engine/connectome/atlas-binary.js';
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
  const model = await client.model();
  const [ids, atlas] = await Promise.all([
    idsOfBrain(client, model.atlas_url),
    client.bytes(model.atlas_url.replace(/\.json$/, '.bin')),
  ]);
  return neuronIndexOf(model, decodeAtlas(atlas.buffer), ids);
}

/** @param ids of all neurons, in the order of the atlas */
export function neuronIndexOf(
  { id: model, wiring, dataset, release }: Pick<Model, 'id' | 'wiring' | 'dataset' | 'release'>,
  { types, typeIndices, sides }: CompactAtlas,
  ids: readonly string[],
): NeuronIndex {
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
