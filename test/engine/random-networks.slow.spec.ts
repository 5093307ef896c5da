import fc from 'fast-check';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import type { Trial } from '../../src/engine/simulation/simulation.js';
import { ENGINES } from '../support/engines.js';
import { networkOf, recipes, upTo } from '../support/network-recipe.js';
import { spikesOf } from '../support/small-network.js';

describe('random networks of up to 5,000 neurons', () => {
  const others = ENGINES.filter(({ name }) => name !== 'ReferenceEngine');

  it.each(others)('have the same spikes in $name as in the reference, run after run', ({ build }) => {
    let spikes = 0;
    let answered = 0;
    fc.assert(
      fc.property(recipes, (recipe) => {
        const { wiring, inputEvents, silenced } = networkOf(recipe);
        const options = { durationSteps: recipe.steps, silenced };
        const reference = new ReferenceEngine(wiring);
        const expected = reference.simulate(inputEvents, options);
        const engine = build(wiring);
        expectSame(engine.simulate(inputEvents, options), expected);
        const half = Math.ceil(recipe.steps / 2);
        expectSame(
          engine.simulate(upTo(inputEvents, half), { ...options, durationSteps: half }),
          reference.simulate(inputEvents, { ...options, durationSteps: half }),
        );
        const eventBudget = Math.floor((expected.deliveredEvents * recipe.budget) / 256);
        expectSame(
          engine.simulate(inputEvents, { ...options, eventBudget }),
          reference.simulate(inputEvents, { ...options, eventBudget }),
        );
        const heard = { durationSteps: recipe.steps };
        expectSame(engine.simulate(inputEvents, heard), reference.simulate(inputEvents, heard));
        expectSame(engine.simulate(inputEvents, options), expected);
        spikes += expected.steps.length;
        const isStimulated = new Set(inputEvents.stimulated);
        if (expected.neurons.some((i) => !isStimulated.has(i))) answered++;
      }),
      { seed: 783, numRuns: 60 },
    );
    // Silent networks would prove nothing.
    expect(spikes).toBeGreaterThan(100_000);
    expect(answered).toBeGreaterThan(10);
  });
});

/** Compares bytes first, because comparing element by element takes longer than the simulation. */
function expectSame(found: Trial, expected: Trial): void {
  expect([found.deliveredEvents, found.stoppedAtStep]).toEqual([
    expected.deliveredEvents,
    expected.stoppedAtStep,
  ]);
  const same =
    Buffer.from(found.steps.buffer).equals(Buffer.from(expected.steps.buffer)) &&
    Buffer.from(found.neurons.buffer).equals(Buffer.from(expected.neurons.buffer));
  if (!same) expect(spikesOf(found)).toEqual(spikesOf(expected));
}
