import { smallConnectome } from '../../test/support/small-connectome.js';
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
    const neuron = (root_id: string) => ({
      root_id,
      type: 'C_walk',
      class: '',
      sub_class: '',
      super_class: 'descending',
      side: 'left',
    });
    expect(found).toEqual({
      count: 6,
      types: { C_stop: 2, C_walk: 2, C_wing: 2 },
      sides: { left: 6 },
      neurons: [neuron('N_0126'), { ...neuron('N_0136'), type: 'C_stop' }],
      suggestions: {},
    });
  });

  it('finds all neurons where nothing is asked for, also those without a type', () => {
    const { count, types, neurons } = searchNeurons(connectome, {}, { from: 0, limit: 0 });
    expect([count, types[''], neurons]).toEqual([connectome.neuronCount, 100, []]);
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
