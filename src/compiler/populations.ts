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
import { nearestNames } from '../connectome/nearest-names.js';
import { describedSelector, type LabelledNeurons, LABELS, NeuronSelection } from '../connectome/selection.js';
import { CodedError, describeValue } from '../errors.js';
import type { Brain, NeuronColumns } from './brain.js';
import { readChecked } from '../connectome/checked-json.js';

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
 * Reads the definitions of stimuli and channels, in the order of the contract. A file may leave some out.
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
        `there is no ${kind} ${describeValue(id)}` +
          (near.length === 0 ? `; there are ${ids.join(', ')}` : `; near matches: ${near.join(', ')}`),
      );
    }
  }
  return ids.flatMap((id) => {
    const [population, another] = populations.filter((each) => each.id === id);
    if (another !== undefined) {
      throw invalid(`expected ${kind} ${id} once, found it twice`);
    }
    return population ?? [];
  });
}

/** The project's own definitions; none for a brain without types, by which they select. */
export function defaultPopulations({ neurons }: Brain): PopulationDefinitions {
  return neurons.types.every((type) => type === '') ? { stimuli: [], channels: [] } : readPopulations();
}

/**
 * @throws CodedError POPULATIONS_INVALID for a selector that matches no neuron, with near matches by name, and for a
 *   channel whose neurons are not of its kind
 */
export function selectPopulations(brain: Brain, definitions: PopulationDefinitions): SelectedPopulations {
  const neurons: Uint32Array[] = [];
  const remarks: string[] = [];
  const labelled = labelledNeurons(brain.neurons);
  const selection = new NeuronSelection(labelled);
  const select = <P extends { id: string; selectors: readonly Selector[] }>(kind: string, population: P) => {
    const where = `${kind} ${population.id}`;
    const chosen = new Set<number>();
    for (const selector of population.selectors) {
      const found =
        brain.wiring === 'synthetic' || selector.root_ids === undefined
          ? selectedByLabel(selection, selector, where)
          : selectedById(labelled, selection, selector.root_ids, selector, where, remarks);
      found.forEach((i) => chosen.add(i));
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
  // Where the super class is not known, the definition is all there is.
  const other = chosen.find((i) => superClasses[i] !== '' && kindOf(i) !== kind);
  if (other !== undefined) {
    throw invalid(
      `channel ${id}: its kind is ${describeValue(kind)}, but neuron ${ids[other]!} of type ${describeValue(types[other]!)} ` +
        `has the super class ${describeValue(superClasses[other]!)}, which makes it ${describeValue(kindOf(other))}`,
    );
  }
}

function labelledNeurons(neurons: NeuronColumns): LabelledNeurons {
  const columns = {
    type: neurons.types,
    class: neurons.classes,
    sub_class: neurons.subClasses,
    super_class: neurons.superClasses,
    side: neurons.sides,
  };
  return {
    count: neurons.count,
    id: (i) => neurons.ids[i]!,
    label: (label, i) => columns[label][i]!,
  };
}

function selectedByLabel(selection: NeuronSelection, selector: Selector, where: string): number[] {
  const found = selection.matching(selector);
  if (found.length === 0) {
    throw invalid(`${where}: ${selection.unmatched(selector)}`);
  }
  return found;
}

function selectedById(
  neurons: LabelledNeurons,
  selection: NeuronSelection,
  rootIds: readonly string[],
  selector: Selector,
  where: string,
  remarks: string[],
): number[] {
  const byLabel = selection.matching(selector);
  const byId = rootIds.flatMap((id) => selection.withId(id) ?? []);
  if (byId.length === 0) {
    throw invalid(`${where}: none of the root ids ${rootIds.join(', ')} is in the tables`);
  }
  const labelsOf = (i: number) => LABELS.map((label) => `${label} "${neurons.label(label, i)}"`).join(', ');
  const disagreements = [
    ...byId.filter((i) => !byLabel.includes(i)).map((i) => `${neurons.id(i)} is ${labelsOf(i)}`),
    ...byLabel.filter((i) => !byId.includes(i)).map((i) => `${neurons.id(i)} matches, too`),
    ...rootIds.filter((id) => selection.withId(id) === undefined).map((id) => `${id} is not in the tables`),
  ];
  if (disagreements.length > 0) {
    remarks.push(
      `${where}: the root ids of ${describedSelector(selector)} decide, but the labels disagree: ${disagreements.join('; ')}.`,
    );
  }
  return byId;
}

function invalid(what: string): CodedError {
  return new CodedError('POPULATIONS_INVALID', `The populations do not fit: ${what}.`);
}
