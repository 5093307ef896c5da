import { smallBrain } from '../../../test/support/small-brain.js';
import { totalsOf } from './statistics.js';
import { SYNAPSE_SPREADS } from './synapse-spread.js';
import { measureStatistics } from './measure-statistics.js';

/**
 * Three cells of type A, two of B, one C, three of D. Worked out by hand, without self-connections:
 *
 *   A to A   a1-a2 5                          1 connection,  excess 0
 *   A to B   a1-b1 5, a1-b2 9, a2-b1 7, a3-b1 6   4 connections, excess 0 + 4 + 2 + 1
 *   A to D   a1-d1 5, a1-d2 5, a1-d3 6        3 connections, excess 1, of three A cells one takes part
 *   B to C   b1-c 8, b2-c 10                  2 connections, excess 3 + 5
 *   C to A   c-a1 6, c-a2 5, c-a3 20          3 connections, excess 1 + 0 + 15
 */
const BRAIN = smallBrain(
  [
    { id: 'a1', type: 'A', class: 'x', subClass: 'y', positionNm: [1000, 10_000, 0] },
    { id: 'a2', type: 'A', class: 'x', subClass: 'y', positionNm: [4000, 10_000, 0] },
    { id: 'a3', type: 'A', class: 'x', subClass: 'y', positionNm: [7000, 10_000, 1501] },
    { id: 'b1', type: 'B', superClass: 'motor' },
    { id: 'b2', type: 'B', superClass: 'motor' },
    { id: 'c', type: 'C', side: 'right', predictedSign: 1, correctedSign: -1 },
    { id: 'd1', type: 'D', predictedSign: -1 },
    { id: 'd2', type: 'D', predictedSign: -1 },
    { id: 'd3', type: 'D', predictedSign: -1 },
  ],
  [
    ['a1', 'a1', 12],
    ['a1', 'a2', 5],
    ['a1', 'b1', 5],
    ['a1', 'b2', 9],
    ['a2', 'b1', 7],
    ['a3', 'b1', 6],
    ['a1', 'd1', 5],
    ['a1', 'd2', 5],
    ['a1', 'd3', 6],
    ['b1', 'c', 8],
    ['b2', 'c', 10],
    ['c', 'a1', 6],
    ['c', 'a2', 5],
    ['c', 'a3', 20],
  ],
);

describe('measureStatistics on a brain worked out by hand', () => {
  const { groups, pairs, provenance, sources } = measureStatistics(BRAIN);

  it('describes each group', () => {
    expect(groups).toEqual([
      {
        type: 'A',
        side: 'left',
        super_class: 'central',
        class: 'x',
        sub_class: 'y',
        cells: 3,
        predicted_sign: 1,
        corrected_sign: 1,
        self_connections: 1,
        self_synapses: 12,
        // Outputs 6, 1, 1 of 8 and inputs 1, 2, 1 of 4, in the order a1 (7 connections), a2 (3), a3 (2).
        output_percent: [225, 38, 38],
        input_percent: [75, 150, 75],
        // x: mean 4, variance 6. z: mean 0.5, variance 0.5; covariance 1.5, so zx 1.5 / 2.45 and zz 0.35.
        position_um: [4, 10, 1],
        position_spread_um: [2, 0, 0, 1, 0, 0],
      },
      expect.objectContaining({
        type: 'B',
        super_class: 'motor',
        cells: 2,
        // Outputs 1, 1 and inputs 3, 1: b1 comes first.
        output_percent: [100, 100],
        input_percent: [150, 50],
      }),
      expect.objectContaining({
        type: 'C',
        side: 'right',
        cells: 1,
        predicted_sign: 1,
        corrected_sign: -1,
        output_percent: [],
        input_percent: [],
      }),
      expect.objectContaining({
        type: 'D',
        cells: 3,
        predicted_sign: -1,
        corrected_sign: -1,
        // Without outputs, all strata are equal.
        output_percent: [100, 100, 100],
        input_percent: [100, 100, 100],
      }),
    ]);
  });

  it('counts connections, synapses and partner cells of each pair', () => {
    const [A, B, C, D] = [0, 1, 2, 3] as const;
    expect({
      pre: [...pairs.pre],
      post: [...pairs.post],
      connections: [...pairs.connections],
      excess_synapses: [...pairs.excess_synapses],
      missing_pre: [...pairs.missing_pre],
      missing_post: [...pairs.missing_post],
    }).toEqual({
      pre: [A, A, A, B, C],
      post: [A, B, D, C, A],
      connections: [1, 4, 3, 2, 3],
      excess_synapses: [0, 7, 1, 8, 16],
      missing_pre: [0, 0, 2, 0, 0],
      missing_post: [0, 0, 0, 0, 0],
    });
  });

  it('finds the spread of synapses if there are enough connections', () => {
    // 0, 4, 2, 1: 4 x 21 - 7 x 7 = 35; independent synapses give 7 x 3 = 21. So a = (7 x 21 - 35) / 14 / 4 = 2.
    expect([...pairs.spread].map((index) => SYNAPSE_SPREADS[index])).toEqual([
      { own: 1, added: 1 },
      { own: 2, added: 1 },
      { own: 1, added: 1 },
      { own: 1, added: 1 },
      { own: 1, added: 1 },
    ]);
  });

  it('adds up to the brain, and names its origin', () => {
    expect(totalsOf({ groups, pairs })).toEqual({
      groups: 4,
      pairs: 5,
      neurons: 9,
      connections: 14,
      synapses: 12 + 5 + 27 + 16 + 18 + 31,
    });
    expect({ provenance, sources }).toEqual({ provenance: BRAIN.provenance, sources: BRAIN.sources });
  });
});
