/**
 * Selects the neurons of stimuli and channels, as defined in data/populations.json or a file of the same form. A selector
 * without neurons is an error. Otherwise a population could shrink unnoticed with the next version of the tables.
 */
import { readChecked } from '../../engine/platform.node.js';
import { isFlyWire } from '../../engine/connectome/model-id.js';
import { NodeSetResolver, type SelectableNeurons } from '../../engine/connectome/node-set-resolver.js';
import {
  type ChannelKind,
  type ChannelPopulation,
  repeatedPopulation,
  type Selector,
  type StimulusPopulation,
} from '../../engine/connectome/populations.js';
import { labelOf, LABELS, neuronIndexOf } from '../../engine/connectome/neuron-index.js';
import { wildcard } from '../../engine/connectome/wildcard.js';
import { CodedError, describeValue } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { Brain, NeuronColumns } from './brain.js';
import { dataPath } from './dataset.js';

type Definition<P> = Omit<P, 'neuronCount'> & {
  /** Replaces `selectors` in networks other than FlyWire, whose classes have other names. */
  readonly elsewhere?: readonly Selector[];
};
type AnyDefinition = Definition<StimulusPopulation | ChannelPopulation> & { readonly kind?: ChannelKind };

export interface PopulationDefinitions {
  /** If true, populations without neurons in this brain are omitted. If not, they are an error. */
  readonly fitting?: boolean;
  readonly stimuli: readonly Definition<StimulusPopulation>[];
  readonly channels: readonly Definition<ChannelPopulation>[];
}

/**
 * Reads the definitions of stimuli and channels, in the order of the file.
 * @throws CodedError POPULATIONS_INVALID
 */
export function readPopulations(path: string = dataPath('populations.json')): PopulationDefinitions {
  const schema = dataPath('populations.schema.json');
  const definitions = readChecked<PopulationDefinitions>(path, 'POPULATIONS_INVALID', schema);
  const repeated = repeatedPopulation(definitions);
  if (repeated !== undefined) throw invalid(`expected ${repeated} once, found it twice`);
  return definitions;
}

/**
 * The definitions of data/populations.json. They select by type, so a brain without types has no populations. In networks
 * other than FlyWire they never select by root id, and populations that do not fit are omitted.
 */
export function defaultPopulations({ neurons, identity, without = [] }: Brain): PopulationDefinitions {
  if (neurons.labels.type.every((type) => type === '')) return { stimuli: [], channels: [] };
  const definitions = readPopulations();
  if (isFlyWire(identity)) return definitions;
  const hasMeaning = ({ id }: { readonly id: string }) => !without.includes(id);
  const withoutIds = <P extends AnyDefinition>({ elsewhere, ...population }: P) => ({
    ...population,
    selectors: (elsewhere ?? population.selectors).map((selector) => ({ ...selector, root_ids: undefined })),
  });
  return {
    fitting: true,
    stimuli: definitions.stimuli.filter(hasMeaning).map(withoutIds),
    channels: definitions.channels.filter(hasMeaning).map(withoutIds),
  };
}

/**
 * @param named the neurons in the order of the file; selectors search them
 * @param order index in the brain of each of them
 * @throws CodedError POPULATIONS_INVALID for a selector without neurons, with similar names, and for a channel whose
 *   neurons are of another kind
 */
export function selectPopulations(
  brain: Brain,
  named: SelectableNeurons,
  order: Uint32Array,
  definitions: PopulationDefinitions,
) {
  const byPresetType = underPresetTypes(named, order, brain.neurons, definitions);
  const resolver = new NodeSetResolver(byPresetType, { node_sets: {}, on_missing: 'error' });
  /**
   * Neurons of each stimulus, then of each channel. Those of a stimulus ascend by id, because the id keys their random
   * numbers. Those of a channel ascend by index.
   */
  const neurons: Uint32Array[] = [];
  /** Sentences on selectors whose root ids and labels disagree, and on omitted populations. */
  const remarks: string[] = [];
  const lacking: string[] = [];
  const select = ({ id, selectors, kind }: AnyDefinition): Uint32Array => {
    const where = `${kind === undefined ? 'stimulus' : 'channel'} ${id}`;
    const found = selectors.flatMap((selector) =>
      brain.identity.wiring === 'synthetic' || selector.root_ids === undefined
        ? [...selectedByLabel(resolver, selector, where)]
        : selectedById(named, order, resolver, selector, where, remarks),
    );
    const byId = Uint32Array.from(new Set(found)).sort((a, b) => order[a]! - order[b]!);
    if (kind === undefined) return byId;
    checkKind(named, id, kind, byId);
    return byId.sort();
  };
  const fitting = <P extends AnyDefinition>(populations: readonly P[]) =>
    populations.flatMap((population) => {
      try {
        const own = select(population);
        neurons.push(own);
        return [{ ...population, elsewhere: undefined, neuronCount: own.length }];
      } catch (error) {
        if (definitions.fitting !== true || !(error instanceof CodedError)) throw error;
        lacking.push(population.id);
        return [];
      }
    });
  const selected = { stimuli: fitting(definitions.stimuli), channels: fitting(definitions.channels) };
  if (lacking.length > 0) {
    remarks.push(
      `Version 1 of the API lacks ${lacking.join(', ')}: not all of their types and classes are in the tables.`,
    );
  }
  return { ...selected, neurons, remarks };
}

