import { type Connectome } from './connectome.js';
import { labelCounts, type LabelCounts } from './label-counts.js';
import { nearestNames } from './nearest-names.js';
import { type Label, type LabelPatterns, labelledNeurons, LABELS, selectionOf } from './selection.js';

export type FoundNeuron = Readonly<Record<'root_id' | Label, string>>;

export interface NeuronSearchResult extends LabelCounts {
  /** Neurons that match, in all. */
  readonly count: number;
  /** In the order of the connectome: by type, side and id. */
  readonly neurons: readonly FoundNeuron[];
  /** For each pattern that no neuron has: names that may have been meant, nearest first. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
}

/**
 * Neurons whose labels match all patterns, to find out what a selector may name.
 * @param page neurons from this place on, at most so many
 */
export function searchNeurons(
  connectome: Connectome,
  patterns: LabelPatterns,
  page: { readonly from: number; readonly limit: number },
): NeuronSearchResult {
  const selection = selectionOf(connectome);
  const neurons = selection.withLabels(patterns);
  const labelled = labelledNeurons(connectome);
  const foundNeuron = (i: number): FoundNeuron => ({
    root_id: labelled.id(i),
    ...(Object.fromEntries(LABELS.map((label) => [label, labelled.label(label, i)])) as Record<
      Label,
      string
    >),
  });
  const unmatched = LABELS.flatMap((label) => {
    const wanted = patterns[label] ?? [];
    return (typeof wanted === 'string' ? [wanted] : wanted)
      .filter((pattern) => selection.withLabel(label, pattern).length === 0)
      .map((pattern): [string, string[]] => [pattern, nearestNames(pattern, selection.labels(label))]);
  });
  return {
    count: neurons.length,
    ...labelCounts(connectome, neurons),
    neurons: Array.from(neurons.subarray(page.from, page.from + page.limit), foundNeuron),
    suggestions: Object.fromEntries(unmatched),
  };
}
