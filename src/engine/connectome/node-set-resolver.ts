import { CodedError, describeValue } from '../errors.js';
import { getOrInsert } from '../get-or-insert.js';
import { type InParts, withoutPauses } from '../parts.js';
import type { Connectome, ConnectomeMetadata } from './connectome.js';
import { isList } from '../schema/forms.js';
import { pathOf, refused } from '../schema/json-path.js';
import { nearestNames } from '../schema/nearest-names.js';
import { type Connections, type Direction, DIRECTIONS, neighboursOf } from './neighbours.js';
import { isFlyWire } from './model-id.js';
import { NO_NEURONS, NeuronSet } from './neuron-set.js';
import { type NodeSet, type PublishedNodeSets, publishedNodeSets } from './node-sets.js';
import { type Label, LABELS, type NamedNeurons, type NeuronIndex, neuronIndexOf } from './neuron-index.js';
import {
  ALL_NEURONS,
  type LabelSelector,
  nameOnSide,
  PUBLISHED_PREFIX,
  type SetSelector,
} from './set-selector.js';
import { synonymOf } from './synonyms.js';

export interface ResolvedSelector {
  /** Distinct ascending indices into the connectome. */
  readonly neurons: Uint32Array;
  /** Distinct types, classes, ids and sets that the model lacks. */
  readonly missing: readonly string[];
  /** Published sets, with their prefix, that types replace because the model lacks the cells. */
  readonly substituted: readonly string[];
  /** Distinct sources of the published sets that the selector names: the publication, and the figure or table in it. */
  readonly sources: readonly string[];
}

/** The part of a connectome that selectors can name. */
export type SelectableNeurons = NamedNeurons &
  Connections &
  Pick<Connectome, 'stimulusNeurons' | 'channelNeurons'> & {
    readonly metadata: Pick<
      ConnectomeMetadata,
      'dataset' | 'wiring' | 'minimumSynapses' | 'stimuli' | 'channels'
    >;
  };

/** The settings of a document that its selectors depend on. */
export interface SelectorContext {
  /** The sets that the document defines, without circular references. */
  readonly node_sets: Readonly<Record<string, SetSelector>>;
  /** Refuses or skips names and ids that the model lacks, and selectors without a neuron. */
  readonly on_missing: 'error' | 'skip';
}

export interface SelectorAt {
  readonly selector: SetSelector;
  /** JSON Pointer to the selector in the document. */
  readonly path: string;
}

/** A name or an id, and its path in the document. */
interface NameAt {
  readonly name: string;
  readonly path: string;
}

interface MissingName extends NameAt {
  /** The reason, unless the name is misspelt. */
  readonly reason?: string | undefined;
  readonly near: () => readonly string[];
}

/** The result of resolving a selector, without its neurons. */
interface Notes {
  readonly unknown: readonly MissingName[];
  readonly substituted: readonly string[];
  readonly sources: readonly string[];
}

interface ResolvedSet extends Notes {
  readonly neurons: NeuronSet;
}

const ROOT_ID = /^\d{1,20}$/;
const NO_NOTES: Notes = { unknown: [], substituted: [], sources: [] };

/** Only this many unknown names get suggestions, because each costs a comparison with every type. */
const NAMES_WITH_SUGGESTIONS = 10;

/** Finds the neurons that the selectors of one document name. A set that is named several times is resolved once. */
export class NodeSetResolver {
  readonly #neurons: NeuronIndex;
  readonly #references = new Map<string, ResolvedSet>();
  /** Resolved labels, by label and pattern. */
  readonly #labelled = new Map<string, NeuronSet>();

