/** The grammar of selectors of neurons in documents and populations. NodeSetResolver finds them in a connectome. */

import { isList } from '../schema/forms.js';
import type { LabelPatterns } from './neuron-index.js';

/**
 * Selects neurons by the name of a node set or cell type, by labels and ids, or by a list: the union of its selectors.
 */
export type SetSelector = string | LabelSelector | readonly SetSelector[];

/** A neuron must match all members; a list matches if any of its values does. In strings `*` stands for any text. */
export interface LabelSelector extends LabelPatterns {
  /** A string of decimal digits, because ids exceed 2^53. */
  readonly root_id?: string | readonly string[];
  /** Neurons that the named neurons reach along connections, or that reach them; see neighbours.ts. */
  readonly downstream_of?: SetSelector;
  readonly upstream_of?: SetSelector;
  /** The number of hops in both directions; 1 if absent. */
  readonly hops?: number;
  /** The lowest number of synapses of a connection in both directions; the model's if absent. */
  readonly minimum_synapses?: number;
  readonly except?: SetSelector;
}

/** The members of a selector that are selectors. */
export const INNER_SELECTORS = ['downstream_of', 'upstream_of', 'except'] as const;

/** The sides that a selector may name. */
export const NAMED_SIDES = ['left', 'right', 'center'] as const;
export type NamedSide = (typeof NAMED_SIDES)[number];

/** The prefix of names that a document does not define: published sets, channels and stimuli. */
export const PUBLISHED_PREFIX = '@';

/** With the prefix, the name of the set of all neurons. A wildcard would leave out neurons without the label. */
export const ALL_NEURONS = 'all';

/** @returns the name and the side of a string such as LC4:left or LC4; undefined if no side follows the colon */
export function nameOnSide(text: string): { readonly name: string; readonly side?: NamedSide } | undefined {
  const colon = text.lastIndexOf(':');
  if (colon < 0) return { name: text };
  const side = NAMED_SIDES.find((each) => each === text.slice(colon + 1));
  return side === undefined ? undefined : { name: text.slice(0, colon), side };
}

/** The number of items of a list that are named; the rest is only counted. */
const NAMED_PARTS = 4;

/** Describes neurons in words: `left LC4`, `MN9`, `LC4 and LPLC2`, `neuron 720575940624547622`. */
export function selectorWords(selector: SetSelector): string {
  if (typeof selector === 'string') {
    const { name, side } = nameOnSide(selector) ?? { name: selector };
    const published = name.startsWith(PUBLISHED_PREFIX) ? name.slice(PUBLISHED_PREFIX.length) : name;
    const plain = published === ALL_NEURONS ? 'all neurons' : published.replace('/', ' ');
    return side === undefined ? plain : `${side} ${plain}`;
  }
  if (isList(selector)) return listed(selector.map(selectorWords));
  const {
    side,
    root_id: ids,
    downstream_of,
    upstream_of,
    hops = 1,
    minimum_synapses,
    except,
    ...labels
  } = selector;
  const within = hops === 1 ? '' : ` within ${hops} connections`;
  const parts = [
    side === undefined ? '' : listed([side].flat()),
    ...Object.values(labels).map((values) => listed([values].flat())),
    ids === undefined ? '' : `${typeof ids === 'string' ? 'neuron' : 'neurons'} ${listed([ids].flat())}`,
    downstream_of === undefined ? '' : `neurons downstream of ${selectorWords(downstream_of)}${within}`,
    upstream_of === undefined ? '' : `neurons upstream of ${selectorWords(upstream_of)}${within}`,
    minimum_synapses === undefined ? '' : `by ${minimum_synapses} synapses or more`,
    except === undefined ? '' : `except ${selectorWords(except)}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** The most names that sentences about an experiment list. */
export const MAX_NAMED = 8;

/** A list in words: `a, b and c`. */
export function listed(parts: readonly string[], most = NAMED_PARTS): string {
  if (parts.length > most)
    return `${parts.slice(0, most - 1).join(', ')} and ${parts.length - most + 1} more`;
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}`;
}
