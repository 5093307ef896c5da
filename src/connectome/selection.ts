/**
 * Selects neurons by type, class, side and id, for the compiler, the commands and the service. It reads labels through
 * an interface that both a brain during compilation and an open connectome implement.
 */
import { CodedError, describeValue } from '../errors.js';
import { SIDES, type Connectome } from './connectome.js';
import { nearestNames } from './nearest-names.js';
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

/** Selects from one set of neurons; each label, and the ids, are indexed when they are first used. */
export class NeuronSelection {
  readonly #neuronsByLabel = new Map<Label, Map<string, number[]>>();
  #neuronById: Map<string, number> | undefined;

  constructor(private readonly neurons: LabelledNeurons) {}

  /** Neurons with all labels of a selector, except those it excludes, ascending; its root ids are ignored. */
  matching(selector: Selector): number[] {
    const candidates = labelsOf(selector)
      .map((label) => this.#withLabel(label, selector[label]!))
      .sort((a, b) => a.length - b.length);
    const excepted = new Set((selector.except ?? []).flatMap((pattern) => this.#withLabel('type', pattern)));
    const [fewest, ...others] = candidates;
    const sets = others.map((list) => new Set(list));
    return (fewest ?? []).filter((i) => sets.every((set) => set.has(i)) && !excepted.has(i));
  }

  withId(id: string): number | undefined {
    if (this.#neuronById === undefined) {
      this.#neuronById = new Map();
      for (let i = 0; i < this.neurons.count; i++) this.#neuronById.set(this.neurons.id(i), i);
    }
    return this.#neuronById.get(id);
  }

  /** Similar values of a label, nearest first. */
  nearestLabels(label: Label, wanted: string): string[] {
    return nearestNames(wanted, this.#index(label).keys());
  }

  /** @returns why a selector matches no neuron, as a phrase: the label value that no neuron has, and similar values */
  unmatched(selector: Selector): string {
    for (const label of labelsOf(selector)) {
      const wanted = selector[label]!;
      if (this.#withLabel(label, wanted).length === 0) {
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

  /** Ascending. A wildcard matches text only, never a missing label. */
  #withLabel(label: Label, pattern: string): number[] {
    const byLabel = this.#index(label);
    if (!pattern.includes('*')) {
      return byLabel.get(pattern) ?? [];
    }
    const expression = wildcard(pattern);
    return [...byLabel]
      .flatMap(([value, neurons]) => (value !== '' && expression.test(value) ? neurons : []))
      .sort((a, b) => a - b);
  }

  #index(label: Label): Map<string, number[]> {
    let byLabel = this.#neuronsByLabel.get(label);
    if (byLabel === undefined) {
      byLabel = new Map<string, number[]>();
      for (let i = 0; i < this.neurons.count; i++) {
        const value = this.neurons.label(label, i);
        const known = byLabel.get(value);
        if (known === undefined) byLabel.set(value, [i]);
        else known.push(i);
      }
      this.#neuronsByLabel.set(label, byLabel);
    }
    return byLabel;
  }
}

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
  const selection = new NeuronSelection(labelledNeurons(connectome));
  const chosen = patterns.flatMap((type) => {
    const found = selection.matching({ type });
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
  return Uint32Array.from(new Set(chosen)).sort();
}
