import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from './format.js';
import { Partners, type PartnerType } from './partners.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
const partners = new Partners(connectome);
const NEURONS = [0, 17, connectome.neuronCount - 1];

/** Partners by type, counted in a walk over all connections. */
function expected(neurons: readonly number[], direction: 'inputs' | 'outputs'): PartnerType[] {
  const rows = connectome.metadata.types.map((_, type) => ({ type, connections: 0, synapses: 0 }));
  for (let pre = 0; pre < connectome.neuronCount; pre++) {
    for (let at = connectome.rowStart[pre]!; at < connectome.rowStart[pre + 1]!; at++) {
      const post = connectome.targets[at]!;
      const [own, other] = direction === 'outputs' ? [pre, post] : [post, pre];
      if (!neurons.includes(own)) continue;
      const row = rows[connectome.typeIndices[other]!]!;
      row.connections++;
      row.synapses += connectome.synapseCounts[at]!;
    }
  }
  return rows
    .filter(({ connections }) => connections > 0)
    .sort((a, b) => b.synapses - a.synapses || a.type - b.type);
}

describe('partners by type', () => {
  it.each([...NEURONS.map((neuron) => [neuron]), NEURONS])(
    'of %j are those of its connections',
    (...neurons) => {
      expect(partners.outputsOf(neurons)).toEqual(expected(neurons, 'outputs'));
      expect(partners.inputsOf(neurons)).toEqual(expected(neurons, 'inputs'));
    },
  );

  it('count every connection once over all neurons', () => {
    const all = Array.from({ length: connectome.neuronCount }, (_, i) => i);
    for (const types of [partners.inputsOf(all), partners.outputsOf(all)]) {
      expect(types.reduce((sum, { connections }) => sum + connections, 0)).toBe(connectome.connectionCount);
      expect(types.reduce((sum, { synapses }) => sum + synapses, 0)).toBe(connectome.metadata.synapseCount);
    }
  });
});
