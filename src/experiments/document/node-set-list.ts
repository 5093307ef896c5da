import type { Connectome } from '../../engine/connectome/connectome.js';
import { modelId } from '../../engine/connectome/model-id.js';
import { NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import type { PublishedNodeSets } from '../../engine/connectome/node-sets.js';
import type { Population } from '../../engine/connectome/populations.js';
import { ALL_NEURONS, PUBLISHED_PREFIX } from '../../engine/connectome/set-selector.js';
import { count, listOf, object, ref, type Static, text } from '../../engine/schema/json-schema.js';

const NODE_SET = object('A set of neurons that every selector can name.', {
  name: text('As a selector names it.'),
  description: text('Description of these neurons.'),
  sources: listOf('Sources for the choice of neurons.', text()),
  neurons: count('Number of them in the served model. If it is 0, a document that names the set is refused.'),
  'published_count?': count('Neurons of the published list.'),
  'missing?': listOf('Root ids of the list that the model lacks.', text()),
  'substitute_types?': listOf('Cell types that stand for the list if the model has no such cells.', text()),
  'root_ids?': listOf('Root ids of the list in release 783.', text()),
  'places?': listOf(
    'Indices of the cells into the atlas, ascending, if the model has the cells of the list.',
    count(),
  ),
});
type ListedNodeSet = Static<typeof NODE_SET>;

const LIST = object('The sets of neurons that every selector can name.', {
  model: text('Names the model, as `id` of GET /api/v1/model.'),
  node_sets: listOf(
    'All neurons, published lists, then channels and stimuli of version 1.',
    ref<ListedNodeSet>('NodeSet'),
  ),
});
export type NodeSetList = Static<typeof LIST>;

/** By their names in OpenAPI. */
export const NODE_SET_SCHEMAS = { NodeSetList: LIST, NodeSet: NODE_SET };

/** The answer of GET /api/v2/node-sets. A set without a neuron in the connectome is listed with 0. */
export function describeNodeSets(connectome: Connectome, published: PublishedNodeSets): NodeSetList {
  const resolver = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'skip' }, published);
  const { channels, stimuli } = connectome.metadata;
  const lists = Object.entries(published.sets).map(([own, set]): ListedNodeSet => {
    const { text, doi } = published.publications[set.publication]!;
    const name = `${PUBLISHED_PREFIX}${own}`;
    const { places, missing } = resolved(resolver, name);
    return {
      name,
      description: set.description,
      sources: [`${text}, doi:${doi}: ${set.source}`],
      neurons: places.length,
      published_count: set.published_count,
      ...(resolver.hasCellsOf(set) ? { missing, places } : { substitute_types: resolver.typesFor(set) }),
      root_ids: set.root_ids,
    };
  });
  const populations = [
    ...channels.map((channel) => listed('channel', channel)),
    ...stimuli.map((stimulus) => listed('stimulus', stimulus)),
  ];
  const all: ListedNodeSet = {
    name: `${PUBLISHED_PREFIX}${ALL_NEURONS}`,
    description: 'All neurons of the model, those without a cell type too.',
    sources: [],
    neurons: connectome.neuronCount,
  };
  return { model: modelId(connectome), node_sets: [all, ...lists, ...populations] };
}

function listed(
  kind: 'channel' | 'stimulus',
  { id, label, description, neuronCount, citations }: Population,
): ListedNodeSet {
  return {
    name: `${PUBLISHED_PREFIX}${kind}/${id}`,
    description: `${label}: ${description}`,
    sources: citations.map(({ text, doi, subject }) => `${text}, doi:${doi}: ${subject}`),
    neurons: neuronCount,
  };
}

function resolved(resolver: NodeSetResolver, name: string): { places: number[]; missing: readonly string[] } {
  try {
    const { neurons, missing } = resolver.neuronsOf(name, '');
    return { places: [...neurons], missing: neurons.length === 0 ? [] : missing };
  } catch {
    // An experiment that names the set would be refused too.
    return { places: [], missing: [] };
  }
}
