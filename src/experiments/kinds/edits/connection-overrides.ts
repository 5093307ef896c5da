import type { Connectome } from '../../../connectome/connectome.js';
import { listed, selectorWords } from '../../../connectome/set-selector.js';
import { CodedError } from '../../../errors.js';
import { getOrInsert } from '../../../get-or-insert.js';
import type { InParts } from '../../../parts.js';
import { nameOf, pointerTo, refused } from '../../../schema/json-path.js';
import { count, mapOf, number, object, type Static } from '../../../schema/json-schema.js';
import type { ConnectionOverride } from '../../../stimulus/protocol.js';
import { INPUT_NAME, NODE_SET } from '../../document/fields.js';
import { allGroups, allNeurons, groupsOf } from '../../plan/groups.js';
import type { AxisValue, GroupAxis, ResponderAxis, SweptGroup } from '../../plan/sweep.js';
import type { ConditionEdits, EditContext, EditKind } from '../edit-kinds.js';
import { sharedArray } from '../shared-array.js';

/** Rows of the wiring that are read without a pause: less than 10 ms, also of those with most connections. */
const ROWS_AT_ONCE = 4096;

const WEIGHT = number(
  'Multiplies every connection from a source to a target: 0 cuts it, -1 turns its sign. Of several overrides of one ' +
    'connection the product counts.',
  { minimum: -20, maximum: 20, examples: [0] },
);
const OVERRIDE = object('Connections whose weight is multiplied.', {
  source: { ...NODE_SET, description: 'Neurons at which the connections begin.', examples: ['LC4'] },
  target: { ...NODE_SET, description: 'Neurons at which they end.', examples: ['DNp01'] },
  weight: WEIGHT,
});
const SCHEMA = mapOf('Connections that are cut, weakened, strengthened or turned, by name.', OVERRIDE, {
  propertyNames: INPUT_NAME,
  maxProperties: 32,
  examples: [{ direct: { source: 'LC4', target: 'DNp01', weight: 0 } }],
});

const ENDS = ['source', 'target'] as const;
type EndName = (typeof ENDS)[number];

const COUNTS = object(
  'The connections of an override in the wiring of the model; where a sweep takes groups in turn, of all together.',
  {
    pairs: count('Connections: ordered pairs of neurons.'),
    synapses: count('Their synapses.'),
  },
);

/** Weights of connections between sets of neurons. */
export const connectionOverrides = {
  schema: SCHEMA,
  resolved: {
    schema: mapOf('The connections of each override, where there are overrides.', COUNTS),
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
  // Their order is that of their names, so equal overrides are equal documents.
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
    const overrides: PlannedOverride[] = [];
    const shared = new Map<string, Uint32Array>();
    for (const name of Object.keys(given).sort()) {
      const { weight, ...selectors } = given[name]!;
      const ends = ENDS.map((end) => endOf(context, parameterOf(name, end), shared, selectors[end]));
      overrides.push(yield* plannedOverride(context, name, weight, ends as [End, End]));
    }
    if (overrides.length === 0) return {};
    return {
      resolved: {
        connection_overrides: Object.fromEntries(overrides.map(({ name, counts }) => [name, counts])),
      },
      protocolIn(condition) {
        const own = overrides.flatMap((override) => override.in(condition));
        return own.length > 0 ? { overrides: own } : {};
      },
      pairsAt: (places) => overrides.reduce((sum, override) => sum + override.pairsAt(places), 0),
      // Rewired, they may have connections that the model lacks.
      isIdleAt: (places, values) =>
        !context.isRewired &&
        overrides.some(({ hasGroupAt, pairsAt }) => hasGroupAt(places) && pairsAt(places, values) === 0),
    };
  },
} satisfies EditKind<Static<typeof SCHEMA>>;

function parameterOf(name: string, member: EndName | 'weight'): string {
  return `connection_overrides.${name}.${member}`;
}

/** Neurons at one end of an override, in parts: its own are one, those of an axis one for each group. */
interface End {
  readonly parameter: string;
  /** Its own neurons, in shared memory. */
  readonly neurons: Uint32Array;
  readonly axis: number;
  /** The axis whose groups take their place. */
  readonly swept: GroupAxis | ResponderAxis | undefined;
  readonly parts: number;
  /** The part of each neuron of the connectome, from 1; 0 where it is in none. */
  readonly partOf: Uint32Array;
}

/** @param shared the neurons of each selector that was seen before: equal selectors share one array */
function endOf(
  { connectome, grid, neurons: resolved }: EditContext,
  parameter: string,
  shared: Map<string, Uint32Array>,
  selector: unknown,
): End {
  const neurons = getOrInsert(shared, JSON.stringify(selector), () => sharedArray(resolved.get(parameter)!));
  const axis = grid.axisOf(parameter);
  const swept = grid.axes[axis] as End['swept'];
  // Which groups respond is not known yet: each neuron is a part.
  if (swept?.kind === 'responders') {
    const partOf = allNeurons(connectome).map((neuron) => neuron + 1);
    return { parameter, neurons, axis, swept, parts: partOf.length, partOf };
  }
  const parts = swept === undefined ? [neurons] : allGroups(swept.groups);
  const partOf = new Uint32Array(connectome.neuronCount);
  parts.forEach((part, at) => part.forEach((neuron) => (partOf[neuron] = at + 1)));
  return { parameter, neurons, axis, swept, parts: parts.length, partOf };
}

