import { smallConnectome } from '../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from './format.js';
import { labelledNeurons, LABELS, NeuronSelection } from './selection.js';

/** Twelve neurons for each of ten stimuli, four for each channel, then a hundred without a type; sides take turns. */
const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
const neurons = labelledNeurons(connectome);
const selection = new NeuronSelection(neurons);
const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('a selection from an open connectome', () => {
  it('goes by type, class, sub class, super class, side and id', () => {
    expect(selection.matching({ type: 'S_loom' })).toEqual(range(12, 12));
    expect(selection.matching({ class: 'made_up' })).toEqual(range(0, 120));
    expect(selection.matching({ sub_class: 'inter' })).toEqual(range(204, 100));
    expect(selection.matching({ super_class: 'descending' })).toEqual(range(120, 84));
    expect(selection.matching({ type: 'S_sugar', side: 'right' })).toEqual([1, 3, 5, 7, 9, 11]);
    expect(selection.withId('N_0200')).toBe(200);
    expect(selection.withId('N_9999')).toBeUndefined();
  });

  it('knows wildcards, which stand for text, and exceptions', () => {
    expect(selection.matching({ type: 'S_*' })).toEqual(range(0, 120));
    expect(selection.matching({ type: 'S_*', except: ['S_s*', 'S_loom'] })).toEqual([
      ...range(24, 24),
      ...range(60, 60),
    ]);
    expect(selection.matching({ type: '*' })).toEqual(range(0, 204));
    expect(selection.matching({ type: '' })).toEqual(range(204, 100));
  });

  it('says which label no neuron has, and what is near', () => {
    expect(selection.unmatched({ type: 'S_suga' })).toBe(
      'no neuron has the type "S_suga"; near matches: "S_sugar", "S_song"',
    );
    expect(selection.unmatched({ type: 'S_sugar', class: '', side: 'left' })).toBe(
      'no neuron matches all of type "S_sugar", class "", side "left" at once',
    );
  });

  it('can be indexed ahead, with pauses, so that no question reads the labels again', () => {
    let reads = 0;
    const counted = new NeuronSelection({
      count: neurons.count,
      id: (neuron) => (reads++, neurons.id(neuron)),
      label: (label, neuron) => (reads++, neurons.label(label, neuron)),
    });
    const readsOfSteps: number[] = [];
    for (const indexing = counted.indexing(); ; reads = 0) {
      const { done } = indexing.next();
      readsOfSteps.push(reads);
      if (done === true) break;
    }
    expect(readsOfSteps).toEqual(new Array(LABELS.length + 1).fill(neurons.count));
    reads = 0;
    for (const label of LABELS) counted.withLabel(label, '*');
    expect(counted.withId('N_0200')).toBe(200);
    expect(reads).toBe(0);
  });
});
