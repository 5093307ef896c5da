import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import { WeightedCells } from './weighted-cells.js';

const random = new PhiloxSequence(2, 0, PHILOX_STREAM.synthesis);

function sampled(cells: WeightedCells, count: number, sequence = random, except?: number): number[] {
  return cells.sample(count, sequence, except);
}

describe('WeightedCells', () => {
  it('samples each cell at most once, time after time', () => {
    const cells = new WeightedCells(Uint32Array.of(1, 500, 3, 70, 2, 1, 9));
    for (let i = 0; i < 20; i++) {
      expect(sampled(cells, 7).sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    }
  });

  it('samples in proportion to the weights', () => {
    const cells = new WeightedCells(Uint32Array.of(10, 20, 30, 40));
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) counts[sampled(cells, 1)[0]!]!++;
    // 1000, 2000, 3000, 4000 with standard deviations of 30 to 49.
    counts.forEach((count, cell) => expect(Math.abs(count - 1000 * (cell + 1))).toBeLessThan(200));
  });

  it('leaves out a cell when told to, and only then', () => {
    const cells = new WeightedCells(Uint32Array.of(1, 1_000_000, 1));
    expect(sampled(cells, 2, random, 1).sort()).toEqual([0, 2]);
    expect(sampled(cells, 3).sort()).toEqual([0, 1, 2]);
  });

  it('knows the one cell of a group of one without asking for a random number', () => {
    const fresh = new PhiloxSequence(5, 5, PHILOX_STREAM.synthesis);
    const used = new PhiloxSequence(5, 5, PHILOX_STREAM.synthesis);
    expect(sampled(new WeightedCells(Uint32Array.of(4)), 1, used)).toEqual([0]);
    expect(used.nextUint32()).toBe(fresh.nextUint32());
  });
});
