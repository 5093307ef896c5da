import fc from 'fast-check';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { labelOf } from '../../engine/connectome/neuron-index.js';
import { GROUP_LABELS } from '../document/document.js';
import { groupsOf } from './groups.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const SIDES = ['left', 'right', 'center', ''];

it('puts neurons with equal labels into one group, in the order of the labels, those without one last', () => {
  const neurons = fc
    .uniqueArray(fc.nat(connectome.neuronCount - 1), { minLength: 1, maxLength: 60 })
    .map((list) => Uint32Array.from(list).sort());
  fc.assert(
    fc.property(neurons, fc.uniqueArray(fc.constantFrom(...GROUP_LABELS)), (list, groupBy) => {
      const groups = groupsOf(connectome, list, groupBy);
      const labelsOf = (neuron: number) =>
        groupBy.map((label) =>
          label === 'neuron' ? connectome.neuronId(neuron) : labelOf(connectome, label)(neuron),
        );
      const members = Array.from({ length: groups.count }, (_, group) => groups.neuronsOf(group));
      expect(members.map(({ length }) => length)).toEqual([...groups.sizes]);
      expect([...members.flatMap((each) => [...each])].sort((a, b) => a - b)).toEqual([...list]);
      members.forEach((own, group) => {
        for (const neuron of own) {
          expect(Object.values(groups.labelsOf(group))).toEqual(labelsOf(neuron));
          expect(groups.groupOfPosition[list.indexOf(neuron)]).toBe(group);
        }
      });
      for (let group = 1; group < groups.count; group++) {
        const [before, after] = [labelsOf(members[group - 1]![0]!), labelsOf(members[group]![0]!)];
        const differing = before.findIndex((label, at) => label !== after[at]);
        const [a, b] = [before[differing]!, after[differing]!];
        const isSide = groupBy[differing] === 'side';
        expect(isSide ? SIDES.indexOf(a) < SIDES.indexOf(b) : b === '' || (a !== '' && a < b)).toBe(true);
      }
    }),
  );
});
