/**
 * Which neurons a stimulus excites and a channel reads: data/populations.json, or a file of the same form,
 * applied to the neurons of a brain. No selector may miss: a population that quietly shrank with the next
 * version of the tables would still look like a result.
 */
import { fileURLToPath } from 'node:url';
import {
  CHANNEL_IDS,
  type ChannelKind,
  type ChannelPopulation,
  type Selector,
  STIMULUS_IDS,
  type StimulusPopulation,
} from '../connectome/populations.js';
import { wildcard } from '../connectome/wildcard.js';
import { CodedError, shown } from '../errors.js';
import type { Brain, NeuronColumns } from './brain.js';
import { readChecked } from './checked-json.js';
import { nearestNames } from '../connectome/nearest-names.js';

type Definition<P> = Omit<P, 'neuronCount'>;

export interface PopulationDefinitions {
  readonly stimuli: readonly Definition<StimulusPopulation>[];
  readonly channels: readonly Definition<ChannelPopulation>[];
}

export interface SelectedPopulations {
  readonly stimuli: readonly StimulusPopulation[];
  readonly channels: readonly ChannelPopulation[];
  /** Neurons of each stimulus, then of each channel; ascending indices into the brain. */
  readonly neurons: readonly Uint32Array[];
  /** Where root ids and types disagree, in sentences. */
  readonly remarks: readonly string[];
}

const POPULATIONS_FILE = fileURLToPath(new URL('../../data/populations.json', import.meta.url));
const POPULATIONS_SCHEMA = fileURLToPath(new URL('../../data/populations.schema.json', import.meta.url));

/**
 * Reads the definitions of all stimuli and channels, in the order of the contract.
 * @throws CodedError POPULATIONS_INVALID
 */
export function readPopulations(path: string = POPULATIONS_FILE): PopulationDefinitions {
  const { stimuli, channels } = readChecked<PopulationDefinitions>(
    path,
    'POPULATIONS_INVALID',
    POPULATIONS_SCHEMA,
  );
  return {
    stimuli: inOrder('stimulus', stimuli, STIMULUS_IDS),
    channels: inOrder('channel', channels, CHANNEL_IDS),
  };
}

function inOrder<P extends { readonly id: string }>(
  kind: string,
  populations: readonly P[],
  ids: readonly string[],
): P[] {
  for (const { id } of populations) {
    if (!ids.includes(id)) {
      const near = nearestNames(id, ids);
      throw invalid(
        `there is no ${kind} ${shown(id)}` +
          (near.length === 0 ? `; there are ${ids.join(', ')}` : `; near matches: ${near.join(', ')}`),
      );
    }
  }
  return ids.map((id) => {
    const [population, another] = populations.filter((each) => each.id === id);
    if (population === undefined || another !== undefined) {
      throw invalid(
        `expected ${kind} ${id} once, found it ${population === undefined ? 'missing' : 'twice'}`,
      );
    }
    return population;
  });
}

/**
 * @throws CodedError POPULATIONS_INVALID for a selector that matches no neuron, with near matches by name, and for a
 *   channel whose neurons are not of its kind
 */
export function selectPopulations(brain: Brain, definitions: PopulationDefinitions): SelectedPopulations {
  const neurons: Uint32Array[] = [];
  const remarks: string[] = [];
  const index = new LabelIndex(brain.neurons);
  const select = <P extends { id: string; selectors: readonly Selector[] }>(kind: string, population: P) => {
    const where = `${kind} ${population.id}`;
    const chosen = new Set<number>();
    for (const selector of population.selectors) {
      selected(brain, index, selector, where, remarks).forEach((i) => chosen.add(i));
    }
    neurons.push(Uint32Array.from(chosen).sort());
    return { ...population, neuronCount: chosen.size };
  };
  const selectChannel = (channel: Definition<ChannelPopulation>) => {
    const population = select('channel', channel);
    checkKind(brain.neurons, channel, neurons.at(-1)!);
    return population;
  };
  return {
    stimuli: definitions.stimuli.map((each) => select('stimulus', each)),
    channels: definitions.channels.map(selectChannel),
    neurons,
    remarks,
  };
}

/** What a channel is said to be shows wherever its rate does, so it has to be true of every neuron. */
function checkKind(
  { superClasses, ids, types }: NeuronColumns,
  { id, kind }: Definition<ChannelPopulation>,
  chosen: Uint32Array,
): void {
  const kindOf = (i: number): ChannelKind =>
    superClasses[i] === 'descending' || superClasses[i] === 'motor' ? superClasses[i] : 'station';
  const other = chosen.find((i) => kindOf(i) !== kind);
  if (other !== undefined) {
    throw invalid(
      `channel ${id}: its kind is ${shown(kind)}, but neuron ${ids[other]!} of type ${shown(types[other]!)} ` +
        `has the super class ${shown(superClasses[other]!)}, which makes it ${shown(kindOf(other))}`,
    );
  }
}

