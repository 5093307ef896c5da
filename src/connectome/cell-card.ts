/** The card that the page shows of a neuron or of a cell type, beyond what the atlas has. */
import { SIDES, type Connectome } from './connectome.js';
import type { Partners, PartnerType } from './partners.js';

const NAMED_PARTNERS = 8;

interface CardPartner extends PartnerType {
  readonly name: string;
  readonly super_class: string;
}

export interface CardPartners {
  readonly types: number;
  readonly connections: number;
  readonly synapses: number;
  /** Those with the most synapses. */
  readonly strongest: readonly CardPartner[];
}

export interface CellCard {
  /** Root id of a neuron, or in a synthetic brain a made-up name. Missing for a type. */
  readonly id?: string;
  readonly name: string;
  readonly super_class: string;
  /** That of most of the neurons, like sub_class; empty where the tables say nothing. */
  readonly class: string;
  readonly sub_class: string;
  readonly neurons: number;
  /** Number of neurons by side; sides without neurons are left out. */
  readonly sides: Readonly<Record<string, number>>;
  /** Neurons whose outputs excite, whose outputs inhibit, and which have no fast effect. */
  readonly excitatory: number;
  readonly inhibitory: number;
  readonly without_fast_effect: number;
  readonly inputs: CardPartners;
  readonly outputs: CardPartners;
}

export function cardOfNeuron(connectome: Connectome, partners: Partners, neuron: number): CellCard {
  const card = cardOf(connectome, partners, connectome.typeIndices[neuron]!, [neuron]);
  return { id: connectome.neuronId(neuron), ...card };
}

export function cardOfType(connectome: Connectome, partners: Partners, type: number): CellCard {
  const neurons: number[] = [];
  connectome.typeIndices.forEach((each, neuron) => {
    if (each === type) neurons.push(neuron);
  });
  return cardOf(connectome, partners, type, neurons);
}

function cardOf(
  connectome: Connectome,
  partners: Partners,
  type: number,
  neurons: readonly number[],
): Omit<CellCard, 'id'> {
  const { metadata, classIndices, sides, signs } = connectome;
  const { name, superClass } = metadata.types[type]!;
  const commonest = metadata.classes[mostFrequent(neurons.map((neuron) => classIndices[neuron]!))];
  const bySide = SIDES.map((side, index) => [
    side || 'unknown',
    neurons.filter((neuron) => sides[neuron] === index).length,
  ]);
  const withSign = (sign: number) => neurons.filter((neuron) => signs[neuron] === sign).length;
  return {
    name,
    super_class: superClass,
    class: commonest?.class ?? '',
    sub_class: commonest?.subClass ?? '',
    neurons: neurons.length,
    sides: Object.fromEntries(bySide.filter(([, count]) => count !== 0)) as Record<string, number>,
    excitatory: withSign(1),
    inhibitory: withSign(-1),
    without_fast_effect: withSign(0),
    inputs: summaryOf(connectome, partners.inputsOf(neurons)),
    outputs: summaryOf(connectome, partners.outputsOf(neurons)),
  };
}

function summaryOf({ metadata }: Connectome, partners: readonly PartnerType[]): CardPartners {
  const sum = (member: 'connections' | 'synapses') =>
    partners.reduce((total, each) => total + each[member], 0);
  return {
    types: partners.length,
    connections: sum('connections'),
    synapses: sum('synapses'),
    strongest: partners.slice(0, NAMED_PARTNERS).map(({ type, connections, synapses }) => {
      const { name, superClass } = metadata.types[type]!;
      return { type, name, super_class: superClass, connections, synapses };
    }),
  };
}

/** The most frequent value, the lowest of equally frequent ones. */
function mostFrequent(values: readonly number[]): number {
  const counts: number[] = [];
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts.reduce((most, count, value) => (count > (counts[most] ?? 0) ? value : most), 0);
}
