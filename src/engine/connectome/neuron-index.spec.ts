import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from './format.js';
import { type LabelPatterns, LABELS, NeuronIndex } from './neuron-index.js';

/** Twelve neurons for each of ten stimuli, four for each channel, then a hundred without a type; sides take turns. */
const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
const selection = new NeuronIndex(connectome);
const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
const matching = (patterns: LabelPatterns) => [...selection.withLabels(patterns).toIndices()];

describe('a selection from an open connectome', () => {
  it('goes by type, class, sub class, super class, side and id', () => {
    expect(matching({ type: 'S_loom' })).toEqual(range(12, 12));
    expect(matching({ class: 'made_up' })).toEqual(range(0, 120));
    expect(matching({ sub_class: 'inter' })).toEqual(range(204, 100));
    expect(matching({ super_class: 'descending' })).toEqual(range(120, 84));
    expect(matching({ type: 'S_sugar', side: 'right' })).toEqual([1, 3, 5, 7, 9, 11]);
    expect(matching({ type: 'S_suga' })).toEqual([]);
    expect(matching({})).toEqual(range(0, 304));
    expect(selection.withId('N_0200')).toBe(200);
    expect(selection.withId('N_9999')).toBeUndefined();
  });

  it('knows wildcards, which stand for text', () => {
    expect(matching({ type: 'S_*' })).toEqual(range(0, 120));
    expect(matching({ type: ['S_s*', 'S_loom'] })).toEqual([...range(0, 24), ...range(48, 12)]);
    expect(matching({ type: '*' })).toEqual(range(0, 204));
    expect(matching({ type: '' })).toEqual(range(204, 100));
  });

  it('can be indexed ahead, so that no question reads the labels again', () => {
    let reads = 0;
    const own = { ...connectome, neuronId: (neuron: number) => (reads++, connectome.neuronId(neuron)) };
    own.typeIndices = connectome.typeIndices.slice();
    own.classIndices = connectome.classIndices.slice();
    own.sides = connectome.sides.slice();
    const ahead = new NeuronIndex(own);
    ahead.indexAll();
    expect(reads).toBe(connectome.neuronCount);
    own.typeIndices.fill(0);
    own.classIndices.fill(0);
    own.sides.fill(0);
    for (const label of LABELS) {
      expect(ahead.withLabels({ [label]: '*' })).toEqual(selection.withLabels({ [label]: '*' }));
    }
    expect(ahead.withId('N_0200')).toBe(200);
    expect(reads).toBe(connectome.neuronCount);
  });
});
