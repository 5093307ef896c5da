import { smallBrain } from '../../../test/support/small-brain.js';
import { PhiloxSequence, PHILOX_STREAM } from '../../engine/stimulus/philox.js';
import type { NeuronColumns } from '../compiler/brain.js';
import { samplePositions, measurePositions } from './cell-positions.js';

function neuronsAt(
  positionsUm: readonly (readonly [number, number, number])[],
  estimated: readonly number[] = [],
): NeuronColumns {
  const { neurons } = smallBrain(
    positionsUm.map(([x, y, z], i) => ({
      id: `n${String(i).padStart(5, '0')}`,
      type: 'A',
      positionNm: [1000 * x, 1000 * y, 1000 * z] as const,
    })),
    [],
  );
  return { ...neurons, positionEstimated: Uint8Array.from(positionsUm, (_, i) => estimated[i] ?? 0) };
}

const all = (neurons: NeuronColumns): Uint32Array => Uint32Array.from({ length: neurons.count }, (_, i) => i);

describe('positions of a group', () => {
  it('have a mean and the Cholesky factor of their covariance', () => {
    // x and y rise together: covariance xx 100, yx 50, yy 25 + 16, and z is flat.
    const neurons = neuronsAt([
      [90, 41, 7],
      [90, 49, 7],
      [110, 51, 7],
      [110, 59, 7],
    ]);
    expect(measurePositions(all(neurons), neurons)).toEqual({
      position_um: [100, 50, 7],
      position_spread_um: [10, 5, 4, 0, 0, 0],
    });
  });

  it('have no spread for one cell', () => {
    const neurons = neuronsAt([[1, 2, 3]]);
    expect(measurePositions(all(neurons), neurons)).toEqual({
      position_um: [1, 2, 3],
      position_spread_um: [],
    });
  });

  it('are those that were measured if at least a quarter was', () => {
    const at: [number, number, number][] = [
      [10, 0, 0],
      [90, 0, 0],
      [90, 0, 0],
      [90, 0, 0],
    ];
    const quarter = neuronsAt(at, [0, 1, 1, 1]);
    expect(measurePositions(all(quarter), quarter).position_um).toEqual([10, 0, 0]);
    const less = neuronsAt([...at, [90, 0, 0]], [0, 1, 1, 1, 1]);
    expect(measurePositions(all(less), less).position_um).toEqual([74, 0, 0]);
  });

  it('are sampled with the measured mean and spread, and with an edge', () => {
    const statistics = { position_um: [500, 200, 100], position_spread_um: [40, 20, 15, -10, 0, 5] };
    const cells = Uint32Array.from({ length: 20_000 }, (_, i) => i);
    const positionsNm = new Int32Array(3 * cells.length);
    samplePositions(statistics, cells, new PhiloxSequence(1, 2, PHILOX_STREAM.synthesis), positionsNm);
    const neurons = { ...neuronsAt(Array.from(cells, () => [0, 0, 0])), positionsNm };
    expect(measurePositions(cells, neurons)).toEqual(statistics);
    const x = positionsNm.filter((_, at) => at % 3 === 0);
    expect(Math.max(...x)).toBeLessThanOrEqual(500_000 + 40 * 2236);
    expect(Math.max(...x)).toBeGreaterThan(500_000 + 40 * 2100);
  });
});
