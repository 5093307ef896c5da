import { type Connectome } from './connectome.js';
import { nearestNames } from './nearest-names.js';
import { type Label, type LabelPatterns, labelledNeurons, LABELS, selectionOf } from './selection.js';

export type FoundNeuron = Readonly<Record<'root_id' | Label, string>>;

export interface NeuronSearchResult {
  /** Neurons that match, in all. */
  readonly count: number;
  /** By type and by side, in the order of the names; empty names are neurons without one. */
  readonly types: Readonly<Record<string, number>>;
  readonly sides: Readonly<Record<string, number>>;
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
    types: countsBy(neurons, (i) => labelled.label('type', i)),
    sides: countsBy(neurons, (i) => labelled.label('side', i)),
    neurons: Array.from(neurons.subarray(page.from, page.from + page.limit), foundNeuron),
    suggestions: Object.fromEntries(unmatched),
  };
}

/** How many neurons have each label, in the order of the labels' code units. */
export function countsBy(neurons: Uint32Array, labelOf: (i: number) => string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const i of neurons) {
    const label = labelOf(i);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
