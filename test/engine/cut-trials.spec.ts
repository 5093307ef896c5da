import { compileKernel } from '../../src/workers/pool/kernel-file.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import { expectCutsToChangeNothing, simulateInParts } from '../support/cut-trial.js';
import { simulateDensely } from '../oracle/dense-simulation.js';
import { randomNetwork } from '../support/random-network.js';
import { spikesOf } from '../support/small-network.js';

const kernel = compileKernel();

describe('a trial in parts', () => {
  it('has the spikes, the membranes and the state of the whole, wherever it is cut and whoever computes', () => {
    const { spikes, stopped } = expectCutsToChangeNothing(16);
    expect(spikes).toBeGreaterThan(1_000);
    expect(stopped).toBeGreaterThan(0);
  });

  // The growth of h is 0.98^-n. At step 17,744 it is 2^512, and the state of all neurons is multiplied by powers of
  // two.
  it('is the same when it is cut around the steps in which its coordinates shrink', () => {
    const { wiring, inputEvents } = randomNetwork(11, 300);
    const durationSteps = 40_000;
    const events = inputEvents(1, durationSteps);
    const engine = new KernelEngine(kernel, wiring);
    const options = { durationSteps };
    const expected = spikesOf(engine.simulate(events, options));
    expect(expected.length).toBeGreaterThan(10_000);
    const shrinkings = [17_745, 35_489].flatMap((step) => [-2, -1, 0, 1, 2].map((by) => step + by));
    const bytes = [shrinkings, [17_744, 30_000], [10_000, 20_000, 30_000]].map((cuts) => {
      const parts = [...new Set([...cuts, 9_000, 18_000, 27_000, 36_000])].sort((a, b) => a - b);
      const cut = simulateInParts([engine], events, options, parts);
      expect(cut.spikes).toEqual(expected);
      return cut.bytes;
    });
    expect(bytes.every((each) => each.equals(bytes[0]!))).toBe(true);
  });

  it('may be longer than a trial that is simulated whole', () => {
    const { wiring, inputEvents } = randomNetwork(3, 12, { connections: 60, largestCount: 300 });
    const durationSteps = 60_000;
    const events = inputEvents(1, durationSteps);
    const { spikes, deliveredUpTo } = simulateDensely(wiring, events, { durationSteps });
    const cuts = Array.from({ length: 150 }, (_, k) => 400 * k).slice(1);
    const cut = simulateInParts([new KernelEngine(kernel, wiring)], events, { durationSteps }, cuts);
    expect(cut.spikes).toEqual(spikes);
    expect(cut.deliveredEvents).toBe(deliveredUpTo.at(-1));
    expect(spikes.filter(([step]) => step > 50_000).length).toBeGreaterThan(500);
  });

  it('keeps every neuron if spikes of a part reach most of the network', () => {
    const { wiring, inputEvents } = randomNetwork(5, 600, {
      connections: 300_000,
      largestCount: 40,
      stimulated: 60,
    });
    const engines = [1, 2].map(() => new KernelEngine(kernel, wiring));
    const options = { durationSteps: 600 };
    const events = inputEvents(1, options.durationSteps);
    const expected = spikesOf(engines[0]!.simulate(events, options));
    expect(new Set(expected.map(([, neuron]) => neuron)).size).toBeGreaterThan(300);
    expect(simulateInParts(engines, events, options, [200, 400]).spikes).toEqual(expected);
  });

  it('begins at its last step: a segment from another step, or of no trial, is refused', () => {
    const { wiring, inputEvents } = randomNetwork(3, 12);
    const engine = new KernelEngine(kernel, wiring);
    const events = inputEvents(1, 10);
    const part = (startStep: number) => () => engine.advance(events, { startStep, durationSteps: 10 });
    expect(part(0)).toThrow('step 0 is not the next one of the trial that is loaded');
    engine.load(engine.newState());
    expect(part(10)).toThrow('step 10 is not the next one');
    expect(part(0)).not.toThrow();
    expect(part(10)).not.toThrow();
    engine.simulate(events, { durationSteps: 10 });
    expect(part(20)).toThrow('step 20 is not the next one');
    expect(() => engine.save(engine.newState())).toThrow('no trial is loaded');
    engine.load(engine.newState());
    expect(() => engine.advance(events, { startStep: 0, durationSteps: 10_001 })).toThrow(
      'a trial has 1 to 10000 steps, not 10001',
    );
  });

  it('leaves nothing behind for the next trial, also where it was loaded and did not go on', () => {
    const { wiring, inputEvents } = randomNetwork(3, 12);
    const engine = new KernelEngine(kernel, wiring);
    const events = inputEvents(1, 400);
    const state = engine.newState();
    engine.load(state);
    engine.advance(events, { startStep: 0, durationSteps: 400 });
    engine.save(state);
    const expected = spikesOf(engine.simulate(events, { durationSteps: 400 }));
    engine.load(state);
    expect(spikesOf(engine.simulate(events, { durationSteps: 400 }))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  });
});
