import { CodedError, describeValue } from '../errors.js';
import { type Connectome, SIDES } from './connectome.js';
import { nearestNames } from './nearest-names.js';
import { differenceOf, intersectionOf, unionOf } from './neuron-sets.js';
import type { PublishedNodeSets } from './node-sets.js';
import { LABELS, type NeuronSelection, selectionOf } from './selection.js';
import { type LabelSelector, nameOnSide, PUBLISHED_PREFIX, type SetSelector } from './set-selector.js';

export interface ResolvedSelector {
  /** Ascending indices into the connectome, none twice. */
  readonly neurons: Uint32Array;
  /** Types, classes, ids and sets that the model lacks, in the order of the selector, none twice. */
  readonly missing: readonly string[];
  /** Published sets, with their prefix, for which types stand: the single cells of a synthetic brain were sampled. */
  readonly substituted: readonly string[];
}

export interface NodeSetContext {
  /** The document's own sets, without circles. */
  readonly nodeSets: Readonly<Record<string, SetSelector>>;
  readonly published: PublishedNodeSets;
  /** Names and ids that the model lacks: refuse them, or leave them out. */
  readonly onMissing: 'error' | 'skip';
}

export interface SelectorAt {
  readonly selector: SetSelector;
  /** JSON Pointer to the selector in the document. */
  readonly path: string;
}

interface Unknown {
  readonly name: string;
  readonly path: string;
  /** Why, where it is no matter of a name. */
  readonly reason?: string;
  readonly near: () => string[];
}

interface Found {
  readonly neurons: Uint32Array;
  readonly unknown: readonly Unknown[];
  readonly substituted: readonly string[];
}

const NOTHING: Found = { neurons: new Uint32Array(0), unknown: [], substituted: [] };

/** Near names are looked up for so many unknown ones at most: each costs a comparison with every type. */
const NAMES_WITH_SUGGESTIONS = 10;

/** Says which neurons the selectors of one document mean. Sets that are named several times are resolved once. */
export class NodeSetResolver {
  readonly #selection: NeuronSelection;
  readonly #sets = new Map<string, Found>();

  /** @throws CodedError INVALID_PARAMETER for a set of the document that has the name of a cell type */
  constructor(
    private readonly connectome: Connectome,
    private readonly context: NodeSetContext,
  ) {
    this.#selection = selectionOf(connectome);
    for (const name of Object.keys(context.nodeSets)) {
      if (this.#selection.withLabel('type', name).length > 0) {
        throw new CodedError(
          'INVALID_PARAMETER',
          `node_sets.${name} must have a name that is no cell type of the model, got ${describeValue(name)}.`,
          { path: `/node_sets/${name}` },
        );
      }
    }
  }

  /**
   * @throws CodedError UNKNOWN_NEURONS with all names and ids that the model lacks, EMPTY_NODE_SET, and
   *   INVALID_PARAMETER for root ids where the model has none
   */
  neuronsOf(selector: SetSelector, path: string): ResolvedSelector {
    return this.neuronsOfAll([{ selector, path }])[0]!;
  }

  /** The same for all selectors of a document, so that one error has what all of them lack. */
  neuronsOfAll(selectors: readonly SelectorAt[]): ResolvedSelector[] {
    const found = selectors.map(({ selector, path }) => this.#resolve(selector, path));
    const unknown = found.flatMap((each) => each.unknown);
    if (unknown.length > 0 && this.context.onMissing === 'error') throw unknownNeurons(unknown);
    return found.map(({ neurons, unknown: lacking, substituted }, i) => {
      if (neurons.length === 0) throw emptyNodeSet(selectors[i]!);
      return {
        neurons,
        missing: distinct(lacking.map(({ name }) => name)),
        substituted: distinct(substituted),
      };
    });
  }

  #resolve(selector: SetSelector, path: string): Found {
    if (typeof selector === 'string') return this.#reference(selector, path);
    if (isList(selector)) return this.#union(selector.map((each, i) => this.#resolve(each, `${path}/${i}`)));
    return this.#labelled(selector, path);
  }