  /** @throws CodedError INVALID_PARAMETER if a set of the document has the name of a cell type */
  constructor(
    private readonly connectome: SelectableNeurons,
    private readonly context: SelectorContext,
    private readonly published: PublishedNodeSets = publishedNodeSets(),
  ) {
    this.#neurons = neuronIndexOf(connectome);
    for (const name of Object.keys(context.node_sets)) {
      if (this.#neurons.matchingLabels('type', name).length > 0) {
        throw new CodedError(
          'INVALID_PARAMETER',
          `node_sets.${name} must have a name that is no cell type of the model, got ${describeValue(name)}.`,
          { path: `/node_sets/${name}` },
        );
      }
    }
  }

  /**
   * @throws CodedError UNKNOWN_NEURONS with all names and ids that the model lacks; EMPTY_NODE_SET; INVALID_PARAMETER
   *   for root ids if the model has none
   */
  neuronsOf(selector: SetSelector, path: string): ResolvedSelector {
    return withoutPauses(this.resolving([{ selector, path }]))[0]!;
  }

  /** @returns the neurons of a selector, possibly none; unknown names are skipped */
  neuronsIfAny(selector: SetSelector): Uint32Array {
    return withoutPauses(this.#resolve(selector, '')).neurons.toIndices();
  }

  /**
   * Like neuronsOf for all selectors of a document, so that one error lists all missing names. It pauses, because each
   * selector, set and wildcard may name the whole brain.
   * @param maxNeurons the highest number of neurons of all selectors together
   * @throws CodedError as neuronsOf, and TOO_EXPENSIVE as soon as the number is exceeded
   */
  *resolving(selectors: readonly SelectorAt[], maxNeurons = Infinity): InParts<ResolvedSelector[]> {
    const found: ResolvedSet[] = [];
    let selected = 0;
    for (const { selector, path } of selectors) {
      const each = yield* this.#resolve(selector, path);
      found.push(each);
      selected += each.neurons.size;
      if (selected > maxNeurons) throw tooManyNeurons(selected, maxNeurons);
    }
    const { unknown } = notesOf(found);
    if (unknown.length > 0 && this.context.on_missing === 'error') throw unknownNeurons(unknown);
    const resolved: ResolvedSelector[] = [];
    // By the list itself: many selectors name the same set and share its list, in which thousands may be missing.
    const names = new Map<readonly MissingName[], readonly string[]>();
    for (const [i, { neurons, unknown, substituted, sources }] of found.entries()) {
      yield;
      if (neurons.isEmpty && this.context.on_missing === 'error') throw emptyNodeSet(selectors[i]!);
      const missing = getOrInsert(names, unknown, () => [...new Set(unknown.map(({ name }) => name))]);
      resolved.push({ neurons: neurons.toIndices(), missing, substituted, sources });
    }
    return resolved;
  }

  /** False if types must replace the cells of a published set: sampled brains and other animals lack these cells. */
  hasCellsOf({ root_ids: rootIds }: NodeSet): boolean {
    const { metadata } = this.connectome;
    return (
      metadata.wiring !== 'synthetic' &&
      (isFlyWire(metadata) || rootIds.some((id) => this.#neurons.withId(id) !== undefined))
    );
  }

  /** @returns the types that replace the cells of a set */
  typesFor({ types, types_elsewhere: elsewhere = [] }: NodeSet): readonly string[] {
    return isFlyWire(this.connectome.metadata) ? types : [...types, ...elsewhere];
  }

  *#resolve(selector: SetSelector, path: string): InParts<ResolvedSet> {
    yield;
    if (typeof selector === 'string') return yield* this.#reference(selector, path);
    if (isList(selector)) return yield* this.#list(selector, path);
    return yield* this.#withAllLabels(selector, path);
  }

  *#list(selectors: readonly SetSelector[], path: string): InParts<ResolvedSet> {
    const types: NameAt[] = [];
    const parts: ResolvedSet[] = [];
    for (const [i, selector] of selectors.entries()) {
      const here = `${path}/${i}`;
      if (this.#isType(selector)) types.push({ name: selector, path: here });
      else parts.push(yield* this.#resolve(selector, here));
    }
    // Types come first and together, because a list may have thousands of them.
    parts.unshift(yield* this.#anyOf('type', types, (name) => this.#near(name)));
    return { ...notesOf(parts), neurons: NeuronSet.union(parts.map(({ neurons }) => neurons)) };
  }

  #isType(selector: SetSelector): selector is string {
    return (
      typeof selector === 'string' &&
      nameOnSide(selector)?.side === undefined &&
      !selector.startsWith(PUBLISHED_PREFIX) &&
      !Object.hasOwn(this.context.node_sets, selector) &&
      !this.#isRootId(selector)
    );
  }

  /** True for digits that are no type: people paste root ids as text. */
  #isRootId(name: string): boolean {
    return ROOT_ID.test(name) && this.#neurons.matchingLabels('type', name).length === 0;
  }

  *#reference(text: string, path: string): InParts<ResolvedSet> {
    const found = this.#references.get(text) ?? (yield* this.#newReference(text, path));
    this.#references.set(text, found);
    return found;
  }

  *#newReference(text: string, path: string): InParts<ResolvedSet> {
    const { name, side } = nameOnSide(text) ?? { name: text };
    if (side !== undefined) {
      const found = yield* this.#reference(name, path);
      const onSide = this.#matching('side', side);
      return { ...found, neurons: NeuronSet.intersection([found.neurons, onSide]) };
    }
    if (Object.hasOwn(this.context.node_sets, name)) {
      return yield* this.#resolve(this.context.node_sets[name]!, `/node_sets/${name}`);
    }
    if (name.startsWith(PUBLISHED_PREFIX)) return this.#publishedSet(name, path);
    if (this.#isRootId(name)) return this.#ids(name, path);
    return yield* this.#anyOf('type', [{ name, path }], (each) => this.#near(each));
  }

  /** Finds the neurons that have any of several values of a label. */
  *#anyOf(label: Label, wanted: readonly NameAt[], near: (name: string) => string[]): InParts<ResolvedSet> {
    const missingLabel = (at: NameAt): MissingName => {
      const synonym = label === 'type' ? synonymOf(at.name, this.#neurons) : undefined;
      if (synonym === undefined) return { ...at, near: () => near(at.name) };
      const { types, sources } = synonym;
      const reason = `called ${types.join(', ')} here: ${sources.join('; ')}`;
      return { ...at, reason, near: () => types };
    };
    const [only, ...others] = wanted;
    if (only !== undefined && others.length === 0) {
      const neurons = this.#matching(label, only.name);
      return { ...NO_NOTES, neurons, unknown: neurons.isEmpty ? [missingLabel(only)] : [] };
    }
    // Unites values and not neurons, because there are far fewer values.
    const values = new Set<string>();
    const unknown: MissingName[] = [];
    for (const each of wanted) {
      if (each.name.includes('*')) yield;
      const matching = this.#neurons.matchingLabels(label, each.name);
      if (matching.length === 0) unknown.push(missingLabel(each));
      for (const value of matching) values.add(value);
    }
    return { ...NO_NOTES, neurons: this.#neurons.withValues(label, values), unknown };
  }

  #matching(label: Label, pattern: string): NeuronSet {
    return getOrInsert(this.#labelled, `${label} ${pattern}`, () =>
      this.#neurons.withValues(label, this.#neurons.matchingLabels(label, pattern)),
    );
  }

  #publishedSet(reference: string, path: string): ResolvedSet {
    const name = reference.slice(PUBLISHED_PREFIX.length);
    if (name === ALL_NEURONS) return { ...NO_NOTES, neurons: this.#neurons.everybody() };
    const population = this.#population(name);
    if (population !== undefined) return this.#setOf(population);
    const set = this.published.find(name);
    const lacks = (reason?: string): ResolvedSet => {
      const near = () => (reason === undefined ? this.#near(reference) : []);
      return { ...this.#setOf(NO_NEURONS), unknown: [{ name: reference, path, reason, near }] };
    };
    if (set === undefined) return lacks();
    if (set.root_ids.length === 0) return lacks('release 783 has other ids for all neurons of this set');
    const sources = [this.published.sourceOf(set)];
    if (this.hasCellsOf(set))
      return { ...this.#withIds(set.root_ids.map((id) => ({ name: id, path }))), sources };
    const types = this.typesFor(set).filter((type) => this.#neurons.matchingLabels('type', type).length > 0);
    if (types.length === 0) {
      const brain =
        this.connectome.metadata.wiring === 'synthetic' ? 'is synthetic' : 'is not that of FlyWire';
      return lacks(`the brain ${brain}, and no cell type stands for this set there`);
    }
    const neurons = this.#neurons.withLabels({ type: types });
    return { ...NO_NOTES, neurons, substituted: [reference], sources };
  }

  /** @returns the neurons of a stimulus or channel of the model; its name begins with the kind */
  #population(name: string): Uint32Array | undefined {
    const { stimuli, channels } = this.connectome.metadata;
    const channel = channels.find(({ id }) => name === `channel/${id}`);
    if (channel !== undefined) return this.connectome.channelNeurons(channel.id);
    const stimulus = stimuli.find(({ id }) => name === `stimulus/${id}`);
    return stimulus && this.connectome.stimulusNeurons(stimulus.id).slice().sort();
  }

  *#withAllLabels(selector: LabelSelector, path: string): InParts<ResolvedSet> {
    const { root_id: rootIds, except } = selector;
    const parts: ResolvedSet[] = [];
    for (const label of LABELS) {
      const wanted = selector[label];
      if (wanted === undefined) continue;
      const nearest = (name: string) => nearestNames(name, this.#neurons.labels(label));
      const found = yield* this.#anyOf(label, itemsAt(wanted, `${path}/${label}`), nearest);
      // A side without neurons is empty and not unknown.
      parts.push(label === 'side' ? { ...found, unknown: [] } : found);
    }
    if (rootIds !== undefined) parts.push(this.#ids(rootIds, `${path}/root_id`));
    for (const direction of DIRECTIONS) {
      if (selector[direction] !== undefined) parts.push(yield* this.#neighbours(direction, selector, path));
    }
    const neurons = NeuronSet.intersection(parts.map((part) => part.neurons));
    if (except === undefined) return { neurons, ...notesOf(parts) };
    const excepted = yield* this.#resolve(except, `${path}/except`);
    return { neurons: neurons.without(excepted.neurons), ...notesOf([...parts, excepted]) };
  }

  /** Uses the model's connections, even if an experiment edits them. */
  *#neighbours(
    direction: Direction,
    { [direction]: origin, hops = 1, minimum_synapses: given }: LabelSelector,
    path: string,
  ): InParts<ResolvedSet> {
    const { minimumSynapses } = this.connectome.metadata;
    if (given !== undefined && given < minimumSynapses) {
      throw new CodedError(
        'INVALID_PARAMETER',
        `minimum_synapses must be at least ${minimumSynapses}, since the model has no connections of fewer synapses, ` +
          `got ${given}.`,
        { path: `${path}/minimum_synapses` },
      );
    }
    const { neurons, ...notes } = yield* this.#resolve(origin!, `${path}/${direction}`);
    const walk = { direction, hops, minimumSynapses: given ?? minimumSynapses };
    const reached = yield* neighboursOf(this.connectome, neurons.toIndices(), walk);
    return { ...this.#setOf(reached), ...notes };
  }

  #ids(rootIds: string | readonly string[], path: string): ResolvedSet {
    if (this.connectome.metadata.wiring === 'synthetic') {
      const allowed = 'types, classes or published sets: the cells of a synthetic brain have no root ids';
      throw refused(pathOf(path), rootIds, allowed);
    }
    return this.#withIds(itemsAt(rootIds, path));
  }

  #withIds(ids: readonly NameAt[]): ResolvedSet {
    const neurons: number[] = [];
    const unknown: MissingName[] = [];
    for (const { name, path } of ids) {
      const neuron = this.#neurons.withId(name);
      if (neuron === undefined) unknown.push({ name, path, near: () => [] });
      else neurons.push(neuron);
    }
    return { ...this.#setOf(Uint32Array.from(new Set(neurons)).sort()), unknown };
  }

  /** @param neurons ascending indices */
  #setOf(neurons: Uint32Array): ResolvedSet {
    return { ...NO_NOTES, neurons: NeuronSet.of(neurons, this.connectome.neuronCount) };
  }

  /** @returns names that may have been meant: types, sets of the document, published sets, populations */
  #near(name: string): string[] {
    const { stimuli, channels } = this.connectome.metadata;
    const published = [
      ALL_NEURONS,
      ...this.published.names(),
      ...channels.map(({ id }) => `channel/${id}`),
      ...stimuli.map(({ id }) => `stimulus/${id}`),
    ];
    return nearestNames(name, [
      ...this.#neurons.labels('type'),
      ...Object.keys(this.context.node_sets),
      ...published.map((each) => `${PUBLISHED_PREFIX}${each}`),
    ]);
  }
}

/** @returns a name, or each of several, with its path */
function itemsAt(names: string | readonly string[], path: string): NameAt[] {
  if (typeof names === 'string') return [{ name: names, path }];
  return names.map((name, i) => ({ name, path: `${path}/${i}` }));
}

function notesOf(found: readonly Notes[]): Notes {
  return {
    unknown: distinct(found.map(({ unknown }) => unknown)),
    substituted: distinct(found.map(({ substituted }) => substituted)),
    sources: distinct(found.map(({ sources }) => sources)),
  };
}

/**
 * @returns the distinct items of several lists. The sets of a document may name each other several times, and without
 *   this, the lists would double with every level. Most lists are the same one, so it is fast
 */
export function distinct<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const different = [...new Set(lists)].filter(({ length }) => length > 0);
  return different.length > 1 ? [...new Set(different.flat())] : (different[0] ?? []);
}

function unknownNeurons(unknown: readonly MissingName[]): CodedError {
  const first = new Map<string, MissingName>();
  for (const each of unknown) if (!first.has(each.name)) first.set(each.name, each);
  const suggestions = new Set<string>();
  const described = [...first.values()].map(({ name, reason, near }, i) => {
    const names = i < NAMES_WITH_SUGGESTIONS ? near() : [];
    names.forEach((each) => suggestions.add(each));
    const note = reason ?? (names.length === 0 ? undefined : `near: ${names.join(', ')}`);
    return describeValue(name) + (note === undefined ? '' : ` (${note})`);
  });
  return new CodedError('UNKNOWN_NEURONS', `The model lacks ${described.join(', ')}.`, {
    path: unknown[0]!.path,
    ...(suggestions.size > 0 && { suggestions: [...suggestions] }),
  });
}

function tooManyNeurons(selected: number, maximum: number): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `The selectors of the experiment select at least ${selected} neurons in all; at most ${maximum} are allowed. ` +
      'With fewer or smaller node sets it would fit.',
    { path: '' },
  );
}

function emptyNodeSet({ selector, path }: SelectorAt): CodedError {
  return new CodedError(
    'EMPTY_NODE_SET',
    `The selector${path === '' ? '' : ` at ${path}`} must select at least one neuron, got none with ${describeValue(selector, 200)}.`,
    { path },
  );
}

/**
 * @returns the neurons of all types that match any of the patterns, ascending; none without a pattern
 * @throws CodedError UNKNOWN_NEURONS if a pattern matches no type, with near names
 */
export function neuronsOfTypes(connectome: Connectome, patterns: readonly string[]): Uint32Array {
  const sets = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'error' });
  return patterns.length === 0 ? NO_NEURONS : sets.neuronsOf({ type: patterns }, '').neurons;
}
