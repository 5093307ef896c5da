import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from './format.js';
import { searchNeurons } from './neuron-search.js';

/** Twelve neurons for each of ten stimuli, four for each channel, then a hundred without a type; sides take turns. */
const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);

describe('a search for neurons', () => {
  it('counts all that match and shows a page of them with their labels', () => {
    const found = searchNeurons(
      connectome,
      { type: ['C_w*', 'C_stop'], side: 'left' },
      { from: 1, limit: 2 },
    );
    const synapsesOf = (root_id: string) => {
      const counted = { input_synapses: 0, output_synapses: 0 };
      for (let pre = 0; pre < connectome.neuronCount; pre++) {
        for (let at = connectome.rowStart[pre]!; at < connectome.rowStart[pre + 1]!; at++) {
          const synapses = connectome.synapseCounts[at]!;
          if (connectome.neuronId(pre) === root_id) counted.output_synapses += synapses;
          if (connectome.neuronId(connectome.targets[at]!) === root_id) counted.input_synapses += synapses;
        }
      }
      expect(counted.input_synapses).toBeGreaterThan(0);
      return counted;
    };
    const neuron = (root_id: string) => ({
      root_id,
      type: 'C_walk',
      class: '',
      sub_class: '',
      super_class: 'descending',
      side: 'left',
      ...synapsesOf(root_id),
    });
    expect(found).toEqual({
      count: 6,
      types: { C_stop: 2, C_walk: 2, C_wing: 2 },
      sides: { left: 6 },
      neurons: [neuron('N_0126'), { ...neuron('N_0136'), type: 'C_stop' }],
      suggestions: {},
      synonyms: {},
    });
  });

  it('finds all neurons if nothing is asked for, also those without a type', () => {
    const { count, types, neurons } = searchNeurons(connectome, {}, { from: 0, limit: 0 });
    expect([count, types[''], neurons]).toEqual([connectome.neuronCount, 100, []]);
  });

  it('looks ids up, in the order of the model, and tells those that it lacks', () => {
    const ids = ['N_0136', 'N_0001', 'N_9999', 'N_0126', 'N_0136'];
    const found = searchNeurons(connectome, { root_id: ids }, { from: 0, limit: 9 });
    expect([found.count, found.neurons.map(({ root_id: id }) => id), found.suggestions]).toEqual([
      3,
      ['N_0001', 'N_0126', 'N_0136'],
      { N_9999: [] },
    ]);
    const ofType = searchNeurons(connectome, { root_id: ids, type: 'C_*' }, { from: 1, limit: 9 });
    expect([ofType.count, ofType.types, ofType.neurons.map(({ root_id: id }) => id)]).toEqual([
      2,
      { C_stop: 1, C_walk: 1 },
      ['N_0136'],
    ]);
    expect(searchNeurons(connectome, { root_id: ['N_9999'] }, { from: 0, limit: 9 }).count).toBe(0);
  });

  it('suggests names for each pattern that no neuron has', () => {
    expect(
      searchNeurons(connectome, { type: ['C_wlak', 'C_stop'], super_class: 'sensor' }, { from: 0, limit: 9 }),
    ).toMatchObject({
      count: 0,
      types: {},
      suggestions: { C_wlak: ['C_walk', 'C_wing'], sensor: ['sensory'] },
    });
  });
});
