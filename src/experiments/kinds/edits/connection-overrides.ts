import type { Connectome } from '../../../connectome/connectome.js';
import { listed, selectorWords } from '../../../connectome/set-selector.js';
import { CodedError } from '../../../errors.js';
import { getOrInsert } from '../../../get-or-insert.js';
import type { InParts } from '../../../parts.js';
import { nameOf, pointerTo, refused } from '../../../schema/json-path.js';
import { count, mapOf, number, object, type Static } from '../../../schema/json-schema.js';
import type { ConnectionOverride } from '../../../stimulus/protocol.js';
import { INPUT_NAME, NODE_SET } from '../../document/fields.js';
import { allNeurons, groupsOf } from '../../plan/groups.js';
import type { AxisValue, Grid, SweptGroup } from '../../plan/sweep.js';
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
      const ends = ENDS.map((end) => endOf(context, parameterOf(name, end), shared, given[name]![end]));
      overrides.push(yield* plannedOverride(context, name, given[name]!.weight, ends as [End, End]));
    }
    if (overrides.length === 0) return {};
    return {
      resolved: Object.fromEntries(
        overrides.map(({ name, counted: { pairs, synapses } }) => [name, { pairs, synapses }]),
      ),
      protocolIn(condition) {
        const own = overrides.flatMap((override) => override.in(condition));
        return own.length > 0 ? { overrides: own } : {};
      },
      pairsAt: (places) => overrides.reduce((sum, override) => sum + override.pairsAt(places), 0),
      // Rewired, they may have connections that the model lacks.
      isIdleAt: (places, values) =>
        !context.isRewired && overrides.some((override) => override.isIdleAt(places, values)),
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
  readonly parts: number;
  /** The part of each neuron of the connectome, from 1; 0 where it is in none. */
  readonly partOf: Uint32Array;
}

/** @param shared the neurons of each selector that was seen before: equal selectors share one array */
function endOf(
  { connectome, grid, neurons }: EditContext,
  parameter: string,
  shared: Map<string, Uint32Array>,
  selector: unknown,
): End {
  const axis = grid.axisOf(parameter);
  const own = getOrInsert(shared, JSON.stringify(selector), () => sharedArray(neurons.get(parameter)!));
  const swept = grid.axes[axis];
  const partOf = new Uint32Array(connectome.neuronCount);
  if (swept?.kind === 'groups') {
    for (let group = 0; group < swept.groups.count; group++) {
      for (const neuron of swept.groups.neuronsOf(group)) partOf[neuron] = group + 1;
    }
    return { parameter, neurons: own, axis, parts: swept.groups.count, partOf };
  }
  // Which groups respond is not known yet: each neuron is a part.
  const isOfAny = swept?.kind === 'responders';
  for (const neuron of isOfAny ? partOf.keys() : own) partOf[neuron] = isOfAny ? neuron + 1 : 1;
  return { parameter, neurons: own, axis, parts: isOfAny ? partOf.length : 1, partOf };
}

/** Connections between the parts of two ends. */
interface CountedPairs {
  /** Number from part s to part t, at s times the parts of the target, plus t. */
  readonly ofParts: Uint32Array;
  readonly pairs: number;
  readonly synapses: number;
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

/** @throws CodedError INVALID_PARAMETER, NO_CONNECTION */
function* plannedOverride(
  { connectome, grid, isRewired }: EditContext,
  name: string,
  weight: number,
  [source, target]: readonly [source: End, target: End],
): InParts<PlannedOverride> {
  const swept = [source, target].filter(({ axis }) => axis >= 0);
  const responders = swept.find(({ axis }) => grid.axes[axis]!.kind === 'responders');
  if (responders !== undefined && swept.length > 1) {
    const path = ['sweep', responders.axis, 'as'];
    throw refused(
      path,
      responders.parameter,
      'an end whose other end no axis sweeps, as its groups are responders',
    );
  }
  const counted = yield* countedPairs(connectome, source, target);
  if (swept.length === 0 && counted.pairs === 0 && !isRewired) {
    const path = ['connection_overrides', name];
    throw new CodedError(
      'NO_CONNECTION',
      `${nameOf(path)} must have a connection from one of its ${source.neurons.length} source neurons to one of its ` +
        `${target.neurons.length} target neurons, found none.`,
      { path: pointerTo(path) },
    );
  }
  return new PlannedOverride(
    name,
    weight,
    [source, target],
    grid,
    counted,
    mostPairs(connectome, grid, counted, responders),
  );
}

/** Connections of the largest group of responders that there can be. */
function mostPairs(
  connectome: Connectome,
  grid: Grid,
  { ofParts }: CountedPairs,
  end: End | undefined,
): number {
  const axis = grid.axes[end?.axis ?? -1];
  if (axis?.kind !== 'responders') return 0;
  const { count: groups, ofPlaces } = groupsOf(connectome, allNeurons(connectome), axis.groupBy);
  const pairs = new Uint32Array(groups);
  ofPlaces.forEach((group, neuron) => (pairs[group]! += ofParts[neuron]!));
  return pairs.reduce((a, b) => Math.max(a, b), 0);
}

class PlannedOverride {
  /** @param mostPairs of a group of responders, as long as it is not known */
  constructor(
    readonly name: string,
    private readonly weight: number,
    private readonly ends: readonly [source: End, target: End],
    private readonly grid: Grid,
    readonly counted: CountedPairs,
    private readonly mostPairs: number,
  ) {}

  /** The override of a condition, where it changes anything there. */
  in({ valueOf, groupOf }: ConditionEdits): ConnectionOverride[] {
    const weight = valueOf(parameterOf(this.name, 'weight')) ?? this.weight;
    const [sources, targets] = this.ends.map(({ parameter, neurons }) => {
      const group = groupOf(parameter);
      return group ? sharedArray(group) : group === null ? undefined : neurons;
    });
    if (sources === undefined || targets === undefined || weight === 1) return [];
    return [{ sources, targets, weight }];
  }

  pairsAt(places: readonly number[], values?: readonly AxisValue[]): number {
    const [from, to] = this.ends.map((end) => this.#partsAt(end, places, values));
    if (from === undefined || to === undefined) return this.mostPairs;
    const { ofParts } = this.counted;
    const { parts } = this.ends[1];
    let pairs = 0;
    for (const source of from) for (const target of to) pairs += ofParts[source * parts + target]!;
    return pairs;
  }

  isIdleAt(places: readonly number[], values?: readonly AxisValue[]): boolean {
    const hasGroup = this.ends.some(({ axis }) => axis >= 0 && places[axis]! > 0);
    return hasGroup && this.pairsAt(places, values) === 0;
  }

  /** @returns undefined for a group of responders that is not known yet */
  #partsAt(
    { axis }: End,
    places: readonly number[],
    values?: readonly AxisValue[],
  ): Iterable<number> | undefined {
    const swept = this.grid.axes[axis];
    if (swept === undefined) return [0];
    const place = places[axis]!;
    if (place === 0) return [];
    return swept.kind === 'groups' ? [place - 1] : (values?.[axis] as SweptGroup | undefined)?.neurons;
  }
}
