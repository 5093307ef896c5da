import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import { MAX_EXCESS, nearestSpread, sampleExcess, SYNAPSE_SPREADS } from './synapse-spread.js';

const random = (key: number) => new PhiloxSequence(1, key, PHILOX_STREAM.synthesis);
const sumOf = (values: Iterable<number>) => [...values].reduce((sum, x) => sum + x, 0);
const NAMED = SYNAPSE_SPREADS.map((spread, index) => ({ ...spread, index }));

describe('the spread of synapses over connections', () => {
  it.each(NAMED)('finds again the numbers own $own and added $added that it sampled with', ({ index }) => {
    const excess = sampleExcess(3000, 30_000, index, random(index));
    expect(sumOf(excess)).toBe(30_000);
    expect(nearestSpread([...excess])).toBe(index);
  });

  it('gives one connection everything, and none a part of nothing', () => {
    expect([...sampleExcess(1, 77, 3, random(0))]).toEqual([77]);
    expect([...sampleExcess(3, 0, 0, random(0))]).toEqual([0, 0, 0]);
  });

  it('gives every division of the excess the same chance in the first spread', () => {
    // Two synapses on two connections: (2, 0), (1, 1), (0, 2), a third each; 1000 expected, 4 sd = 103.
    const counts = [0, 0, 0];
    const sequence = random(9);
    for (let i = 0; i < 3000; i++) counts[sampleExcess(2, 2, 0, sequence)[0]!]!++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(104);
  });

  it('stays within the limit of a file', () => {
    const excess = sampleExcess(2, 2 * MAX_EXCESS - 1, 1, random(3));
    expect([...excess].sort((a, b) => a - b)).toEqual([MAX_EXCESS - 1, MAX_EXCESS]);
  });

  it('calls counts without any spread even, and a single synapse geometric', () => {
    expect(SYNAPSE_SPREADS[nearestSpread([4, 4, 4, 4])]).toEqual({ own: 1, added: 0 });
    expect(nearestSpread([0, 1, 0, 0])).toBe(0);
    expect(nearestSpread([0, 0, 0, 0])).toBe(0);
  });
});
