import { ReferenceEngine } from '../engine/reference-engine.js';
import { kicksOf, spikesOf, wiringOf } from '../../test/support/small-network.js';
import { withoutOutputs } from './lesion.js';

describe('a lesion', () => {
  // A chain: one spike over 400 synapses is strong enough for the next neuron to spike.
  const wiring = wiringOf(3, [
    [0, 1, 400],
    [1, 2, 400],
  ]);
  const kicks = kicksOf([0], [[0, 0]]);

  it('removes the rows of the silenced neurons and no others', () => {
    const { connectionCount, rowStart, targets, synapseCounts, signs } = withoutOutputs(wiring, [0]);
    expect({ connectionCount, rowStart, targets, synapseCounts }).toEqual({
      connectionCount: 1,
      rowStart: Uint32Array.of(0, 0, 1, 1),
      targets: Uint32Array.of(2),
      synapseCounts: Uint16Array.of(400),
    });
    expect(signs).toBe(wiring.signs);
    expect(wiring.connectionCount).toBe(2);
  });

  it('leaves the silenced neuron able to receive and to spike', () => {
    const spikersWithout = (silenced: number[]) =>
      new Set(
        spikesOf(new ReferenceEngine(withoutOutputs(wiring, silenced)).simulate(kicks, 500)).map(
          ([, neuron]) => neuron,
        ),
      );
    expect(spikersWithout([])).toEqual(new Set([0, 1, 2]));
    expect(spikersWithout([0])).toEqual(new Set([0]));
    expect(spikersWithout([1])).toEqual(new Set([0, 1]));
    expect(spikersWithout([2])).toEqual(spikersWithout([]));
  });

  it('of nothing changes nothing, and of everything leaves no connection', () => {
    expect(withoutOutputs(wiring, [])).toEqual(wiring);
    expect(withoutOutputs(wiring, [0, 1, 2, 2]).connectionCount).toBe(0);
  });
});
