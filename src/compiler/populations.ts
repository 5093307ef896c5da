/**
 * Which neurons a stimulus excites and a channel reads: data/populations.json, or a file of the same form,
 * applied to the neurons of a brain. No selector may miss: a population that quietly shrank with the next
 * version of the tables would still look like a result.
 */
import { fileURLToPath } from 'node:url';
import {
  type ChannelKind,
  type ChannelPopulation,
  type Selector,
  type StimulusPopulation,
} from '../connectome/populations.js';
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
 * Reads the definitions of stimuli and channels, in the order of the file.
 * @throws CodedError POPULATIONS_INVALID
 */
export function readPopulations(path: string = POPULATIONS_FILE): PopulationDefinitions {
  const definitions = readChecked<PopulationDefinitions>(path, 'POPULATIONS_INVALID', POPULATIONS_SCHEMA);
  checkUnique('stimulus', definitions.stimuli);
  checkUnique('channel', definitions.channels);
  return definitions;
}

function checkUnique(kind: string, populations: readonly { readonly id: string }[]): void {
  const ids = populations.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) throw invalid(`expected ${kind} ${twice} once, found it twice`);
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
