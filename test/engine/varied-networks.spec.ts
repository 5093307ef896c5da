import fc from 'fast-check';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import type { SimulationOptions } from '../../src/engine/simulation/simulation.js';
import { simulateDensely } from '../oracle/dense-simulation.js';
import { ENGINES } from '../support/engines.js';
import { networkOf, recipes } from '../support/network-recipe.js';
import { applied, variations } from '../support/network-variation.js';
import { type Connection, eventsOf, spikesOf, wiringOf } from '../support/small-network.js';

describe('networks that a trial varies', () => {
  it('have the spikes and membranes of a loop over all neurons and steps', () => {
    let spikes = 0;
    fc.assert(
      fc.property(recipes, variations, (recipe, variation) => {
        const small = {
          ...recipe,
          neurons: Math.min(recipe.neurons, 60),
          steps: Math.min(recipe.steps, 500),
        };
        const { wiring, inputEvents, silenced } = networkOf(small);
        const [events, varied] = applied(wiring, inputEvents, variation, small.steps);
        const options = { ...varied, silenced };
        const expected = simulateDensely(wiring, events, options);
        const found = new ReferenceEngine(wiring).simulate(events, options);
        expect(spikesOf(found)).toEqual(expected.spikes);
        expect(found.deliveredEvents).toBe(expected.deliveredUpTo.at(-1));
        options.recordings!.forEach(({ neurons, everySteps, startStep, endStep }, at) => {
          const samples: number[] = [];
          for (let step = everySteps; step < Math.min(small.steps, endStep); step += everySteps) {
            if (step >= startStep) samples.push(...[...neurons].map((i) => expected.membranes[step]![i]!));
          }
          const difference = found.membranes![at]!.map((mv, place) => Math.abs(mv - samples[place]!));
          expect(found.membranes![at]).toHaveLength(samples.length);
          // Strong inhibition makes large potentials, so the tolerance is relative.
          difference.forEach((mv, place) =>
            expect(mv).toBeLessThan(1e-9 + 1e-12 * Math.abs(samples[place]!)),
          );
        });
        spikes += expected.spikes.length;
      }),
      { seed: 783, numRuns: 60 },
    );
    expect(spikes).toBeGreaterThan(10_000);
  });

  it('have the same spikes and membranes in the kernel as in the reference, one trial after another', () => {
    let spikes = 0;
    fc.assert(
      fc.property(recipes, fc.array(variations, { minLength: 1, maxLength: 3 }), (recipe, several) => {
        const { wiring, inputEvents, silenced } = networkOf({
          ...recipe,
          neurons: Math.min(recipe.neurons, 600),
          steps: Math.min(recipe.steps, 600),
        });
        const steps = Math.min(recipe.steps, 600);
        const reference = new ReferenceEngine(wiring);
        const kernel = ENGINES.find(({ name }) => name === 'KernelEngine')!.build(wiring);
        const plain = { durationSteps: steps, silenced };
        const before = reference.simulate(inputEvents, plain);
        for (const variation of several) {
          const [events, varied] = applied(wiring, inputEvents, variation, steps);
          const whole = reference.simulate(events, { ...varied, silenced });
          const eventBudget = Math.floor((whole.deliveredEvents * recipe.budget) / 256);
          for (const options of [varied, { ...varied, silenced }, { ...varied, eventBudget }, plain]) {
            const given = options === plain ? inputEvents : events;
            const expected = options === plain ? before : reference.simulate(given, options);
            const found = kernel.simulate(given, options);
            expect([found.deliveredEvents, found.stoppedAtStep]).toEqual([
              expected.deliveredEvents,
              expected.stoppedAtStep,
            ]);
            expect(found.steps.slice()).toEqual(expected.steps);
            expect(found.neurons.slice()).toEqual(expected.neurons);
            expected.membranes?.forEach((membrane, at) => {
              expect(found.membranes![at]).toHaveLength(membrane.length);
              const off = membrane.findIndex(
                (mv, place) => Math.abs(mv - found.membranes![at]![place]!) > 1e-9 + 1e-12 * Math.abs(mv),
              );
              expect(off).toBe(-1);
            });
            spikes += expected.steps.length;
          }
        }
      }),
      { seed: 783, numRuns: 60 },
    );
    expect(spikes).toBeGreaterThan(100_000);
  });
});

describe.each(ENGINES)('$name, a chain of three neurons worked out by hand', ({ build }) => {
  // A kick at the end of step 10 raises the first to 16.75 mV, and it spikes in step 11. Its 300 synapses, 82.5 mV,
  // arrive in step 29. At the end of that step the second is still at rest; one step later it is at -52 + 82.5 / 3
  // (exp(-0.005) - exp(-0.02)).
  it('has the potentials of the closed form', () => {
    const wiring = wiringOf(3, [
      [0, 1, 300],
      [1, 2, 300],
    ]);
    const { membranes } = build(wiring).simulate(eventsOf([0], [[10, 0]]), {
      durationSteps: 40,
      recordings: [{ neurons: Uint32Array.of(0, 1), everySteps: 1, startStep: 0, endStep: 40 }],
    });
    const mv = (step: number, neuron: number) => membranes![0]![2 * (step - 1) + neuron];
    expect(mv(10, 0)).toBeCloseTo(16.75, 10);
    expect(mv(11, 0)).toBe(-52);
    expect(mv(29, 1)).toBe(-52);
    expect(mv(30, 1)).toBeCloseTo(-51.5926203381, 10);
  });

  it('delivers nothing from a neuron of sign 0, and counts no event of it', () => {
    const wiring = { ...wiringOf(2, [[0, 1, 4000]]), signs: Int8Array.of(0, 1) };
    const trial = build(wiring).simulate(eventsOf([0], [[0, 0]]), { durationSteps: 100 });
    expect(spikesOf(trial)).toEqual([[1, 0]]);
    expect(trial.deliveredEvents).toBe(0);
  });

  // The overrides also name connections of the first neuron, which has none in the kernel.
  it.each([0, -1])('applies an override of weight %d that begins with a neuron of sign 0', (weight) => {
    const connections: Connection[] = [
      [0, 2, 5],
      [1, 2, 1000],
    ];
    const wiring = { ...wiringOf(3, connections), signs: Int8Array.of(0, 1, 1) };
    const events = eventsOf([0, 1], [[0, 0], [0, 1]]); // oxfmt-ignore
    const spikesWith = (overrides: SimulationOptions['overrides']) =>
      spikesOf(build(wiring).simulate(events, { durationSteps: 100, overrides })).map(([, neuron]) => neuron);
    const all = Uint32Array.of(0, 1, 2);
    expect(spikesWith([])).toContain(2);
    expect(spikesWith([{ sources: all, targets: all, weight }])).toEqual([0, 1]);
  });
});
