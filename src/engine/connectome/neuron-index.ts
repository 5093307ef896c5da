/** An index of the neurons of a connectome by the values of their labels and by their ids. */
import { getOrInsert } from '../get-or-insert.js';
import { SIDES, type Connectome, type ConnectomeMetadata } from './connectome.js';
import { NO_NEURONS, NeuronSet } from './neuron-set.js';
import { wildcard } from './wildcard.js';

/** The labels that a selector can use. */
export const LABELS = ['type', 'class', 'sub_class', 'super_class', 'side'] as const;
export type Label = (typeof LABELS)[number];

/** The part of a connectome that names its neurons. The compiler has this before the wiring. */
export type NamedNeurons = Pick<
  Connectome,
  'neuronCount' | 'typeIndices' | 'classIndices' | 'sides' | 'neuronId'
> & { readonly metadata: Pick<ConnectomeMetadata, 'types' | 'classes'> };

/** @returns the value of a label for each neuron, empty if the tables have none */
export function labelOf({ metadata, typeIndices, classIndices, sides }: NamedNeurons, label: Label) {
  const classOf = (i: number) => metadata.classes[classIndices[i]!]!;
  const labels: Readonly<Record<Label, (i: number) => string>> = {
    type: (i) => metadata.types[typeIndices[i]!]!.name,
    class: (i) => classOf(i).class,
    sub_class: (i) => classOf(i).subClass,
    super_class: (i) => classOf(i).superClass,
    side: (i) => SIDES[sides[i]!]!,
  };
  return labels[label];
}

/** Patterns for labels. A neuron must match all of them; a list matches if any of its values does. `*` is any text. */
export type LabelPatterns = { readonly [L in Label]?: string | readonly string[] };

/** Finds the neurons of one connectome by label and id. Each label is indexed when it is first needed. */
export class NeuronIndex {
  readonly #neuronsByLabel = new Map<Label, Map<string, NeuronSet>>();
  #neuronById: Map<string, number> | undefined;
  #everybody: NeuronSet | undefined;

  constructor(private readonly neurons: NamedNeurons) {}

  everybody(): NeuronSet {
    const { neuronCount } = this.neurons;
    return (this.#everybody ??= NeuronSet.of(
      new Uint32Array(neuronCount).map((_, i) => i),
      neuronCount,
    ));
  }

  /** @returns the neurons that match all patterns; without patterns every neuron */
  withLabels(patterns: LabelPatterns): NeuronSet {
    const sets = LABELS.flatMap((label) => {
      const wanted = patterns[label];
      if (wanted === undefined) return [];
      const matching = [wanted].flat().flatMap((pattern) => this.matchingLabels(label, pattern));
      return [this.withValues(label, new Set(matching))];
    });
    return sets.length > 0 ? NeuronSet.intersection(sets) : this.everybody();
  }

  /** @param values distinct values of the label that neurons have */
  withValues(label: Label, values: Iterable<string>): NeuronSet {
    const byLabel = this.#index(label);
    const sets = Array.from(values, (value) => byLabel.get(value)!);
    return sets.length === 0 ? NeuronSet.of(NO_NEURONS, this.neurons.neuronCount) : NeuronSet.union(sets);
  }

  /** @returns the values of a label that match a pattern. A wildcard stands for text, so it matches no missing label */
  matchingLabels(label: Label, pattern: string): string[] {
    const byLabel = this.#index(label);
    if (!pattern.includes('*')) return byLabel.has(pattern) ? [pattern] : [];
    const matches = wildcard(pattern);
    return [...byLabel.keys()].filter((value) => value !== '' && matches(value));
  }

  withId(id: string): number | undefined {
    return this.#idIndex().get(id);
  }

  /** Indexes all labels and ids, so that no later question takes long. */
  indexAll(): void {
    for (const label of LABELS) this.#index(label);
    this.#idIndex();
  }

  /** @returns all values of a label */
  labels(label: Label): Iterable<string> {
    return this.#index(label).keys();
  }

  #idIndex(): ReadonlyMap<string, number> {
    if (this.#neuronById === undefined) {
      this.#neuronById = new Map();
      for (let i = 0; i < this.neurons.neuronCount; i++) this.#neuronById.set(this.neurons.neuronId(i), i);
    }
    return this.#neuronById;
  }

  #index(label: Label): Map<string, NeuronSet> {
    return getOrInsert(this.#neuronsByLabel, label, () => {
      const { neuronCount } = this.neurons;
      const valueOf = labelOf(this.neurons, label);
      const lists = new Map<string, number[]>();
      for (let i = 0; i < neuronCount; i++) getOrInsert(lists, valueOf(i), (): number[] => []).push(i);
      return new Map(
        Array.from(lists, ([value, list]) => [value, NeuronSet.of(Uint32Array.from(list), neuronCount)]),
      );
    });
  }
}

/** @returns the index of a connectome. There is one for each, so its neurons are indexed only once */
export function neuronIndexOf(connectome: NamedNeurons): NeuronIndex {
  return getOrInsert(INDEXES, connectome, () => new NeuronIndex(connectome));
}

const INDEXES = new WeakMap<NamedNeurons, NeuronIndex>();
