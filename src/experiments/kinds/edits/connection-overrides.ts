import { cumsum } from 'd3-array';
import type { Connectome } from '../../../engine/connectome/connectome.js';
import { listed, selectorWords } from '../../../engine/connectome/set-selector.js';
import { CodedError } from '../../../engine/errors.js';
import { getOrInsert } from '../../../engine/get-or-insert.js';
import type { ResultOf } from '../../../engine/parts.js';
import { nameOf, pointerTo, refused } from '../../../engine/schema/json-path.js';
import { count, mapOf, number, object, type Static } from '../../../engine/schema/json-schema.js';
import type { ConnectionOverride } from '../../../engine/stimulus/protocol.js';
import { INPUT_NAME, NODE_SET } from '../fields.js';
import type { ExperimentWarning } from '../warning.js';
import { allGroups, allNeurons, groupsOf } from '../groups.js';
import type { AxisValue, GroupAxis, ResponderAxis, SweptGroup } from '../grid.js';
import type { ConditionEdits, EditContext, EditKind } from '../edit-kind.js';
import { sharedArray } from '../shared-array.js';

/** Number of neurons whose connections are read without a pause. That takes less than 10 ms even for the largest ones. */
const ROWS_AT_ONCE = 4096;

const WEIGHT = number(
  'Multiplies every connection from a source to a target: 0 cuts it, -1 turns its sign. Of several overrides of one ' +
    'connection the product counts.',
  { minimum: -20, maximum: 20, examples: [0] },
);
const OVERRIDE = object(
  'Connections whose weight is multiplied.',
  {
    source: { ...NODE_SET, description: 'Neurons at which the connections begin.', examples: ['LC4'] },
    target: { ...NODE_SET, description: 'Neurons at which they end.', examples: ['DNp01'] },
    weight: WEIGHT,
  },
  { component: 'ConnectionOverride' },
);
const SCHEMA = mapOf('Connections that are cut, weakened, strengthened or turned, by name.', OVERRIDE, {
  propertyNames: INPUT_NAME,
  maxProperties: 32,
  examples: [{ direct: { source: 'LC4', target: 'DNp01', weight: 0 } }],
});

const ENDS = ['source', 'target'] as const;
type EndName = (typeof ENDS)[number];

const COUNTS = object(
  'The connections of an override in the wiring of the model; if a sweep takes groups in turn, of all together.',
  {
    pairs: count('Connections: ordered pairs of neurons.'),
    synapses: count('Their synapses.'),
  },
  { component: 'ConnectionCounts' },
);

/** Multiplies the weights of connections between sets of neurons. */
export const connectionOverrides = {
  schema: SCHEMA,
  resolved: {
    schema: mapOf('The connections of each override, if there are overrides.', COUNTS, {
      component: 'OverriddenConnections',
    }),
    linesOf: (overrides: Readonly<Record<string, Static<typeof COUNTS>>>) =>
      Object.entries(overrides).map(
        ([name, { pairs, synapses }]) =>
          [`connection_overrides.${name}`, `${pairs} connections, ${synapses} synapses`] as const,
      ),
  },
  words: (overrides, swept) =>
    listed(
      Object.entries(overrides).map(([name, { source, target, weight }]) => {
        const times = swept.includes(parameterOf(name, 'weight')) ? 'a weight' : String(weight);
        return `connections from ${selectorWords(source)} to ${selectorWords(target)} times ${times}`;
      }),
    ),
  numbers: (names) => Object.fromEntries(names.map((name) => [parameterOf(name, 'weight'), WEIGHT])),
  groups: {
    parameters: (names) => names.flatMap((name) => ENDS.map((end) => parameterOf(name, end))),
    done: 'at one end of the override',
    unchanged: 'a group without a connection has none to change',
  },
  // Sorted by name, so that equal overrides give equal documents.
  parsed(overrides) {
    const names = Object.keys(overrides).sort();
    return names.length > 0 ? Object.fromEntries(names.map((name) => [name, overrides[name]!])) : undefined;
  },
  usesOf: (overrides) =>
    Object.entries(overrides).flatMap(([name, override]) =>
      ENDS.map((end) => ({
        name: parameterOf(name, end),
        selectors: [{ selector: override[end], path: `/connection_overrides/${name}/${end}` }],
      })),
    ),
  *planned(context, given = {}) {
    const overrides: ResultOf<typeof plannedOverride>[] = [];
    const shared = new Map<string, Uint32Array>();
    for (const name of Object.keys(given).sort()) {
      const { weight, ...selectors } = given[name]!;
      const ends = ENDS.map((end) => endOf(context, parameterOf(name, end), shared, selectors[end]));
      overrides.push(yield* plannedOverride(context, name, weight, ends as [End, End]));
    }
    if (overrides.length === 0) return {};
    return {
      warnings: overrides.flatMap(({ warning }) => warning ?? []),
      resolved: {
        connection_overrides: Object.fromEntries(overrides.map(({ name, counts }) => [name, counts])),
      },
      protocolIn(condition) {
        const own = overrides.flatMap((override) => override.in(condition));
        return own.length > 0 ? { overrides: own } : {};
      },
      pairsAt: (coordinates) =>
        overrides.reduce((sum, override) => sum + override.mostPairsAt(coordinates), 0),
      isIdleAt: (coordinates, values) => overrides.some((override) => override.isIdleAt(coordinates, values)),
    };
  },
} satisfies EditKind<Static<typeof SCHEMA>>;

