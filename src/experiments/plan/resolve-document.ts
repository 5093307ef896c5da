/** Finds the neurons of every selector of a document. */
import type { Connectome } from '../../connectome/connectome.js';
import { labelCounts } from '../../connectome/label-counts.js';
import { networkName } from '../../connectome/model-id.js';
import { distinct, type NodeSetResolver, type SelectorAt } from '../../connectome/node-set-resolver.js';
import { unionOf } from '../../connectome/neuron-set.js';
import type { SetSelector } from '../../connectome/set-selector.js';
import { CodedError, describeValue } from '../../errors.js';
import type { InParts } from '../../parts.js';
import type { ExperimentDocument } from '../document/document.js';
import { invalid } from '../../schema/json-path.js';
import { axisKindName, axisKindOf } from '../kinds/axis-kinds.js';
import { EDIT_KINDS, editKindOf } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import type { ResolvedSet } from '../run/result.js';

export interface ResolvedDocument {
  /** For the answer. */
  readonly sets: Readonly<Record<string, ResolvedSet>>;
  /** Ascending, by the names that `sets` has. */
  readonly neurons: ReadonlyMap<string, Uint32Array>;
  /** Ids and types of all selectors that the model lacks, each once, in their order. */
  readonly missing: readonly string[];
  readonly substituted: readonly string[];
  readonly sources: readonly string[];
}

/** Selectors under one name in the answer: all selectors of `silence`, one of anything else. */
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
  checkNetwork(connectome, document);
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
  const unused = Object.entries(document.inputs).flatMap(([name, input]) => {
    const own = neurons.get(`inputs.${name}`)!;
    const path = ['inputs', name];
    return inputKindOf(input).unusedIds?.(connectome, input, own, path, document.on_missing) ?? [];
  });
  return {
    sets: Object.fromEntries(sets),
    neurons,
    missing: distinct([...resolved.map(({ missing }) => missing), unused]),
    substituted: distinct(resolved.map(({ substituted }) => substituted)),
    sources: distinct(resolved.map(({ sources }) => sources)),
  };
}

/** @throws CodedError INVALID_PARAMETER for a document that is meant for another network */
function checkNetwork({ metadata }: Connectome, { network }: ExperimentDocument): void {
  const own = networkName(metadata);
  if (network === undefined || network === own) return;
  throw invalid(
    ['network'],
    `network must be ${own}, which is the network of this model, got ${describeValue(network)}.`,
  );
}

/** @throws CodedError INVALID_PARAMETER where a node set has the name of another use */
function usesOf(document: ExperimentDocument): Use[] {
  const { node_sets: nodeSets, inputs, sweep = [], reports } = document;
  const one = (name: string, selector: SetSelector, path: string): Use => ({
    name,
    selectors: [{ selector, path }],
  });
  const uses = [
    ...Object.entries(inputs).map(([name, input]) =>
      one(`inputs.${name}`, input.node_set, `/inputs/${name}/node_set`),
    ),
    ...Object.keys(EDIT_KINDS).flatMap((name) => {
      const selectors = editKindOf(name)!.selectorsOf(document[name as keyof typeof EDIT_KINDS]);
      return selectors.length === 0 ? [] : [{ name, selectors }];
    }),
    ...sweep.flatMap((axis, at) => {
      const selector = axisKindOf(axis).selectorOf?.(axis);
      return selector === undefined
        ? []
        : [one(`sweep.${at}`, selector, `/sweep/${at}/${axisKindName(axis)}`)];
    }),
    ...Object.entries(reports).map(([name, report]) =>
      one(`reports.${name}`, report.node_set, `/reports/${name}/node_set`),
    ),
  ];
  const taken = uses.find(({ name }) => Object.hasOwn(nodeSets, name));
  if (taken !== undefined) {
    throw invalid(
      ['node_sets', taken.name],
      `node_sets must not have the name ${taken.name}: in the answer it stands for a part of the document itself.`,
    );
  }
  return [
    ...Object.entries(nodeSets).map(([name, selector]) => one(name, selector, `/node_sets/${name}`)),
    ...uses,
  ];
}
