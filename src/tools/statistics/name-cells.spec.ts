import type { CellGroup } from './statistics.js';
import { nameCells } from './sample-brain.js';

const group = (members: Partial<CellGroup>) =>
  ({ type: '', side: 'left', super_class: '', class: '', sub_class: '', cells: 1, ...members }) as CellGroup;

describe('nameCells', () => {
  it('calls a cell by its type, else by the narrowest class it has', () => {
    const { ids, neuronOf } = nameCells([
      group({ type: 'LB3', side: 'right', cells: 2, super_class: 'sensory' }),
      group({ sub_class: 'bitter', class: 'gustatory', super_class: 'sensory' }),
      group({ class: 'gustatory', super_class: 'sensory', side: 'center' }),
      group({ super_class: 'sensory', side: '' }),
      group({}),
    ]);
    expect(ids).toEqual([
      'LB3_R_0001',
      'LB3_R_0002',
      'bitter_L_0001',
      'gustatory_C_0001',
      'neuron_L_0001',
      'sensory_N_0001',
    ]);
    expect(neuronOf.map((own) => [...own])).toEqual([[0, 1], [2], [3], [5], [4]]);
  });

  it('numbers on through groups that share a name, also when only odd characters told them apart', () => {
    const { ids } = nameCells([
      group({ type: 'Mi9’', cells: 2 }),
      group({ type: 'Mi9 ', cells: 1 }),
      group({ type: 'sugar/water', cells: 1 }),
    ]);
    expect(ids).toEqual(['Mi9-_L_0001', 'Mi9-_L_0002', 'Mi9-_L_0003', 'sugar-water_L_0001']);
  });
});