/** The neurons with FlyWire's types instead of their own, if the data set gives FlyWire types by which populations select. */
function underPresetTypes(
  named: SelectableNeurons,
  order: Uint32Array,
  { labels, presetTypes }: NeuronColumns,
  { stimuli, channels }: PopulationDefinitions,
): SelectableNeurons {
  if (presetTypes === undefined) return named;
  const patterns = [...stimuli, ...channels]
    .flatMap(({ selectors }) => selectors.flatMap(({ type, except = [] }) => [type ?? [], except].flat()))
    .map(wildcard);
  const numbers = new Map<string, number>();
  const typeIndices = Uint16Array.from(order, (i) => {
    const names = presetTypes[i]!.split(',').map((name) => name.trim());
    const name = names.find((each) => patterns.some((matches) => matches(each))) ?? labels.type[i]!;
    return getOrInsert(numbers, name, () => numbers.size);
  });
  const metadata = {
    ...named.metadata,
    types: Array.from(numbers.keys(), (name) => ({ name, superClass: '' })),
  };
  return { ...named, metadata, typeIndices };
}

/** Checks the kind of a channel, because pages and tables show it beside each rate. */
function checkKind(named: SelectableNeurons, id: string, kind: ChannelKind, chosen: Uint32Array): void {
  const superClassOf = labelOf(named, 'super_class');
  const kindOf = (i: number): ChannelKind => {
    const superClass = superClassOf(i);
    return superClass === 'descending' || superClass === 'motor' ? superClass : 'station';
  };
  // A neuron without a super class cannot contradict the definition.
  const other = chosen.find((i) => superClassOf(i) !== '' && kindOf(i) !== kind);
  if (other !== undefined) {
    throw invalid(
      `channel ${id}: its kind is ${describeValue(kind)}, but neuron ${named.neuronId(other)} of type ` +
        `${describeValue(labelOf(named, 'type')(other))} has the super class ${describeValue(superClassOf(other))}, ` +
        `which makes it ${describeValue(kindOf(other))}`,
    );
  }
}

function selectedByLabel(resolver: NodeSetResolver, selector: Selector, where: string): Uint32Array {
  try {
    return resolver.neuronsOf(selector, '').neurons;
  } catch (error) {
    throw invalid(`${where}: ${(error as CodedError).message.replace(/\.$/, '')}`);
  }
}

function selectedById(
  named: SelectableNeurons,
  order: Uint32Array,
  resolver: NodeSetResolver,
  { root_ids: rootIds, ...selector }: Selector,
  where: string,
  remarks: string[],
): number[] {
  const selection = neuronIndexOf(named);
  const byLabel = [...resolver.neuronsIfAny(selector)].sort((a, b) => order[a]! - order[b]!);
  const byId = rootIds!.flatMap((id) => selection.withId(id) ?? []);
  if (byId.length === 0) {
    throw invalid(`${where}: none of the root ids ${rootIds!.join(', ')} is in the tables`);
  }
  const labelsOf = (i: number) => LABELS.map((label) => `${label} "${labelOf(named, label)(i)}"`).join(', ');
  const disagreements = [
    ...byId.filter((i) => !byLabel.includes(i)).map((i) => `${named.neuronId(i)} is ${labelsOf(i)}`),
    ...byLabel.filter((i) => !byId.includes(i)).map((i) => `${named.neuronId(i)} matches, too`),
    ...rootIds!.filter((id) => selection.withId(id) === undefined).map((id) => `${id} is not in the tables`),
  ];
  if (disagreements.length > 0) {
    const described = LABELS.filter((label) => selector[label] !== undefined)
      .map((label) => `${label} "${selector[label]!}"`)
      .join(', ');
    remarks.push(
      `${where}: the root ids of ${described} decide, but the labels disagree: ${disagreements.join('; ')}.`,
    );
  }
  return byId;
}

function invalid(what: string): CodedError {
  return new CodedError('POPULATIONS_INVALID', `The populations do not fit: ${what}.`);
}
