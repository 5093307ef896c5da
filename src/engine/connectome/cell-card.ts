/** The card that the page shows for a neuron or a cell type: data that the atlas lacks. */
import { SIDES, type Connectome } from './connectome.js';
import type { Partners, PartnerType } from './partners.js';

const NAMED_PARTNERS = 8;

/** The number of partner types of a neuron or a type, and the ones with the most synapses. */
export type CardPartners = ReturnType<typeof summaryOf>;

/** A neuron has a root id, or a generated name in a synthetic brain. A type has no id. */
export type CellCard = ReturnType<typeof cardOf> & { readonly id?: string };

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

function cardOf(connectome: Connectome, partners: Partners, type: number, neurons: readonly number[]) {
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
    // The labels of most of the neurons; empty if the tables have none.
    class: commonest?.class ?? '',
    sub_class: commonest?.subClass ?? '',
    neurons: neurons.length,
    // Sides without neurons are left out.
    sides: Object.fromEntries(bySide.filter(([, count]) => count !== 0)) as Record<string, number>,
    excitatory: withSign(1),
    inhibitory: withSign(-1),
    without_fast_effect: withSign(0),
    inputs: summaryOf(connectome, partners.inputsOf(neurons)),
    outputs: summaryOf(connectome, partners.outputsOf(neurons)),
  };
}

function summaryOf({ metadata }: Connectome, partners: readonly PartnerType[]) {
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

/** @returns the most frequent value; the lowest if several are equally frequent */
function mostFrequent(values: readonly number[]): number {
  const counts: number[] = [];
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts.reduce((most, count, value) => (count > (counts[most] ?? 0) ? value : most), 0);
}
