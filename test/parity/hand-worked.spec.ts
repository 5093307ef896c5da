import fc from 'fast-check';
import { simulateDensely } from '../support/dense-simulation.js';
import { ENGINES } from '../support/engines.js';
import { kicksOf, spikesOf, wiringOf, type Connection, type Event } from '../support/small-network.js';

describe.each(ENGINES)('$name, spike times worked out by hand', ({ build }) => {
  const simulate = (
    neurons: number,
    connections: Connection[],
    stimulated: number[],
    kicks: Event[],
    steps: number,
  ): Event[] => spikesOf(build(wiringOf(neurons, connections)).simulate(kicksOf(stimulated, kicks), steps));

  it('is silent without kicks', () => {
    expect(simulate(2, [[0, 1, 5000]], [0], [], 500)).toEqual([]);
  });

  it('spikes one step after a kick: 68.75 mV * exp(-0.005) is far above 7 mV', () => {
    expect(
      simulate(
        1,
        [],
        [0],
        [
          [0, 0],
          [10, 0],
        ],
        20,
      ),
    ).toEqual([
      [1, 0],
      [11, 0],
    ]);
  });

  it('drops a kick that comes in the very step of a spike, and takes the next one: no refractory period', () => {
    const kicks: Event[] = [
      [0, 0],
      [1, 0],
      [2, 0],
    ];
    expect(simulate(1, [], [0], kicks, 20)).toEqual([
      [1, 0],
      [3, 0],
    ]);
  });

  it('never spikes in step 0, and not after the last step', () => {
    expect(simulate(1, [], [0], [[0, 0]], 1)).toEqual([]);
    expect(simulate(1, [], [0], [[0, 0]], 2)).toEqual([[1, 0]]);
  });

  // A spikes in step 1 and reaches B in step 19 with g = 137.5 mV. After n more steps v is
  // 137.5 / 3 * (exp(-0.005 n) - exp(-0.02 n)): 6.60 mV for n = 11, 7.11 mV for n = 12.
  it('delivers after 18 steps and crosses the threshold when the closed form does', () => {
    expect(simulate(2, [[0, 1, 500]], [0], [[0, 0]], 100)).toEqual([
      [1, 0],
      [31, 1],
    ]);
  });

  // The peak of v is g * 0.15749 (after 92 steps): 161 synapses reach 6.973 mV, 162 reach 7.016 mV.
  it('needs 162 synapses at once, 161 are too few', () => {
    expect(simulate(2, [[0, 1, 161]], [0], [[0, 0]], 1000)).toHaveLength(1);
    expect(simulate(2, [[0, 1, 162]], [0], [[0, 0]], 1000)).toHaveLength(2);
  });

  it('subtracts what inhibition brings in the same step', () => {
    const both: Connection[] = [
      [0, 2, 400],
      [1, 2, -239],
    ];
    const fewer: Connection[] = [
      [0, 2, 400],
      [1, 2, -238],
    ];
    const kicks: Event[] = [
      [0, 0],
      [0, 1],
    ];
    expect(simulate(3, both, [0, 1], kicks, 1000).filter(([, i]) => i === 2)).toEqual([]);
    expect(simulate(3, fewer, [0, 1], kicks, 1000).filter(([, i]) => i === 2)).toHaveLength(1);
  });

  // B spikes in step 31 and is refractory until step 52: what arrives in step 52 is lost, in step 53 it counts
  // and 12 steps later B spikes again.
  it('drops arrivals during 22 steps after a spike, not one step longer', () => {
    const arrivingIn = (step: number): Event[] =>
      simulate(
        2,
        [[0, 1, 500]],
        [0],
        [
          [0, 0],
          [step - 19, 0],
        ],
        200,
      );
    expect(arrivingIn(52).filter(([, i]) => i === 1)).toEqual([[31, 1]]);
    expect(arrivingIn(53).filter(([, i]) => i === 1)).toEqual([
      [31, 1],
      [65, 1],
    ]);
  });

  it('drops what arrives in the very step of a spike', () => {
    // The second volley reaches B in step 31, in which it spikes.
    expect(
      simulate(
        2,
        [[0, 1, 500]],
        [0],
        [
          [0, 0],
          [12, 0],
        ],
        200,
      ).filter(([, i]) => i === 1),
    ).toEqual([[31, 1]]);
  });

  it('starts every run from rest', () => {
    const engine = build(wiringOf(2, [[0, 1, 500]]));
    const kicks = kicksOf(
      [0],
      [
        [0, 0],
        [5, 0],
        [40, 0],
      ],
    );
    const first = spikesOf(engine.simulate(kicks, 90));
    engine.simulate(kicksOf([1], [[3, 1]]), 2000);
    expect(spikesOf(engine.simulate(kicks, 90))).toEqual(first);
  });
});

describe.each(ENGINES)('$name, random networks of up to 12 neurons', ({ build }) => {
  const networks = fc.integer({ min: 1, max: 12 }).chain((neurons) => {
    const neuron = fc.nat(neurons - 1);
    return fc.record({
      neurons: fc.constant(neurons),
      inhibitory: fc.array(fc.boolean(), { minLength: neurons, maxLength: neurons }),
      connections: fc.uniqueArray(fc.tuple(neuron, neuron, fc.integer({ min: 1, max: 2500 })), {
        selector: ([pre, post]) => `${pre} ${post}`,
        maxLength: 60,
      }),
      stimulated: fc.uniqueArray(neuron, { minLength: 1, maxLength: 4 }),
      kicks: fc.uniqueArray(fc.tuple(fc.nat(399), fc.nat(3)), { selector: String, maxLength: 120 }),
      steps: fc.integer({ min: 1, max: 600 }),
    });
  });

  it('agree with a dense simulation', () => {
    fc.assert(
      fc.property(networks, ({ neurons, inhibitory, connections, stimulated, kicks, steps }) => {
        const wiring = wiringOf(
          neurons,
          connections.map(([pre, post, count]) => [pre, post, inhibitory[pre] ? -count : count]),
        );
        const train = kicksOf(
          stimulated.toSorted((a, b) => a - b),
          kicks
            .filter(([, place]) => place < stimulated.length)
            .map(([step, place]) => [step, stimulated[place]!]),
        );
        const spikes = spikesOf(build(wiring).simulate(train, steps));
        expect(spikes).toEqual(simulateDensely(wiring, train, steps));
      }),
      { seed: 783, numRuns: 300 },
    );
  });
});
