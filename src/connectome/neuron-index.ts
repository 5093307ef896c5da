/** An index of the neurons of a connectome by the values of their labels and by their ids. */
import { getOrInsert } from '../get-or-insert.js';
import type { InParts } from '../parts.js';
import { SIDES, type Connectome, type ConnectomeMetadata } from './connectome.js';
import { NeuronSet } from './neuron-set.js';
import { wildcard } from './wildcard.js';

/** The labels that a selector can use. */
export const LABELS = ['type', 'class', 'sub_class', 'super_class', 'side'] as const;
export type Label = (typeof LABELS)[number];

/** The part of a connectome that names its neurons: all that is known of one while it is compiled. */
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

/** Values of labels: all of them must agree; a list means any of its values. In strings `*` stands for any text. */
export type LabelPatterns = { readonly [L in Label]?: string | readonly string[] };

/** The neurons of one connectome by label and id, each of which is indexed when it is first asked for. */
export class NeuronIndex {
  readonly #neuronsByLabel = new Map<Label, Map<string, NeuronSet>>();
  #neuronById: Map<string, number> | undefined;
  #all: NeuronSet | undefined;

  constructor(private readonly neurons: NamedNeurons) {}

  /** Every neuron where no label is given. */
  withLabels(patterns: LabelPatterns): NeuronSet {
    const sets = LABELS.flatMap((label) => {
      const wanted = patterns[label];
      if (wanted === undefined) return [];
      const matching = [wanted].flat().flatMap((pattern) => this.matchingLabels(label, pattern));
      return [this.withValues(label, new Set(matching))];
    });
    if (sets.length > 0) return NeuronSet.intersection(sets);
    const { neuronCount } = this.neurons;
    return (this.#all ??= NeuronSet.of(
      new Uint32Array(neuronCount).map((_, i) => i),
      neuronCount,
    ));
  }

  /** @param values of a label, each once, which neurons have */
  withValues(label: Label, values: Iterable<string>): NeuronSet {
    const byLabel = this.#index(label);
    const sets = Array.from(values, (value) => byLabel.get(value)!);
    return sets.length === 0 ? NeuronSet.of(NO_NEURONS, this.neurons.neuronCount) : NeuronSet.union(sets);
  }

  /** Values of a label. A wildcard stands for text, so it never matches a label that is missing. */
  matchingLabels(label: Label, pattern: string): string[] {
    const byLabel = this.#index(label);
    if (!pattern.includes('*')) return byLabel.has(pattern) ? [pattern] : [];
    const matches = wildcard(pattern);
    return [...byLabel.keys()].filter((value) => value !== '' && matches(value));
  }

  withId(id: string): number | undefined {
    return this.#idIndex().get(id);
  }

  /** Indexes everything, one label at a time: for those who want no later question to take long. */
  *indexing(): InParts<void> {
    for (const label of LABELS) {
      this.#index(label);
      yield;
    }
    this.#idIndex();
  }

  /** All values of a label. */
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

const NO_NEURONS = new Uint32Array(0);

/** One for each connectome, so its neurons are indexed once. */
export function neuronIndexOf(connectome: NamedNeurons): NeuronIndex {
  return getOrInsert(INDEXES, connectome, () => new NeuronIndex(connectome));
}

const INDEXES = new WeakMap<NamedNeurons, NeuronIndex>();
