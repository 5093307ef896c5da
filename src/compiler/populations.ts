/**
 * Which neurons a stimulus excites and a channel reads: data/populations.json, or a file of the same form,
 * applied to the neurons of a brain. No selector may miss: a population that quietly shrank with the next
 * version of the tables would still look like a result.
 */
import { fileURLToPath } from 'node:url';
import {
  CHANNEL_IDS,
  type ChannelPopulation,
  type Selector,
  STIMULUS_IDS,
  type StimulusPopulation,
} from '../connectome/populations.js';
import { CodedError } from '../errors.js';
import type { Brain, NeuronColumns } from './brain.js';
import { readChecked } from './checked-json.js';
import { nearestNames } from './nearest-names.js';

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

export const POPULATIONS_FILE = fileURLToPath(new URL('../../data/populations.json', import.meta.url));
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

/** @throws CodedError POPULATIONS_INVALID for a selector that matches no neuron, with near matches by name */
export function selectPopulations(brain: Brain, definitions: PopulationDefinitions): SelectedPopulations {
  const neurons: Uint32Array[] = [];
  const remarks: string[] = [];
  const select = <P extends { id: string; selectors: readonly Selector[] }>(kind: string, population: P) => {
    const where = `${kind} ${population.id}`;
    const chosen = new Set<number>();
    for (const selector of population.selectors) {
      selected(brain, selector, where, remarks).forEach((i) => chosen.add(i));
    }
    neurons.push(Uint32Array.from(chosen).sort());
    return { ...population, neuronCount: chosen.size };
  };
  return {
    stimuli: definitions.stimuli.map((each) => select('stimulus', each)),
    channels: definitions.channels.map((each) => select('channel', each)),
    neurons,
    remarks,
  };
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

function selected(brain: Brain, selector: Selector, where: string, remarks: string[]): number[] {
  const byLabel = matching(brain.neurons, selector);
  if (brain.wiring === 'reconstructed' || selector.root_ids === undefined) {
    if (byLabel.length === 0) {
      throw unmatched(brain.neurons, selector, where);
    }
    return byLabel;
  }
  const { ids } = brain.neurons;
  const wanted = new Set(selector.root_ids);
  const byId = ids.flatMap((id, i) => (wanted.has(id) ? [i] : []));
  if (byId.length === 0) {
    throw invalid(`${where}: none of the root ids ${selector.root_ids.join(', ')} is in the tables`);
  }
  const labelled = new Set(byLabel);
  const otherwise = byId.filter((i) => !labelled.has(i));
  const beyond = byLabel.filter((i) => !wanted.has(ids[i]!));
  const absent = selector.root_ids.filter((id) => !byId.some((i) => ids[i] === id));
  const disagreements = [
    ...otherwise.map((i) => `${ids[i]!} is ${describedNeuron(brain.neurons, i)}`),
    ...beyond.map((i) => `${ids[i]!} matches, too`),
    ...absent.map((id) => `${id} is not in the tables`),
  ];
  if (disagreements.length > 0) {
    remarks.push(
      `${where}: the root ids of ${describedSelector(selector)} decide, but the labels disagree: ${disagreements.join('; ')}.`,
    );
  }
  return byId;
}

function matching(neurons: NeuronColumns, selector: Selector): number[] {
  const tests = MEMBERS.filter((member) => selector[member] !== undefined).map((member) => {
    const column = neurons[COLUMNS[member]];
    const matches = wildcard(selector[member]!);
    return (i: number) => matches(column[i]!);
  });
  const exceptions = (selector.except ?? []).map(wildcard);
  const found: number[] = [];
  for (let i = 0; i < neurons.count; i++) {
    if (tests.every((test) => test(i)) && !exceptions.some((excepted) => excepted(neurons.types[i]!))) {
      found.push(i);
    }
  }
  return found;
}

/** Tests a whole text against a pattern in which * stands for any run of characters. */
function wildcard(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) {
    return (text) => text === pattern;
  }
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*');
  const expression = new RegExp(`^${source}$`, 's');
  return (text) => expression.test(text);
}

function unmatched(neurons: NeuronColumns, selector: Selector, where: string): CodedError {
  for (const member of MEMBERS) {
    const wanted = selector[member];
    if (wanted !== undefined && matching(neurons, { [member]: wanted }).length === 0) {
      const near = nearestNames(wanted, new Set<string>(neurons[COLUMNS[member]]));
      return invalid(
        `${where}: no neuron has the ${member} "${wanted}"` +
          (near.length === 0 ? '' : `; near matches: ${near.map((name) => `"${name}"`).join(', ')}`),
      );
    }
  }
  const unused = (selector.except ?? []).length > 0 ? ', with its exceptions left out,' : '';
  return invalid(`${where}: no neuron matches all of ${describedSelector(selector)}${unused} at once`);
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
