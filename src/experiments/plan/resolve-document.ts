/** Finds the neurons of every selector of a document. */
import type { Connectome } from '../../connectome/connectome.js';
import { labelCounts } from '../../connectome/label-counts.js';
import { distinct, type NodeSetResolver, type SelectorAt } from '../../connectome/node-set-resolver.js';
import { unionOf } from '../../connectome/neuron-sets.js';
import { selectionOf } from '../../connectome/selection.js';
import type { SetSelector } from '../../connectome/set-selector.js';
import { CodedError } from '../../errors.js';
import type { InParts } from '../../parts.js';
import { placeOf } from '../../connectome/ascending.js';
import type { EachAxis, ExperimentDocument, RespondersSelector } from './document.js';
import { invalid, memberOf, WHOLE } from './place.js';
import type { ResolvedSet } from './result.js';

export interface ResolvedDocument {
  /** For the answer. */
  readonly sets: Readonly<Record<string, ResolvedSet>>;
  /** Ascending, by the names that `sets` has. */
  readonly neurons: ReadonlyMap<string, Uint32Array>;
  /** Of all selectors, each once, in their order. */
  readonly missing: readonly string[];
  readonly substituted: readonly string[];
  readonly sources: readonly string[];
}

/** What stands under one name in the answer: all selectors of `silence`, one of anything else. */
interface Use {
  readonly name: string;
  readonly selectors: readonly SelectorAt[];
}

/** @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET, INVALID_PARAMETER */
export function* resolveDocument(
  connectome: Connectome,
  document: ExperimentDocument,
  resolver: Pick<NodeSetResolver, 'resolving'>,
  limits: { readonly selectedNeurons: number },
): InParts<ResolvedDocument> {
  const uses = usesOf(document);
  const resolved = yield* resolver.resolving(uses.flatMap(({ selectors }) => selectors));
  const selected = resolved.reduce((sum, { neurons: { length } }) => sum + length, 0);
  if (selected > limits.selectedNeurons) {
    throw new CodedError(
      'TOO_EXPENSIVE',
      `The selectors of the experiment select ${selected} neurons in all; at most ${limits.selectedNeurons} are ` +
        'allowed. With fewer or smaller node sets it would fit.',
      { path: '' },
    );
  }
  const sets = new Map<string, ResolvedSet>();
  const neurons = new Map<string, Uint32Array>();
  let at = 0;
  for (const { name, selectors } of uses) {
    yield;
    const parts = resolved.slice(at, (at += selectors.length));
    const own = unionOf(
      parts.map((part) => part.neurons),
      connectome.neuronCount,
    );
    neurons.set(name, own);
    const { types, sides } = labelCounts(connectome, own);
    const missing = distinct(parts.map((part) => part.missing));
    sets.set(name, { neurons: own.length, sides, types, missing });
  }
  const unused = Object.keys(document.inputs).flatMap((name) =>
    unusedTimes(connectome, document, name, neurons.get(`inputs.${name}`)!),
  );
  return {
    sets: Object.fromEntries(sets),
    neurons,
    missing: distinct([...resolved.map(({ missing }) => missing), unused]),
    substituted: distinct(resolved.map(({ substituted }) => substituted)),
    sources: distinct(resolved.map(({ sources }) => sources)),
  };
}

/** @throws CodedError INVALID_PARAMETER where a node set has the name of another use */
function usesOf({ node_sets: nodeSets, inputs, silence, sweep = [], reports }: ExperimentDocument): Use[] {
  const one = (name: string, selector: SetSelector, path: string): Use => ({
    name,
    selectors: [{ selector, path }],
  });
  const uses = [
    ...Object.entries(inputs).map(([name, input]) =>
      one(`inputs.${name}`, input.node_set, `/inputs/${name}/node_set`),
    ),
    ...(silence.length === 0
      ? []
      : [
          {
            name: 'silence',
            selectors: silence.map((selector, at) => ({ selector, path: `/silence/${at}` })),
          },
        ]),
    ...sweep.flatMap((axis, at) =>
      'set' in axis || isResponders(axis.each) ? [] : [one(`sweep.${at}`, axis.each, `/sweep/${at}/each`)],
    ),
    ...Object.entries(reports).map(([name, report]) =>
      one(`reports.${name}`, report.node_set, `/reports/${name}/node_set`),
    ),
  ];
  const taken = uses.find(({ name }) => Object.hasOwn(nodeSets, name));
  if (taken !== undefined) {
    throw invalid(
      memberOf(memberOf(WHOLE, 'node_sets'), taken.name),
      `node_sets must not have the name ${taken.name}: in the answer it stands for a part of the document itself.`,
    );
  }
  return [
    ...Object.entries(nodeSets).map(([name, selector]) => one(name, selector, `/node_sets/${name}`)),
    ...uses,
  ];
}

export function isResponders(each: EachAxis['each']): each is RespondersSelector {
  return typeof each === 'object' && 'responders_of' in each;
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
  const selection = selectionOf(connectome);
  const unused = Object.keys(input.times_ms).filter((id) => {
    const neuron = selection.withId(id);
    return neuron === undefined || placeOf(neurons, neuron) < 0;
  });
  if (unused.length > 0 && onMissing === 'error') {
    throw new CodedError(
      'UNKNOWN_NEURONS',
      `inputs.${name}.times_ms may name only neurons of inputs.${name}.node_set, got ${unused.join(', ')}.`,
      { path: `/inputs/${name}/times_ms` },
    );
  }
  return unused;
}
