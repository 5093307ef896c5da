import fc from 'fast-check';
import { NeuronSet } from './neuron-set.js';

const COUNT = 1000;

/** Small sets are lists, and large sets are bits. */
const members = fc.oneof(
  fc.uniqueArray(fc.nat(COUNT - 1), { maxLength: 20 }),
  fc.uniqueArray(fc.nat(COUNT - 1), { minLength: 40, maxLength: 400 }),
);
const ascending = (neurons: Iterable<number>) => Uint32Array.from(neurons).sort();
const setOf = (neurons: Iterable<number>) => NeuronSet.of(ascending(neurons), COUNT);

describe('sets of neurons, small and large', () => {
  it('hold the neurons of their lists', () => {
    fc.assert(
      fc.property(fc.array(members, { minLength: 1, maxLength: 4 }), members, (lists, excepted) => {
        const sets = lists.map(setOf);
        const every = Array.from({ length: COUNT }, (_, neuron) => neuron);
        const united = every.filter((neuron) => lists.some((list) => list.includes(neuron)));
        const common = every.filter((neuron) => lists.every((list) => list.includes(neuron)));
        const left = united.filter((neuron) => !excepted.includes(neuron));
        const union = NeuronSet.union(sets);
        expect(union.toIndices()).toEqual(ascending(united));
        expect(union.isEmpty).toBe(united.length === 0);
        const intersection = NeuronSet.intersection(sets);
        expect(intersection.toIndices()).toEqual(ascending(common));
        expect(intersection.isEmpty).toBe(common.length === 0);
        expect(union.without(setOf(excepted)).toIndices()).toEqual(ascending(left));
        expect(every.filter((neuron) => union.has(neuron))).toEqual(united);
        // None has changed.
        expect(sets.map((set) => set.toIndices())).toEqual(lists.map(ascending));
      }),
    );
  });
});
