import fc from 'fast-check';
import { simulateDensely } from '../oracle/dense-simulation.js';
import { ENGINES } from '../support/engines.js';
import { eventsOf, spikesOf, wiringOf, type Connection, type Event } from '../support/small-network.js';

describe.each(ENGINES)('$name, spike times worked out by hand', ({ build }) => {
  const simulate = (
    neurons: number,
    connections: Connection[],
    stimulated: number[],
    inputEvents: Event[],
    steps: number,
  ): Event[] =>
    spikesOf(
      build(wiringOf(neurons, connections)).simulate(eventsOf(stimulated, inputEvents), {
        durationSteps: steps,
      }),
    );

  it('is silent without input events', () => {
    expect(simulate(2, [[0, 1, 5000]], [0], [], 500)).toEqual([]);
  });

  it('spikes one step after an input event: 68.75 mV * exp(-0.005) is far above 7 mV', () => {
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

  it('drops an input event that comes in the very step of a spike, and takes the next one: no refractory period', () => {
    const inputEvents: Event[] = [
      [0, 0],
      [1, 0],
      [2, 0],
    ];
    expect(simulate(1, [], [0], inputEvents, 20)).toEqual([
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

  it('subtracts inhibition in the same step', () => {
    const both: Connection[] = [
      [0, 2, 400],
      [1, 2, -239],
    ];
    const fewer: Connection[] = [
      [0, 2, 400],
      [1, 2, -238],
    ];
    const inputEvents: Event[] = [
      [0, 0],
      [0, 1],
    ];
    expect(simulate(3, both, [0, 1], inputEvents, 1000).filter(([, i]) => i === 2)).toEqual([]);
    expect(simulate(3, fewer, [0, 1], inputEvents, 1000).filter(([, i]) => i === 2)).toHaveLength(1);
  });

  // B spikes in step 31 and is refractory until step 52. Input in step 52 is lost; input in step 53 counts, and B
  // spikes again 12 steps later.
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

  it('drops input that arrives in the very step of a spike', () => {
    // The second volley reaches B in step 31, the step of its spike.
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
    const inputEvents = eventsOf(
      [0],
      [
        [0, 0],
        [5, 0],
        [40, 0],
      ],
    );
    const first = spikesOf(engine.simulate(inputEvents, { durationSteps: 90 }));
    engine.simulate(eventsOf([1], [[3, 1]]), { durationSteps: 2000 });
    expect(spikesOf(engine.simulate(inputEvents, { durationSteps: 90 }))).toEqual(first);
  });

  it('gives a neuron twice 68.75 mV if two inputs meet in a step', () => {
    // Neuron 1 spikes in step 31, and the inhibition arrives 18 steps after 2 fires. 500 inhibiting synapses lower u by
    // 45.8 mV, so one event leaves the neuron below the threshold and two do not.
    const inhibited: Connection[] = [[1, 0, -4000]];
    const early: Event = [0, 1];
    // After 100 steps v of 0 is 4000 * 0.275 / 3 * (exp(-0.5) - exp(-2)) = -172.8 mV: -104 mV with one event, -35 mV
    // with two, and three take it to 33 mV.
    const times = (count: number): Event[] => [
      early,
      ...Array.from({ length: count }, (): Event => [119, 0]),
    ];
    const spikesOfTarget = (count: number): Event[] =>
      simulate(2, inhibited, [0, 1], times(count), 200).filter(([, i]) => i === 0);
    expect(spikesOfTarget(1)).toEqual([]);
    expect(spikesOfTarget(2)).toEqual([]);
    expect(spikesOfTarget(3)).toEqual([[120, 0]]);
  });

  it('gives stimulated neurons no refractory period even if no event ever comes', () => {
    // B is stimulated, so unlike above, input in step 52 counts and B spikes again.
    const inputEvents: Event[] = [
      [0, 0],
      [33, 0],
    ];
    const spikesOfB = (stimulated: number[]): Event[] =>
      simulate(2, [[0, 1, 500]], stimulated, inputEvents, 200).filter(([, i]) => i === 1);
    expect(spikesOfB([0])).toEqual([[31, 1]]);
    expect(spikesOfB([0, 1])).toEqual([
      [31, 1],
      [64, 1],
    ]);
  });

  describe('a chain of three, 500 synapses each', () => {
    const chain: Connection[] = [
      [0, 1, 500],
      [1, 2, 500],
      [2, 0, 500],
    ];
    const engine = build(wiringOf(3, chain));
    const events = eventsOf([0], [[0, 0]]);
    const spikesWithout = (silenced: number[]): Event[] =>
      spikesOf(engine.simulate(events, { durationSteps: 92, silenced: Uint32Array.from(silenced) }));

    it('silenced neurons receive and spike, and nobody hears them', () => {
      expect(spikesWithout([])).toEqual([
        [1, 0],
        [31, 1],
        [61, 2],
        [91, 0],
      ]);
      expect(spikesWithout([2])).toEqual([
        [1, 0],
        [31, 1],
        [61, 2],
      ]);
      expect(spikesWithout([1, 1])).toEqual([
        [1, 0],
        [31, 1],
      ]);
      expect(spikesWithout([0, 2])).toEqual([[1, 0]]);
      expect(spikesWithout([])).toHaveLength(4);
    });

    it('counts a connection for each spike in the step of its delivery, and ends with the first step above', () => {
      const run = (durationSteps: number, eventBudget: number, silenced: number[] = []) => {
        const trial = engine.simulate(events, {
          durationSteps,
          eventBudget,
          silenced: Uint32Array.from(silenced),
        });
        return [trial.steps.length, trial.deliveredEvents, trial.stoppedAtStep];
      };
      // Arrivals in steps 19, 49, 79.
      expect(run(92, Infinity)).toEqual([4, 3, undefined]);
      expect(run(92, 3)).toEqual([4, 3, undefined]);
      expect(run(92, 2)).toEqual([3, 3, 79]);
      expect(run(92, 1)).toEqual([2, 2, 49]);
      expect(run(92, 0)).toEqual([1, 1, 19]);
      expect(run(19, 0)).toEqual([1, 0, undefined]);
      expect(run(20, 0)).toEqual([1, 1, 19]);
      expect(run(92, 0, [0])).toEqual([1, 0, undefined]);
      expect(run(92, 1, [1])).toEqual([2, 1, undefined]);
    });
  });

  // Each volley raises g of B to 137.5 mV. So B spikes 12 steps after each arrival, also 5 s later.
  it('delays and crosses the threshold at 5 s as it does at 0 s', () => {
    const times = Array.from({ length: 55 }, (_, k) => 900 * k);
    const spikes = simulate(
      2,
      [[0, 1, 500]],
      [0],
      times.map((step): Event => [step, 0]),
      50_000,
    );
    expect(spikes).toEqual(
      times.flatMap((step): Event[] => [
        [step + 1, 0],
        [step + 31, 1],
      ]),
    );
  });

  it.each([0, 50_001, 1.5, NaN])('refuses a trial of %p steps', (steps) => {
    expect(() => simulate(1, [], [], [], steps)).toThrow(`a trial has 1 to 50000 steps, not ${steps}`);
  });
});

describe.each(ENGINES)('$name, random networks of up to 12 neurons', ({ build }) => {
  const networks = (longest: number) =>
    fc.integer({ min: 1, max: 12 }).chain((neurons) => {
      const neuron = fc.nat(neurons - 1);
      return fc.record({
        neurons: fc.constant(neurons),
        inhibitory: fc.array(fc.boolean(), { minLength: neurons, maxLength: neurons }),
        connections: fc.uniqueArray(fc.tuple(neuron, neuron, fc.integer({ min: 1, max: 2500 })), {
          selector: ([pre, post]) => `${pre} ${post}`,
          maxLength: 60,
        }),
        stimulated: fc.uniqueArray(neuron, { minLength: 1, maxLength: 4 }),
        // Some events occur twice, as if two inputs had the same neuron.
        events: fc.array(fc.tuple(fc.nat(Math.floor(0.7 * longest)), fc.nat(3), fc.boolean()), {
          maxLength: 120,
        }),
        silenced: fc.uniqueArray(neuron, { maxLength: 3 }),
        steps: fc.integer({ min: 1, max: longest }),
      });
    });
  type Network = typeof networks extends (longest: number) => fc.Arbitrary<infer N> ? N : never;
  const built = ({ neurons, inhibitory, connections, stimulated, events, silenced, steps }: Network) => ({
    wiring: wiringOf(
      neurons,
      connections.map(([pre, post, count]) => [pre, post, inhibitory[pre] ? -count : count]),
    ),
    train: eventsOf(
      stimulated.toSorted((a, b) => a - b),
      events.flatMap(([step, place, twice]): Event[] => {
        const neuron = stimulated[place];
        if (neuron === undefined) return [];
        return twice
          ? [
              [step, neuron],
              [step, neuron],
            ]
          : [[step, neuron]];
      }),
    ),
    options: { durationSteps: steps, silenced: Uint32Array.from(silenced) },
  });

  it.each([
    ['0.06 s', 600, 300],
    ['5 s', 50_000, 12],
  ])('agree with a dense simulation, up to %s', (_, longest, numRuns) => {
    fc.assert(
      fc.property(networks(longest), (network) => {
        const { wiring, train, options } = built(network);
        const trial = build(wiring).simulate(train, options);
        const dense = simulateDensely(wiring, train, options);
        expect(spikesOf(trial)).toEqual(dense.spikes);
        expect(trial.deliveredEvents).toBe(dense.deliveredUpTo.at(-1));
      }),
      { seed: 783, numRuns },
    );
  });

  it('end with the step of the budget, whichever step it is', () => {
    let stopped = 0;
    fc.assert(
      fc.property(networks(600), (network) => {
        const { wiring, train, options } = built(network);
        const { deliveredUpTo } = simulateDensely(wiring, train, options);
        const engine = build(wiring);
        for (const count of new Set(deliveredUpTo)) {
          for (const eventBudget of [count - 1, count]) {
            const expected = simulateDensely(wiring, train, { ...options, eventBudget });
            const { stoppedAtStep, deliveredEvents, ...raster } = engine.simulate(train, {
              ...options,
              eventBudget,
            });
            expect(stoppedAtStep).toBe(expected.stoppedAtStep);
            expect(deliveredEvents).toBe(expected.deliveredUpTo.at(-1));
            expect(spikesOf(raster)).toEqual(expected.spikes);
            if (stoppedAtStep !== undefined) stopped++;
          }
        }
      }),
      { seed: 783, numRuns: 120 },
    );
    expect(stopped).toBeGreaterThan(100);
  });
});