/** The columns that a selector may name. */
const COLUMNS = {
  type: 'types',
  class: 'classes',
  sub_class: 'subClasses',
  super_class: 'superClasses',
  side: 'sides',
} as const satisfies Partial<Record<keyof Selector, keyof NeuronColumns>>;
type Member = keyof typeof COLUMNS;
const MEMBERS = Object.keys(COLUMNS) as Member[];

/** Finds neurons by their labels without going through all of them for each selector. */
class LabelIndex {
  readonly #neuronsOf: Record<Member, Map<string, number[]>>;
  #placeOfId: Map<string, number> | undefined;

  constructor(private readonly neurons: NeuronColumns) {
    this.#neuronsOf = Object.fromEntries(
      MEMBERS.map((member) => [member, placesByValue(neurons[COLUMNS[member]])]),
    ) as Record<Member, Map<string, number[]>>;
  }

  /** Ascending. */
  matching(selector: Selector): number[] {
    const wanted = MEMBERS.filter((member) => selector[member] !== undefined);
    const candidates = wanted
      .map((member) => this.#withValue(member, selector[member]!))
      .sort((a, b) => a.length - b.length);
    const excepted = new Set((selector.except ?? []).flatMap((pattern) => this.#withValue('type', pattern)));
    const [fewest, ...others] = candidates;
    const sets = others.map((list) => new Set(list));
    return (fewest ?? []).filter((i) => sets.every((set) => set.has(i)) && !excepted.has(i));
  }

  /** Place of the neuron with this root id. */
  placeOf(id: string): number | undefined {
    this.#placeOfId ??= new Map(this.neurons.ids.map((each, i) => [each, i]));
    return this.#placeOfId.get(id);
  }

  valuesOf(member: Member): Iterable<string> {
    return this.#neuronsOf[member].keys();
  }

  #withValue(member: Member, pattern: string): number[] {
    const neuronsOf = this.#neuronsOf[member];
    if (!pattern.includes('*')) {
      return neuronsOf.get(pattern) ?? [];
    }
    const expression = wildcard(pattern);
    return [...neuronsOf]
      .flatMap(([value, places]) => (expression.test(value) ? places : []))
      .sort((a, b) => a - b);
  }
}

function placesByValue(column: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  column.forEach((value, i) => {
    const known = places.get(value);
    if (known === undefined) {
      places.set(value, [i]);
    } else {
      known.push(i);
    }
  });
  return places;
}

function selected(
  brain: Brain,
  index: LabelIndex,
  selector: Selector,
  where: string,
  remarks: string[],
): number[] {
  const byLabel = index.matching(selector);
  if (brain.wiring === 'synthetic' || selector.root_ids === undefined) {
    if (byLabel.length === 0) {
      throw unmatched(index, selector, where);
    }
    return byLabel;
  }
  const { ids } = brain.neurons;
  const byId = selector.root_ids.flatMap((id) => index.placeOf(id) ?? []);
  if (byId.length === 0) {
    throw invalid(`${where}: none of the root ids ${selector.root_ids.join(', ')} is in the tables`);
  }
  const disagreements = [
    ...byId
      .filter((i) => !byLabel.includes(i))
      .map((i) => `${ids[i]!} is ${describedNeuron(brain.neurons, i)}`),
    ...byLabel.filter((i) => !byId.includes(i)).map((i) => `${ids[i]!} matches, too`),
    ...selector.root_ids
      .filter((id) => index.placeOf(id) === undefined)
      .map((id) => `${id} is not in the tables`),
  ];
  if (disagreements.length > 0) {
    remarks.push(
      `${where}: the root ids of ${describedSelector(selector)} decide, but the labels disagree: ${disagreements.join('; ')}.`,
    );
  }
  return byId;
}

function unmatched(index: LabelIndex, selector: Selector, where: string): CodedError {
  for (const member of MEMBERS) {
    const wanted = selector[member];
    if (wanted !== undefined && index.matching({ [member]: wanted }).length === 0) {
      const near = nearestNames(wanted, index.valuesOf(member));
      return invalid(
        `${where}: no neuron has the ${member} "${wanted}"` +
          (near.length === 0 ? '' : `; near matches: ${near.map((name) => `"${name}"`).join(', ')}`),
      );
    }
  }
  const exceptions = (selector.except ?? []).length > 0 ? ` except ${selector.except!.join(', ')}` : '';
  return invalid(`${where}: no neuron matches all of ${describedSelector(selector)}${exceptions} at once`);
}

function describedSelector(selector: Selector): string {
  const members = MEMBERS.filter((member) => selector[member] !== undefined);
  return members.map((member) => `${member} "${selector[member]!}"`).join(', ') || 'no label';
}

function describedNeuron(neurons: NeuronColumns, i: number): string {
  return MEMBERS.map((member) => `${member} "${neurons[COLUMNS[member]][i]!}"`).join(', ');
}

function invalid(what: string): CodedError {
  return new CodedError('POPULATIONS_INVALID', `The populations do not fit: ${what}.`);
}
