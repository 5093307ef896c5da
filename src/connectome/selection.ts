/**
 * Selects neurons by type, class, side and id, for the compiler, the commands and the service. It reads labels through
 * an interface that both a brain during compilation and an open connectome implement.
 */
import { CodedError, describeValue } from '../errors.js';
import { SIDES, type Connectome } from './connectome.js';
import type { InParts } from '../parts.js';
import { nearestNames } from './nearest-names.js';
import { NeuronSet } from './neuron-set.js';
import { differenceOf, intersectionOf, unionOf } from './neuron-sets.js';
import type { Selector } from './populations.js';
import { wildcard } from './wildcard.js';

/** The labels that a selector can use. */
export const LABELS = ['type', 'class', 'sub_class', 'super_class', 'side'] as const;
export type Label = (typeof LABELS)[number];

/** The labels of a set of neurons, which are numbered from 0. */
export interface LabelledNeurons {
  readonly count: number;
  id(neuron: number): string;
  /** Empty if the tables have no value. */
  label(label: Label, neuron: number): string;
}

/** The neurons of a connectome file, by index. */
export function labelledNeurons(connectome: Connectome): LabelledNeurons {
  const { types, classes } = connectome.metadata;
  const classOf = (i: number) => classes[connectome.classIndices[i]!]!;
  const labels: Readonly<Record<Label, (i: number) => string>> = {
    type: (i) => types[connectome.typeIndices[i]!]!.name,
    class: (i) => classOf(i).class,
    sub_class: (i) => classOf(i).subClass,
    super_class: (i) => classOf(i).superClass,
    side: (i) => SIDES[connectome.sides[i]!]!,
  };
  return {
    count: connectome.neuronCount,
    id: (i) => connectome.neuronId(i),
    label: (label, i) => labels[label](i),
  };
}

/** Values of labels: all of them must agree; a list means any of its values. In strings `*` stands for any text. */
export type LabelPatterns = { readonly [L in Label]?: string | readonly string[] };

/** Selects from one set of neurons; each label and the ids are indexed when they are first asked for. */
export class NeuronSelection {
  readonly #neuronsByLabel = new Map<Label, Map<string, NeuronSet>>();
  #neuronById: Map<string, number> | undefined;
  #all: Uint32Array | undefined;

  constructor(private readonly neurons: LabelledNeurons) {}

  /** Neurons with all labels of a selector, except those it excludes, ascending; its root ids are ignored. */
  matching(selector: Selector): number[] {
    if (labelsOf(selector).length === 0) return [];
    const excepted = this.withLabels({ type: selector.except ?? [] });
    return [...differenceOf(this.withLabels(selector), excepted)];
  }

  /** Ascending; every neuron where no label is given. */
  withLabels(patterns: LabelPatterns): Uint32Array {
    const sets = LABELS.flatMap((label) => {
      const wanted = patterns[label];
      if (wanted === undefined) return [];
      return [this.withAnyLabel(label, typeof wanted === 'string' ? [wanted] : wanted)];
    });
    return sets.length === 0 ? this.#allNeurons() : intersectionOf(sets);
  }

