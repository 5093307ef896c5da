import { type Connectome } from './connectome.js';
import { labelCounts, type LabelCounts } from './label-counts.js';
import { nearestNames } from '../schema/nearest-names.js';
import { NeuronSet } from './neuron-set.js';
import { type Label, labelOf, type LabelPatterns, LABELS, neuronIndexOf } from './neuron-index.js';
import { synapseTotalsOf } from './synapse-totals.js';
import { type Synonym, synonymOf } from './synonyms.js';

/** The criteria of a search for neurons. A neuron must match all of them. */
export interface NeuronPatterns extends LabelPatterns {
  /** Any of these ids. */
  readonly root_id?: readonly string[];
}

export interface FoundNeuron extends Readonly<Record<'root_id' | Label, string>> {
  readonly input_synapses: number;
  readonly output_synapses: number;
}

export interface NeuronSearchResult extends LabelCounts {
  /** The total number of neurons that match. */
  readonly count: number;
  /** The page of matching neurons, in the order of the connectome: by type, side and id. */
  readonly neurons: readonly FoundNeuron[];
  /** For each pattern without a match: names that may have been meant, nearest first. None for an id. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
  /** For each of these patterns that the literature uses: the types that it means. They are the first suggestions. */
  readonly synonyms: Readonly<Record<string, Synonym>>;
}

/**
 * Finds the neurons that match all patterns, for people who write a selector.
 * @param page the position of the first neuron, and the highest number of neurons
 */
export function searchNeurons(
  connectome: Connectome,
  patterns: NeuronPatterns,
  page: { readonly from: number; readonly limit: number },
): NeuronSearchResult {
  const selection = neuronIndexOf(connectome);
  const { root_id: ids } = patterns;
  const matching = [selection.withLabels(patterns)];
  if (ids !== undefined) {
    const known = new Set(ids.flatMap((id) => selection.withId(id) ?? []));
    matching.push(NeuronSet.of(Uint32Array.from(known).sort(), connectome.neuronCount));
  }
  const neurons = NeuronSet.intersection(matching).toIndices();
  const { inputs, outputs } = synapseTotalsOf(connectome);
  const columns = LABELS.map((label) => [label, labelOf(connectome, label)] as const);
  const foundNeuron = (i: number): FoundNeuron => ({
    root_id: connectome.neuronId(i),
    ...(Object.fromEntries(columns.map(([label, of]) => [label, of(i)])) as Record<Label, string>),
    input_synapses: inputs[i]!,
    output_synapses: outputs[i]!,
  });
  const synonyms = new Map<string, Synonym>();
  const unmatched = LABELS.flatMap((label) =>
    [patterns[label] ?? []]
      .flat()
      .filter((pattern) => selection.matchingLabels(label, pattern).length === 0)
      .map((pattern): [string, readonly string[]] => {
        const near = nearestNames(pattern, selection.labels(label));
        const synonym = label === 'type' ? synonymOf(pattern, selection) : undefined;
        if (synonym === undefined) return [pattern, near];
        synonyms.set(pattern, synonym);
        return [pattern, [...new Set([...synonym.types, ...near])]];
      }),
  );
  const unknownIds = (ids ?? []).filter((id) => selection.withId(id) === undefined);
  return {
    count: neurons.length,
    ...labelCounts(connectome, neurons),
    neurons: Array.from(neurons.subarray(page.from, page.from + page.limit), foundNeuron),
    suggestions: Object.fromEntries([...unmatched, ...unknownIds.map((id) => [id, []] as const)]),
    synonyms: Object.fromEntries(synonyms),
  };
}