  #union(parts: readonly Found[]): Found {
    return {
      neurons: unionOf(
        parts.map(({ neurons }) => neurons),
        this.connectome.neuronCount,
      ),
      unknown: parts.flatMap(({ unknown }) => unknown),
      substituted: parts.flatMap(({ substituted }) => substituted),
    };
  }

  #reference(text: string, path: string): Found {
    const { name, side } = nameOnSide(text) ?? { name: text };
    const found = this.#named(name, path);
    if (side === undefined) return found;
    const code = SIDES.indexOf(side);
    return { ...found, neurons: found.neurons.filter((i) => this.connectome.sides[i] === code) };
  }

  #named(name: string, path: string): Found {
    const isOwn = Object.hasOwn(this.context.nodeSets, name);
    if (!isOwn && !name.startsWith(PUBLISHED_PREFIX)) {
      const neurons = this.#selection.withLabel('type', name);
      return neurons.length > 0
        ? { ...NOTHING, neurons }
        : lacks({ name, path, near: () => this.#near(name) });
    }
    let found = this.#sets.get(name);
    if (found === undefined) {
      found = isOwn
        ? this.#resolve(this.context.nodeSets[name]!, `/node_sets/${name}`)
        : this.#published(name, path);
      this.#sets.set(name, found);
    }
    return found;
  }

  #published(reference: string, path: string): Found {
    const population = this.#population(reference.slice(PUBLISHED_PREFIX.length));
    if (population !== undefined) return { ...NOTHING, neurons: population };
    const set = this.context.published.find(reference.slice(PUBLISHED_PREFIX.length));
    if (set === undefined) return lacks({ name: reference, path, near: () => this.#near(reference) });
    if (this.connectome.metadata.wiring === 'measured') return this.#withIds(set.root_ids, () => path);
    const types = set.types.filter((type) => this.#selection.withLabel('type', type).length > 0);
    if (types.length > 0) {
      return { ...NOTHING, neurons: this.#selection.withLabels({ type: types }), substituted: [reference] };
    }
    return lacks({
      name: reference,
      path,
      reason: 'the brain is synthetic, and no cell type stands for this set there',
      near: () => [],
    });
  }

  /** A stimulus or channel of the model, whose names have the kind in front. */
  #population(name: string): Uint32Array | undefined {
    const { stimuli, channels } = this.connectome.metadata;
    const [kind, id] = name.split('/');
    if (kind === 'channel' && channels.some((each) => each.id === id)) {
      return this.connectome.channelNeurons(id!);
    }
    if (kind === 'stimulus' && stimuli.some((each) => each.id === id)) {
      return Uint32Array.from(this.connectome.stimulusNeurons(id!)).sort();
    }
    return undefined;
  }

  #labelled({ root_id: rootIds, except, ...patterns }: LabelSelector, path: string): Found {
    const parts: Found[] = [];
    for (const label of LABELS) {
      const wanted = patterns[label];
      if (wanted === undefined) continue;
      const values = typeof wanted === 'string' ? [wanted] : wanted;
      const own = values.map((name, i): Found => {
        const neurons = this.#selection.withLabel(label, name);
        // No neuron may have a side, but no side is unknown.
        if (neurons.length > 0 || label === 'side') return { ...NOTHING, neurons };
        const place = typeof wanted === 'string' ? `${path}/${label}` : `${path}/${label}/${i}`;
        return lacks({ name, path: place, near: () => this.#selection.nearestLabels(label, name) });
      });
      parts.push(this.#union(own));
    }
    if (rootIds !== undefined) parts.push(this.#ids(rootIds, `${path}/root_id`));
    const excepted = except === undefined ? NOTHING : this.#resolve(except, `${path}/except`);
    const all = this.#union([...parts, excepted]);
    const neurons = intersectionOf(parts.map((part) => part.neurons));
    return { ...all, neurons: differenceOf(neurons, excepted.neurons) };
  }

  #ids(rootIds: string | readonly string[], path: string): Found {
    if (this.connectome.metadata.wiring === 'synthetic') {
      throw new CodedError(
        'INVALID_PARAMETER',
        'root_id is not allowed with the model that is served: its brain is synthetic, its single cells were ' +
          'sampled and have no root ids. Name types, classes or published sets.',
        { path },
      );
    }
    return typeof rootIds === 'string'
      ? this.#withIds([rootIds], () => path)
      : this.#withIds(rootIds, (i) => `${path}/${i}`);
  }

  #withIds(ids: readonly string[], pathOf: (i: number) => string): Found {
    const neurons: number[] = [];
    const unknown: Unknown[] = [];
    for (const [i, name] of ids.entries()) {
      const neuron = this.#selection.withId(name);
      if (neuron === undefined) unknown.push({ name, path: pathOf(i), near: () => [] });
      else neurons.push(neuron);
    }
    return { neurons: Uint32Array.from(new Set(neurons)).sort(), unknown, substituted: [] };
  }

  /** What a string may have meant: types, sets of the document, published sets, populations. */
  #near(name: string): string[] {
    const { stimuli, channels } = this.connectome.metadata;
    const prefixed = [
      ...this.context.published.names(),
      ...channels.map(({ id }) => `channel/${id}`),
      ...stimuli.map(({ id }) => `stimulus/${id}`),
    ].map((each) => `${PUBLISHED_PREFIX}${each}`);
    return nearestNames(name, [
      ...this.#selection.labels('type'),
      ...Object.keys(this.context.nodeSets),
      ...prefixed,
    ]);
  }
}

function isList(selector: SetSelector): selector is readonly SetSelector[] {
  return Array.isArray(selector);
}

function lacks(unknown: Unknown): Found {
  return { ...NOTHING, unknown: [unknown] };
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function unknownNeurons(unknown: readonly Unknown[]): CodedError {
  const first = new Map<string, Unknown>();
  for (const each of unknown) if (!first.has(each.name)) first.set(each.name, each);
  const suggestions = new Set<string>();
  const described = [...first.values()].map(({ name, reason, near }, i) => {
    const names = i < NAMES_WITH_SUGGESTIONS ? near() : [];
    names.forEach((each) => suggestions.add(each));
    const notes = [
      ...(reason === undefined ? [] : [reason]),
      ...(names.length === 0 ? [] : [`near: ${names.join(', ')}`]),
    ];
    return describeValue(name) + (notes.length === 0 ? '' : ` (${notes.join('; ')})`);
  });
  return new CodedError('UNKNOWN_NEURONS', `The model lacks ${described.join(', ')}.`, {
    path: unknown[0]!.path,
    ...(suggestions.size > 0 && { suggestions: [...suggestions] }),
  });
}

function emptyNodeSet({ selector, path }: SelectorAt): CodedError {
  return new CodedError(
    'EMPTY_NODE_SET',
    `The selector at ${path} must select at least one neuron, got none with ${describeValue(selector, 200)}.`,
    { path },
  );
}
