import type { Connectome } from '../../connectome/connectome.js';
import { modelId } from '../../connectome/model-id.js';
import { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import type { PublishedNodeSets } from '../../connectome/node-sets.js';
import type { Population } from '../../connectome/populations.js';
import { ALL_NEURONS, PUBLISHED_PREFIX } from '../../connectome/set-selector.js';

/** A set of neurons that every selector can name. */
export interface ListedNodeSet {
  /** As a selector names it. */
  readonly name: string;
  readonly description: string;
  /** Where the choice of neurons comes from; of all neurons there is none. */
  readonly sources: readonly string[];
  /** In the model that is served. */
  readonly neurons: number;
  /** Of a published list. */
  readonly published_count?: number;
  /** Ids of the list that the model lacks. */
  readonly missing?: readonly string[];
  /** Cell types in place of the list, where the model has no root ids. */
  readonly substitute_types?: readonly string[];
  /** Of a published list, in release 783. */
  readonly root_ids?: readonly string[];
}

export interface NodeSetList {
  readonly model: string;
  readonly node_sets: readonly ListedNodeSet[];
}

/** What GET /api/v2/node-sets says of a connectome. A set without any neuron in it is listed with 0. */
export function describeNodeSets(connectome: Connectome, published: PublishedNodeSets): NodeSetList {
  const resolver = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'skip' }, published);
  const { channels, stimuli, wiring } = connectome.metadata;
  const lists = Object.entries(published.sets).map(([own, set]): ListedNodeSet => {
    const { text, doi } = published.publications[set.publication]!;
    const name = `${PUBLISHED_PREFIX}${own}`;
    const { neurons, missing } = resolved(resolver, name);
    return {
      name,
      description: set.description,
      sources: [`${text}, doi:${doi}: ${set.source}`],
      neurons,
      published_count: set.published_count,
      ...(wiring === 'synthetic' ? { substitute_types: set.types } : { missing }),
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

function resolved(resolver: NodeSetResolver, name: string): { neurons: number; missing: readonly string[] } {
  try {
    const { neurons, missing } = resolver.neuronsOf(name, '');
    return { neurons: neurons.length, missing };
  } catch {
    // Whatever refuses the set would refuse an experiment that names it.
    return { neurons: 0, missing: [] };
  }
}
