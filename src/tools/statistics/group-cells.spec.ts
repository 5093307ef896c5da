import { smallBrain, type SmallConnection, type SmallNeuron } from '../../../test/support/small-brain.js';
import type { Brain } from '../compiler/brain.js';
import { groupCells } from './group-cells.js';

function namesOf(brain: Brain): string[] {
  return groupCells(brain).map((cells) => Array.from(cells, (cell) => brain.neurons.ids[cell]!).join(' '));
}

/** Each partner is a separate group, so a cell's profile is the list of partner names. */
const partner = (id: string): SmallNeuron => ({ id, type: id, superClass: 'motor' });

describe('groupCells', () => {
  it('keeps apart neurons that differ in type, side, any class or sign under either rule', () => {
    const plain = { type: 'A', class: 'x', subClass: 'y' };
    const brain = smallBrain(
      [
        { ...plain, id: '1' },
        { ...plain, id: '2' },
        { ...plain, id: '3', type: 'B' },
        { ...plain, id: '4', side: 'right' },
        { ...plain, id: '5', superClass: 'motor' },
        { ...plain, id: '6', class: 'z' },
        { ...plain, id: '7', subClass: 'z' },
        { ...plain, id: '8', predictedSign: -1, correctedSign: 1 },
        { ...plain, id: '9', predictedSign: 1, correctedSign: -1 },
      ],
      [],
    );
    expect(namesOf(brain).sort()).toEqual(['1 2', '3', '4', '5', '6', '7', '8', '9']);
  });

  it('cuts untyped cells by their partners until each part is alike', () => {
    const connections: SmallConnection[] = ['p1', 'p2', 'q1', 'q2', 'r1'].flatMap((cell) => [
      [cell, `${cell[0]!}-first`.toUpperCase(), 20] as const,
      [`${cell[0]!}-second`.toUpperCase(), cell, 30] as const,
    ]);
    const partners = [...new Set(connections.flatMap(([pre, post]) => [pre, post]))]
      .filter((id) => id === id.toUpperCase())
      .map(partner);
    const cells = ['p1', 'p2', 'q1', 'q2', 'r1'].map((id) => ({ id, type: '' }));
    const groups = namesOf(smallBrain([...partners, ...cells], connections));
    expect(groups.filter((name) => name === name.toLowerCase()).sort()).toEqual(['p1 p2', 'q1 q2', 'r1']);
  });

  it('asks less likeness of cells that share a type', () => {
    // Each cell has one shared partner and one separate partner. The cosine between two cells is 1/2, and that to the
    // centroid of all three is sqrt(2/3), above the limits for typed and untyped cells. With weights of 4 (shared) to 9
    // (separate) it is sqrt((1 + 2 x 4/13) / 3) = 0.73, between the two limits.
    const connections = (common: number, own: number): SmallConnection[] =>
      ['1', '2', '3'].flatMap((cell) => [
        [cell, 'COMMON', common] as const,
        [cell, `OWN${cell}`, own] as const,
      ]);
    const partners = ['COMMON', 'OWN1', 'OWN2', 'OWN3'].map(partner);
    const cells = (type: string) => ['1', '2', '3'].map((id) => ({ id, type }));
    const grouped = (type: string, common: number, own: number) =>
      namesOf(smallBrain([...partners, ...cells(type)], connections(common, own))).includes('1 2 3');
    expect(grouped('A', 9, 9)).toBe(true);
    expect(grouped('', 9, 9)).toBe(true);
    expect(grouped('A', 8, 18)).toBe(true);
    expect(grouped('', 8, 18)).toBe(false);
    expect(grouped('A', 5, 100)).toBe(false);
  });

  it('keeps cells without connections together, whatever they are', () => {
    expect(
      namesOf(
        smallBrain(
          [
            { id: '1', type: '' },
            { id: '2', type: '' },
          ],
          [],
        ),
      ),
    ).toEqual(['1 2']);
  });
});