function parameterOf(name: string, member: EndName | 'weight'): string {
  return `connection_overrides.${name}.${member}`;
}

type End = ReturnType<typeof endOf>;

/**
 * The neurons at one end of an override, in parts. An end that an axis sweeps has a part for each group; others have one part.
 * @param shared the neurons of earlier selectors: equal selectors share one array
 */
function endOf(
  { connectome, grid, neurons: resolved }: EditContext,
  parameter: string,
  shared: Map<string, Uint32Array>,
  selector: unknown,
) {
  const neurons = getOrInsert(shared, JSON.stringify(selector), () => sharedArray(resolved.get(parameter)!));
  const axis = grid.axisOf(parameter);
  /** The axis whose groups replace the neurons, if there is one. */
  const swept = grid.axes[axis] as GroupAxis | ResponderAxis | undefined;
  /** The part of each neuron of the connectome, from 1; 0 if it is in none. */
  const partOf = new Uint32Array(connectome.neuronCount);
  // The responding groups are not known yet, so each neuron is a part.
  const parts =
    swept?.kind === 'responders'
      ? Array.from(partOf, (_, neuron) => [neuron])
      : swept
        ? allGroups(swept.groups)
        : [neurons];
  for (const [at, part] of parts.entries()) for (const neuron of part) partOf[neuron] = at + 1;
  return { parameter, neurons, axis, swept, parts: parts.length, partOf };
}

/**
 * Numbers of connections between the parts of two ends. That from part s to part t is at s * (parts of the target) + t.
 * Signed connections deliver something, because their source has a sign.
 */
function* countedPairs(
  { neuronCount, rowStart, targets, synapseCounts, signs }: Connectome,
  source: End,
  target: End,
) {
  const ofParts = new Uint32Array(source.parts * target.parts);
  let [pairs, synapses, signedPairs] = [0, 0, 0];
  for (let neuron = 0; neuron < neuronCount; neuron++) {
    if (neuron % ROWS_AT_ONCE === 0) yield;
    const from = source.partOf[neuron]!;
    if (from === 0) continue;
    for (let at = rowStart[neuron]!; at < rowStart[neuron + 1]!; at++) {
      const to = target.partOf[targets[at]!]!;
      if (to === 0) continue;
      ofParts[(from - 1) * target.parts + to - 1]!++;
      pairs++;
      if (signs[neuron] !== 0) signedPairs++;
      synapses += synapseCounts[at]!;
    }
  }
  return { ofParts, pairs, synapses, signedPairs };
}