  #allNeurons(): Uint32Array {
    this.#all ??= Uint32Array.from({ length: this.neurons.count }, (_, i) => i);
    return this.#all;
  }

  /** Ascending. */
  withLabel(label: Label, pattern: string): Uint32Array {
    return this.withAnyLabel(label, [pattern]);
  }

  /** Ascending. */
  withAnyLabel(label: Label, patterns: readonly string[]): Uint32Array {
    return this.withValues(
      label,
      new Set(patterns.flatMap((each) => this.matchingLabels(label, each))),
    ).toIndices();
  }

  /** @param values of a label, each once, which neurons have */
  withValues(label: Label, values: Iterable<string>): NeuronSet {
    const byLabel = this.#index(label);
    const sets = Array.from(values, (value) => byLabel.get(value)!);
    return sets.length === 0 ? NeuronSet.of(NO_NEURONS, this.neurons.count) : NeuronSet.union(sets);
  }

  /** Values of a label. A wildcard stands for text, so it never matches a label that is missing. */
  matchingLabels(label: Label, pattern: string): string[] {
    const byLabel = this.#index(label);
    if (!pattern.includes('*')) return byLabel.has(pattern) ? [pattern] : [];
    const matches = wildcard(pattern);
    const matching: string[] = [];
    for (const value of byLabel.keys()) if (value !== '' && matches(value)) matching.push(value);
    return matching;
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

  /** Names of the neurons' labels that may have been meant, nearest first. */
  nearestLabels(label: Label, wanted: string): string[] {
    return nearestNames(wanted, this.labels(label));
  }

  /** @returns why a selector matches no neuron, as a phrase: the label value that no neuron has, and similar values */
  unmatched(selector: Selector): string {
    for (const label of labelsOf(selector)) {
      const wanted = selector[label]!;
      if (this.withLabel(label, wanted).length === 0) {
        const near = this.nearestLabels(label, wanted);
        return (
          `no neuron has the ${label} "${wanted}"` +
          (near.length === 0 ? '' : `; near matches: ${near.map((name) => `"${name}"`).join(', ')}`)
        );
      }
    }
    const exceptions = (selector.except ?? []).length > 0 ? ` except ${selector.except!.join(', ')}` : '';
    return `no neuron matches all of ${describedSelector(selector)}${exceptions} at once`;
  }

  #idIndex(): ReadonlyMap<string, number> {
    if (this.#neuronById === undefined) {
      this.#neuronById = new Map();
      for (let i = 0; i < this.neurons.count; i++) this.#neuronById.set(this.neurons.id(i), i);
    }
    return this.#neuronById;
  }

  #index(label: Label): Map<string, NeuronSet> {
    let byLabel = this.#neuronsByLabel.get(label);
    if (byLabel === undefined) {
      const lists = new Map<string, number[]>();
      for (let i = 0; i < this.neurons.count; i++) {
        const value = this.neurons.label(label, i);
        const known = lists.get(value);
        if (known === undefined) lists.set(value, [i]);
        else known.push(i);
      }
      byLabel = new Map(
        [...lists].map(([value, list]) => [value, NeuronSet.of(Uint32Array.from(list), this.neurons.count)]),
      );
      this.#neuronsByLabel.set(label, byLabel);
    }
    return byLabel;
  }
}

const NO_NEURONS = new Uint32Array(0);

/** One for each connectome, so its neurons are indexed once. */
export function selectionOf(connectome: Connectome): NeuronSelection {
  let selection = SELECTIONS.get(connectome);
  if (selection === undefined) {
    selection = new NeuronSelection(labelledNeurons(connectome));
    SELECTIONS.set(connectome, selection);
  }
  return selection;
}

const SELECTIONS = new WeakMap<Connectome, NeuronSelection>();

/** The labels of a selector as a phrase: `type "LC4", side "left"`. */
export function describedSelector(selector: Selector): string {
  return (
    labelsOf(selector)
      .map((label) => `${label} "${selector[label]!}"`)
      .join(', ') || 'no label'
  );
}

function labelsOf(selector: Selector): Label[] {
  return LABELS.filter((label) => selector[label] !== undefined);
}

/**
 * The neurons of all types that match one of the patterns, ascending.
 * @throws CodedError INVALID_PARAMETER for a pattern that matches no type, with near matches by name
 */
export function neuronsOfTypes(connectome: Connectome, patterns: readonly string[]): Uint32Array {
  const selection = selectionOf(connectome);
  const chosen = patterns.map((type) => {
    const found = selection.withLabel('type', type);
    if (found.length === 0) {
      const near = selection.nearestLabels('type', type);
      throw new CodedError(
        'INVALID_PARAMETER',
        `No neuron has the type ${describeValue(type)}` +
          (near.length === 0 ? '.' : `; near matches: ${near.join(', ')}.`),
      );
    }
    return found;
  });
  return unionOf(chosen, connectome.neuronCount);
}
