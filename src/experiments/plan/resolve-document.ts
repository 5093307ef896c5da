/** Finds the neurons of every selector of a document. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { labelCounts } from '../../engine/connectome/label-counts.js';
import { networkName } from '../../engine/connectome/model-id.js';
import { distinct, type NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import { unionOf } from '../../engine/connectome/neuron-set.js';
import type { SetSelector } from '../../engine/connectome/set-selector.js';
import { describeValue } from '../../engine/errors.js';
import type { ResultOf } from '../../engine/parts.js';
import type { ExperimentDocument } from '../document/document.js';
import { invalid } from '../../engine/schema/json-path.js';
import { axisKindName, axisKindOf, parameterOf } from '../kinds/axis-kinds.js';
import { editKindOf, editsOf, RESOLVED_OF_EDITS } from '../kinds/edit-kinds.js';
import type { SelectorUse } from '../kinds/edit-kind.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import type { ResolvedSet } from '../document/result.js';

export type ResolvedDocument = ResultOf<typeof resolveDocument>;

/** Selectors with one name in the answer. Only `silence` and patterns have several. */
interface Use extends SelectorUse {
  /** The name of an input with several selectors. */
  readonly input?: string;
}

/** @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET, INVALID_PARAMETER */
export function* resolveDocument(
  connectome: Connectome,
  document: ExperimentDocument,
  resolver: Pick<NodeSetResolver, 'resolving'>,
  limits: { readonly selectedNeurons: number },
) {
  checkNetwork(connectome, document);
  const uses = usesOf(document);
  const resolved = yield* resolver.resolving(
    uses.flatMap(({ selectors }) => selectors),
    limits.selectedNeurons,
  );
  const sets: Record<string, ResolvedSet> = {};
  const neurons = new Map<string, Uint32Array>();
  const rows = new Map<string, Uint16Array>();
  const empty: string[] = [];
  let at = 0;
  for (const { name, selectors, input } of uses) {
    yield;
    const parts = resolved.slice(at, (at += selectors.length));
    const ofParts = parts.map((part) => part.neurons);
    const all = unionOf(ofParts, connectome.neuronCount);
    if (input !== undefined) {
      const kind = inputKindOf(document.inputs[input]!);
      rows.set(input, kind.rowsOf!(connectome, ofParts, all, ['inputs', input]));
    }
    neurons.set(name, all);
    const { types, sides } = labelCounts(connectome, all);
    const missing = distinct(parts.map((part) => part.missing));
    if (all.length === 0) empty.push(name);
    // Missing ids and types have a warning of their own.
    else
      selectors.forEach(({ path }, part) => {
        if (parts[part]!.neurons.length > 0 || parts[part]!.missing.length > 0) return;
        empty.push(path.slice(1).replaceAll('/', '.'));
      });
    sets[name] = { neurons: all.length, sides, types, missing };
  }
  const unused = Object.entries(document.inputs).flatMap(([name, input]) => {
    const ofInput = neurons.get(`inputs.${name}`)!;
    const path = ['inputs', name];
    return inputKindOf(input).unusedIds?.(connectome, input, ofInput, path, document.on_missing) ?? [];
  });
  return {
    /** For the member `resolved` of the answer. */
    sets,
    /** Ascending neurons, by the names in `sets`. */
    neurons,
    /** For inputs with several selectors, by name: the selector of each neuron (InputNeurons.rows). */
    rows,
    /** Names in the answer, or paths, of selectors that select nothing and are skipped. */
    empty,
    /** Ids and types that the model lacks, each once, in the order of the selectors. */
    missing: distinct([...resolved.map(({ missing }) => missing), unused]),
    substituted: distinct(resolved.map(({ substituted }) => substituted)),
    sources: distinct(resolved.map(({ sources }) => sources)),
  };
}

/** @throws CodedError INVALID_PARAMETER if the document names another network */
function checkNetwork({ metadata }: Connectome, { network }: ExperimentDocument): void {
  const own = networkName(metadata);
  if (network === undefined || network === own) return;
  throw invalid(
    ['network'],
    `network must be ${own}, which is the network of this model, got ${describeValue(network)}.`,
  );
}

/** @throws CodedError INVALID_PARAMETER if a node set has the name of another part of the answer */
function usesOf(document: ExperimentDocument): Use[] {
  const { node_sets: nodeSets, inputs, sweep = [], reports } = document;
  const one = (name: string, selector: SetSelector, path: string): Use => ({
    name,
    selectors: [{ selector, path }],
  });
  const uses = [
    ...Object.entries(inputs).map(([input, document]): Use => {
      const [name, path] = [`inputs.${input}`, `/inputs/${input}`];
      const selectors = inputKindOf(document).selectorsOf?.(document, path);
      return selectors ? { name, selectors, input } : one(name, document.node_set!, `${path}/node_set`);
    }),
    ...editsOf(document).flatMap(([, kind, value]) => kind.usesOf?.(value) ?? []),
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
  const facts = RESOLVED_OF_EDITS.map(({ name }) => name).filter(
    (name) =>
      Object.hasOwn(document, name) ||
      sweep.some((axis) => editKindOf(parameterOf(axis)) === editKindOf(name)),
  );
  const taken = [...uses.map(({ name }) => name), ...facts].find((name) => Object.hasOwn(nodeSets, name));
  if (taken !== undefined) {
    throw invalid(
      ['node_sets', taken],
      `node_sets must not have the name ${taken}: in the answer it stands for a part of the document itself.`,
    );
  }
  return [
    ...Object.entries(nodeSets).map(([name, selector]) => one(name, selector, `/node_sets/${name}`)),
    ...uses,
  ];
}