/** @throws CodedError INVALID_PARAMETER, NO_CONNECTION */
function* plannedOverride(
  context: EditContext,
  name: string,
  weight: number,
  ends: readonly [source: End, target: End],
) {
  const { connectome, grid, skipsMissing, isRewired } = context;
  const [source, target] = ends;
  const swept = ends.filter((end) => end.swept !== undefined);
  const responders = swept.find((end) => end.swept!.kind === 'responders');
  if (responders !== undefined && swept.length > 1) {
    const allowed = 'an end whose other end no axis sweeps, as its groups are responders';
    throw refused(['sweep', responders.axis, 'as'], responders.parameter, allowed);
  }
  const { ofParts, signedPairs, ...counts } = yield* countedPairs(connectome, source, target);
  const isUnconnected = swept.length === 0 && counts.pairs === 0 && !isRewired;
  if (isUnconnected && !skipsMissing) {
    const path = ['connection_overrides', name];
    throw new CodedError(
      'NO_CONNECTION',
      `${nameOf(path)} must have a connection from one of its ${source.neurons.length} source neurons to one of its ` +
        `${target.neurons.length} target neurons, found none.`,
      { path: pointerTo(path) },
    );
  }
  const mostPairs = responders === undefined ? 0 : largestGroup(connectome, responders, ofParts);
  const matched = swept.find((end) => end.axis === grid.matchedAxis);
  const mostDrawn = matched && (yield* mostOfSets(context, matched, ends));
  /** Number of connections in a condition; an upper bound if groups are not known yet. */
  const pairsAt = (coordinates: readonly number[], values?: readonly AxisValue[]): number => {
    const [from, to] = ends.map((end) => partsAt(end, coordinates, values));
    if (from === undefined || to === undefined) return mostPairs;
    let pairs = 0;
    for (const part of from) for (const other of to) pairs += ofParts[part * target.parts + other]!;
    return pairs;
  };
  const isEmpty = ends.some(({ neurons }) => neurons.length === 0);
  const isSilent = counts.pairs > 0 && signedPairs === 0 && !isRewired;
  return {
    name,
    counts,
    ...((isSilent || (isUnconnected && !isEmpty)) && { warning: withoutEffect(name, counts.pairs) }),
    /** The override in a condition; empty if it changes nothing there. */
    in({ valueOf, groupOf }: ConditionEdits): ConnectionOverride[] {
      const ownWeight = valueOf(parameterOf(name, 'weight')) ?? weight;
      const [sources, targets] = ends.map(({ parameter, neurons }) => {
        const group = groupOf(parameter);
        return group ? sharedArray(group) : group === null ? undefined : neurons;
      });
      if (sources === undefined || targets === undefined || ownWeight === 1) return [];
      return [{ sources, targets, weight: ownWeight }];
    },
    /** Tells whether a group that replaces an end has no connection. A rewired network may have others than the model. */
    isIdleAt: (coordinates: readonly number[], values?: readonly AxisValue[]) =>
      !isRewired && swept.some(({ axis }) => coordinates[axis]! > 0) && pairsAt(coordinates, values) === 0,
    /** An upper bound for the condition and its matched controls. */
    mostPairsAt: (coordinates: readonly number[]) =>
      Math.max(pairsAt(coordinates), mostDrawn?.(coordinates[matched!.axis]!) ?? 0),
  };
}

function withoutEffect(name: string, pairs: number): ExperimentWarning {
  const reason =
    pairs === 0
      ? 'the model has no connection from one of its sources to one of its targets.'
      : `the sources of its ${pairs === 1 ? 'one connection' : `${pairs} connections`} have the sign 0 in the model, so ` +
        'they deliver nothing with any weight.';
  return { code: 'NO_EFFECT', message: `The override ${name} changes nothing: ${reason}` };
}

/** @returns the parts of an end in a condition; undefined if its group of responders is not known yet */
function partsAt({ axis, swept }: End, coordinates: readonly number[], values?: readonly AxisValue[]) {
  if (swept === undefined) return [0];
  const coordinate = coordinates[axis]!;
  if (coordinate === 0) return [];
  return swept.kind === 'groups' ? [coordinate - 1] : (values?.[axis] as SweptGroup | undefined)?.neurons;
}

/**
 * @param isRewired a rewired network may have connections to the other end that the model lacks
 * @returns the most connections to the other end that matched neurons can have in the place of the group at a coordinate
 */
function* mostOfSets(
  { connectome, isRewired }: EditContext,
  matched: End,
  [source, target]: readonly [source: End, target: End],
) {
  const { rowStart, targets, neuronCount } = connectome;
  const isSource = matched === source;
  const other = isSource ? target : source;
  const counts = (neuron: number) => isRewired || other.partOf[neuron] !== 0;
  const ofNeurons = new Uint32Array(neuronCount);
  for (let neuron = 0; neuron < neuronCount; neuron++) {
    if (neuron % ROWS_AT_ONCE === 0) yield;
    if (!isSource && !counts(neuron)) continue;
    for (let at = rowStart[neuron]!; at < rowStart[neuron + 1]!; at++) {
      if (!isSource) ofNeurons[targets[at]!]!++;
      else if (counts(targets[at]!)) ofNeurons[neuron]!++;
    }
  }
  const ofSizes = cumsum(ofNeurons.sort().reverse());
  const swept = matched.swept!;
  const { sizes } =
    swept.kind === 'groups' ? swept.groups : groupsOf(connectome, allNeurons(connectome), swept.groupBy);
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
  return (coordinate: number): number => {
    if (coordinate === 0) return 0;
    const size = swept.kind === 'groups' ? sizes[coordinate - 1]! : largest;
    return ofSizes[size - 1] ?? 0;
  };
}

/** The most connections that one group of responders can have. @param ofNeurons connections of each neuron */
function largestGroup(connectome: Connectome, { swept }: End, ofNeurons: Uint32Array): number {
  const { groupBy } = swept as ResponderAxis;
  const { count: groups, groupOfPosition } = groupsOf(connectome, allNeurons(connectome), groupBy);
  const pairs = new Uint32Array(groups);
  groupOfPosition.forEach((group, neuron) => (pairs[group]! += ofNeurons[neuron]!));
  return pairs.reduce((a, b) => Math.max(a, b), 0);
}