/** Connections between the parts of two ends. */
interface CountedPairs extends Static<typeof COUNTS> {
  /** Number from part s to part t, at s times the parts of the target, plus t. */
  readonly ofParts: Uint32Array;
}

function* countedPairs(
  { neuronCount, rowStart, targets, synapseCounts }: Connectome,
  source: End,
  target: End,
): InParts<CountedPairs> {
  const ofParts = new Uint32Array(source.parts * target.parts);
  let [pairs, synapses] = [0, 0];
  for (let neuron = 0; neuron < neuronCount; neuron++) {
    if (neuron % ROWS_AT_ONCE === 0) yield;
    const from = source.partOf[neuron]!;
    if (from === 0) continue;
    for (let at = rowStart[neuron]!; at < rowStart[neuron + 1]!; at++) {
      const to = target.partOf[targets[at]!]!;
      if (to === 0) continue;
      ofParts[(from - 1) * target.parts + to - 1]!++;
      pairs++;
      synapses += synapseCounts[at]!;
    }
  }
  return { ofParts, pairs, synapses };
}

interface PlannedOverride {
  readonly name: string;
  readonly counts: Static<typeof COUNTS>;
  /** The override of a condition, where it changes anything there. */
  in(condition: ConditionEdits): ConnectionOverride[];
  /** Tells whether a group takes the place of an end. */
  hasGroupAt(places: readonly number[]): boolean;
  /** Connections in a condition, the most that there can be where groups are not known. */
  pairsAt(places: readonly number[], values?: readonly AxisValue[]): number;
}

/** @throws CodedError INVALID_PARAMETER, NO_CONNECTION */
function* plannedOverride(
  { connectome, isRewired }: EditContext,
  name: string,
  weight: number,
  ends: readonly [source: End, target: End],
): InParts<PlannedOverride> {
  const [source, target] = ends;
  const swept = ends.filter((end) => end.swept !== undefined);
  const responders = swept.find((end) => end.swept!.kind === 'responders');
  if (responders !== undefined && swept.length > 1) {
    const path = ['sweep', responders.axis, 'as'];
    const allowed = 'an end whose other end no axis sweeps, as its groups are responders';
    throw refused(path, responders.parameter, allowed);
  }
  const { ofParts, ...counts } = yield* countedPairs(connectome, source, target);
  if (swept.length === 0 && counts.pairs === 0 && !isRewired) {
    const path = ['connection_overrides', name];
    throw new CodedError(
      'NO_CONNECTION',
      `${nameOf(path)} must have a connection from one of its ${source.neurons.length} source neurons to one of its ` +
        `${target.neurons.length} target neurons, found none.`,
      { path: pointerTo(path) },
    );
  }
  const mostPairs = responders === undefined ? 0 : largestGroup(connectome, responders, ofParts);
  return {
    name,
    counts,
    in({ valueOf, groupOf }) {
      const ownWeight = valueOf(parameterOf(name, 'weight')) ?? weight;
      const [sources, targets] = ends.map(({ parameter, neurons }) => {
        const group = groupOf(parameter);
        return group ? sharedArray(group) : group === null ? undefined : neurons;
      });
      if (sources === undefined || targets === undefined || ownWeight === 1) return [];
      return [{ sources, targets, weight: ownWeight }];
    },
    hasGroupAt: (places) => swept.some(({ axis }) => places[axis]! > 0),
    pairsAt(places, values) {
      const [from, to] = ends.map((end) => partsAt(end, places, values));
      if (from === undefined || to === undefined) return mostPairs;
      let pairs = 0;
      for (const part of from) for (const other of to) pairs += ofParts[part * target.parts + other]!;
      return pairs;
    },
  };
}

/** @returns the parts of an end in a condition; undefined for a group of responders that is not known yet */
function partsAt({ axis, swept }: End, places: readonly number[], values?: readonly AxisValue[]) {
  if (swept === undefined) return [0];
  const place = places[axis]!;
  if (place === 0) return [];
  return swept.kind === 'groups' ? [place - 1] : (values?.[axis] as SweptGroup | undefined)?.neurons;
}

/** Connections of the largest group of responders that there can be. @param ofNeurons connections of each neuron */
function largestGroup(connectome: Connectome, { swept }: End, ofNeurons: Uint32Array): number {
  const { groupBy } = swept as ResponderAxis;
  const { count: groups, ofPlaces } = groupsOf(connectome, allNeurons(connectome), groupBy);
  const pairs = new Uint32Array(groups);
  ofPlaces.forEach((group, neuron) => (pairs[group]! += ofNeurons[neuron]!));
  return pairs.reduce((a, b) => Math.max(a, b), 0);
}
