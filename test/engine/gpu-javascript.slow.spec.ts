import { batchTables } from '../../src/engine/simulation/gpu/batch-tables.js';
import { OneThreadGpu } from '../support/one-thread-gpu.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import { randomNetwork } from '../support/random-network.js';
import { eventsOf, wiringOf } from '../support/small-network.js';
import { itEqualsTheOracle } from './gpu-parity.js';

describe('The GPU kernels, run as JavaScript, equal the oracle bit for bit', () => {
  itEqualsTheOracle('cpu', { random: 80, cutOut: 360, steps: 126, recipes: 8 });
});

describe('GpuEngine', () => {
  const network = randomNetwork(5, 40);
  const trains = [0, 1, 2, 3, 4].map((experiment) => network.inputEvents(experiment, 90));
  const trialsOf = (events: readonly InputEvents[], durationSteps = 90) =>
    events.map((each) => ({ events: each, options: { durationSteps } }));

  it('gives each experiment the same run, wherever in a batch it stands', async () => {
    const engine = new OneThreadGpu(network.wiring, { mode: 'cpu', widths: [1, 2, 4] });
    const alone = [];
    for (const train of trains) alone.push(...(await engine.simulateBatch(trialsOf([train]))));
    expect(await engine.simulateBatch(trialsOf(trains))).toEqual(alone);
    expect(await engine.simulateBatch(trialsOf(trains.toReversed()))).toEqual(alone.toReversed());
    await engine.destroy();
  });

  it('keeps the pipelines that are in use, however many others are needed meanwhile', async () => {
    const engine = new OneThreadGpu(network.wiring, { mode: 'cpu', widths: [1] });
    const durations = [18, 36, 54, 72, 90, 108, 18, 36];
    const batches = durations.map((steps) => trialsOf(trains.slice(0, 1), steps));
    const together = await Promise.all(batches.map((batch) => engine.simulateBatch(batch)));
    const alone = [];
    for (const batch of batches) alone.push(await engine.simulateBatch(batch));
    expect(together).toEqual(alone);
    expect(together.flat()).not.toContain(undefined);
    await engine.destroy();
  });

  it('simulates trials one after another if they are too large to be read back at once', async () => {
    const roomy = new OneThreadGpu(network.wiring, { mode: 'cpu', widths: [1, 2] });
    // Five windows of 128 slots, and the number of neurons without a flag.
    const largestBufferBytes = (5 * 128 + 1) * Float32Array.BYTES_PER_ELEMENT;
    const narrow = new OneThreadGpu(network.wiring, { mode: 'cpu', widths: [1, 2], largestBufferBytes });
    const tables = batchTables(trialsOf(trains.slice(0, 2)), roomy.room)!;
    expect(await narrow.simulate(tables)).toBeUndefined();
    expect(await narrow.simulateBatch(trialsOf(trains))).toEqual(await roomy.simulateBatch(trialsOf(trains)));
    await roomy.destroy();
    await narrow.destroy();
  });

  it('refuses a wiring whose sums would not be exact', () => {
    const sources = Array.from({ length: 600 }, (_, i) => i);
    const heavy = wiringOf(
      601,
      sources.map((pre) => [pre, 600, 8191]),
    );
    expect(() => new OneThreadGpu(heavy, { mode: 'cpu' })).toThrow(
      'The GPU engine takes fewer than 4194304 synapses onto one neuron; neuron 600 has 4914600.',
    );
  });

  it('refuses a width that does not fit', () => {
    expect(() => new OneThreadGpu(wiringOf(524_289, []), { mode: 'cpu', widths: [1, 2] })).toThrow(
      'The GPU takes networks of at most 524288 neurons and batches of fewer than 536870912 neurons in all, not 1 trials of 524289 neurons.',
    );
  });

  it('takes a network of one silent neuron', async () => {
    const engine = new OneThreadGpu(wiringOf(1, []), { mode: 'cpu', widths: [1] });
    const [run] = await engine.simulateBatch(trialsOf([eventsOf([0], [])], 18));
    expect(run).toEqual({
      trial: { steps: new Uint16Array(0), neurons: new Uint32Array(0), deliveredEvents: 0 },
      certified: true,
    });
    await engine.destroy();
  });
});
