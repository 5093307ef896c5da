/** Finds the neurons of every selector of a document. */
import { SIDES, type Connectome } from '../../connectome/connectome.js';
import type { SetSelector } from '../../connectome/set-selector.js';
import { CodedError } from '../../errors.js';
import type { EachAxis, ExperimentDocument, RespondersSelector } from './document.js';
import { invalid, memberOf, WHOLE } from './place.js';
import type { ResolvedSet } from './result.js';

/** Resolves the selectors of one document. */
export interface SelectorResolver {
  /**
   * @param path JSON Pointer of the selector, for errors
   * @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET
   */
  neuronsOf(selector: SetSelector, path: string): ResolvedNeurons;
}

export interface ResolvedNeurons {
  /** Ascending, none twice. */
  readonly neurons: Uint32Array;
  /** Ids and types that the model lacks, where they may be skipped. */
  readonly missing: readonly string[];
  /** Published sets whose types stand for neurons that a synthetic brain lacks. */
  readonly substituted: readonly string[];
}

export interface ResolvedDocument {
  /** For the answer. */
  readonly sets: Readonly<Record<string, ResolvedSet>>;
  /** By name. */
  readonly inputs: ReadonlyMap<string, Uint32Array>;
  readonly reports: ReadonlyMap<string, Uint32Array>;
  readonly silenced: Uint32Array;
  /** By the place of an `each` axis with a selector. */
  readonly swept: ReadonlyMap<number, Uint32Array>;
  /** Of all selectors, each once, in their order. */
  readonly missing: readonly string[];
  readonly substituted: readonly string[];
}

/** @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET, INVALID_PARAMETER */
export function resolveDocument(
  connectome: Connectome,
  document: ExperimentDocument,
  resolver: SelectorResolver,
): ResolvedDocument {
  const sets = new Map<string, ResolvedSet>();
  const missing = new Set<string>();
  const substituted = new Set<string>();
  /** @param name that stands for the neurons in the answer */
  const resolve = (name: string, selectors: readonly SelectorAt[]): Uint32Array => {
    const parts = selectors.map(({ selector, path }) => resolver.neuronsOf(selector, path));
    const neurons = united(parts.map((part) => part.neurons));
    const lacking = [...new Set(parts.flatMap((part) => part.missing))];
    for (const each of lacking) missing.add(each);
    for (const each of parts.flatMap((part) => part.substituted)) substituted.add(each);
    sets.set(name, resolvedSet(connectome, neurons, lacking));
    return neurons;
  };
  /** What is not a node set has a name that no node set may have. */
  const resolveUse = (name: string, ...selectors: readonly SelectorAt[]): Uint32Array => {
    if (Object.hasOwn(document.node_sets, name)) throw takenName(name);
    return resolve(name, selectors);
  };
  for (const [name, selector] of Object.entries(document.node_sets)) {
    resolve(name, [{ selector, path: `/node_sets/${name}` }]);
  }
  const inputs = new Map<string, Uint32Array>();
  for (const [name, { node_set: selector }] of Object.entries(document.inputs)) {
    inputs.set(name, resolveUse(`inputs.${name}`, { selector, path: `/inputs/${name}/node_set` }));
  }
  const silence = document.silence.map((selector, at) => ({ selector, path: `/silence/${at}` }));
  const silenced = silence.length === 0 ? new Uint32Array(0) : resolveUse('silence', ...silence);
  const swept = new Map<number, Uint32Array>();
  for (const [at, axis] of (document.sweep ?? []).entries()) {
    if ('set' in axis || isResponders(axis.each)) continue;
    swept.set(at, resolveUse(`sweep.${at}`, { selector: axis.each, path: `/sweep/${at}/each` }));
  }
  const reports = new Map<string, Uint32Array>();
  for (const [name, { node_set: selector }] of Object.entries(document.reports)) {
    reports.set(name, resolveUse(`reports.${name}`, { selector, path: `/reports/${name}/node_set` }));
  }
  for (const [name, neurons] of inputs) {
    for (const id of unusedTimes(connectome, document, name, neurons)) missing.add(id);
  }
  return {
    sets: Object.fromEntries(sets),
    inputs,
    reports,
    silenced,
    swept,
    missing: [...missing],
    substituted: [...substituted],
  };
}

interface SelectorAt {
  readonly selector: SetSelector;
  readonly path: string;
}

export function isResponders(each: EachAxis['each']): each is RespondersSelector {
  return typeof each === 'object' && 'responders_of' in each;
}

/** Ascending, each neuron once. */
export function united(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0]!;
  return Uint32Array.from(new Set(lists.flatMap((list) => [...list]))).sort();
}

function takenName(name: string): CodedError {
  return invalid(
    memberOf(memberOf(WHOLE, 'node_sets'), name),
    `node_sets must not have the name ${name}: in the answer it stands for a part of the document itself.`,
  );
}

/**
 * @returns ids with given times that are not among the neurons of the input, where they may be skipped
 * @throws CodedError UNKNOWN_NEURONS
 */
function unusedTimes(
  connectome: Connectome,
  { inputs, on_missing: onMissing }: ExperimentDocument,
  name: string,
  neurons: Uint32Array,
): string[] {
  const input = inputs[name]!;
  if (input.module !== 'spikes' || Array.isArray(input.times_ms)) return [];
  const ids = new Set(Array.from(neurons, (neuron) => connectome.neuronId(neuron)));
  const unused = Object.keys(input.times_ms).filter((id) => !ids.has(id));
  if (unused.length > 0 && onMissing === 'error') {
    throw new CodedError(
      'UNKNOWN_NEURONS',
      `inputs.${name}.times_ms may name only neurons of inputs.${name}.node_set, got ${unused.join(', ')}.`,
      { path: `/inputs/${name}/times_ms` },
    );
  }
  return unused;
}

function resolvedSet(
  { metadata, typeIndices, sides }: Connectome,
  neurons: Uint32Array,
  missing: readonly string[],
): ResolvedSet {
  const ofType = new Map<string, number>();
  const ofSide = new Map<string, number>();
  for (const neuron of neurons) {
    const type = metadata.types[typeIndices[neuron]!]!.name;
    ofType.set(type, (ofType.get(type) ?? 0) + 1);
    const side = SIDES[sides[neuron]!]!;
    ofSide.set(side, (ofSide.get(side) ?? 0) + 1);
  }
  return {
    neurons: neurons.length,
    sides: Object.fromEntries(
      SIDES.filter((side) => ofSide.has(side)).map((side) => [side, ofSide.get(side)!]),
    ),
    types: Object.fromEntries([...ofType].sort(([a], [b]) => (a < b ? -1 : 1))),
    missing,
  };
}
