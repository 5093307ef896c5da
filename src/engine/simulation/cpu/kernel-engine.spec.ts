import {
  eventsOf,
  spikesOf,
  wiringOf,
  type Connection,
  type Event,
} from '../../../../test/support/small-network.js';
import { MAX_NEURONS, MAX_SYNAPSES_PER_CONNECTION } from '../../connectome/connectome.js';
import { compileKernel } from '../../../workers/pool/kernel-file.js';
import { ReferenceEngine } from '../reference-engine.js';
import { copyOf } from '../simulation.js';
import { KernelEngine } from './kernel-engine.js';

const kernel = compileKernel();

describe('KernelEngine', () => {
  // 0 excites 1 and 2, 1 excites 2, 2 inhibits 1: a network that is never at rest when a run ends.
  const connections: Connection[] = [
    [0, 1, 500],
    [0, 2, 300],
    [1, 2, 400],
    [2, 1, -200],
  ];
  const wiring = wiringOf(3, connections);
  const inputEvents = eventsOf(
    [0],
    [0, 4, 9, 60].map((step): Event => [step, 0]),
  );

  it('starts from rest after a run that was cut short by a trap', () => {
    const engine = new KernelEngine(kernel, wiring);
    const first = spikesOf(engine.simulate(inputEvents, { durationSteps: 200 }));
    expect(first.length).toBeGreaterThan(6);
    // Addresses that no caller sends. The first one is in the rows, where the kernel then writes; the other one is
    // beyond all memory, so it traps in step 40, while spikes are on their way.
    const wild = eventsOf(
      [0],
      [
        [0, 0],
        [4, 0],
        [9, 2 ** 18 + 8],
        [40, 0x07ffffff],
      ],
    );
    expect(() => engine.simulate(wild, { durationSteps: 200 })).toThrow(/out of bounds/);
    expect(spikesOf(engine.simulate(inputEvents, { durationSteps: 200 }))).toEqual(first);
  });

  it('records nothing of an empty set beside another one', () => {
    const window = { everySteps: 1, startStep: 0, endStep: 200 };
    const recordings = [0, 1, 0].map((count) => ({ ...window, neurons: new Uint32Array(count) }));
    const options = { durationSteps: 200, recordings };
    const { membranes, ...trial } = new KernelEngine(kernel, wiring).simulate(inputEvents, options);
    const expected = new ReferenceEngine(wiring).simulate(inputEvents, options);
    expect(spikesOf(trial)).toEqual(spikesOf(expected));
    expect(membranes!.map(({ length }) => length)).toEqual([0, 199, 0]);
  });

  it('fails or is right if even a new kernel could not be had', () => {
    const engine = new KernelEngine(kernel, wiring);
    const first = spikesOf(engine.simulate(inputEvents, { durationSteps: 200 }));
    const { Instance } = WebAssembly;
    const wild = eventsOf([0], [[0, 0x07ffffff]]);
    expect(() => engine.simulate(wild, { durationSteps: 200 })).toThrow(/out of bounds/);
    WebAssembly.Instance = class {
      constructor() {
        throw new RangeError('no memory');
      }
    } as never;
    expect(() => engine.simulate(inputEvents, { durationSteps: 200 })).toThrow('no memory');
    WebAssembly.Instance = Instance;
    expect(spikesOf(engine.simulate(inputEvents, { durationSteps: 200 }))).toEqual(first);
  });

  it('applies overrides to the next trial if it failed to apply them', () => {
    const engine = new KernelEngine(kernel, wiring);
    const given = { connections: Uint32Array.of(0, 1), factors: Float64Array.of(3, 3) };
    const broken = { ...given, get factors(): Float64Array { throw new Error('no memory'); } }; // oxfmt-ignore
    const options = { durationSteps: 200, connectionFactors: broken };
    const expected = new ReferenceEngine(wiring).simulate(inputEvents, {
      ...options,
      connectionFactors: given,
    });
    expect(() => engine.simulate(inputEvents, options)).toThrow('no memory');
    Object.defineProperty(broken, 'factors', { value: given.factors });
    expect(spikesOf(engine.simulate(inputEvents, options))).toEqual(spikesOf(expected));
  });

  it('gives the memory of a trial with very many spikes back', () => {
    const engine = new KernelEngine(kernel, wiringOf(2000, []));
    const stimulated = Uint32Array.from({ length: 2000 }, (_, i) => i);
    const steps = Uint16Array.from({ length: 2000 * 6000 }, (_, k) => 2 * Math.floor(k / 2000));
    const neurons = Uint32Array.from(steps, (_, k) => k % 2000);
    const busy = engine.simulate({ stimulated, steps, neurons }, { durationSteps: 12_001 });
    expect(busy.steps.length).toBe(steps.length);
    expect(busy.steps.buffer.byteLength).toBeGreaterThan(2 ** 28);
    const calm = engine.simulate(inputEvents, { durationSteps: 200 });
    expect(calm.steps.buffer.byteLength).toBeLessThan(2 ** 27);
  });

  it('forgets who was stimulated: without a refractory period in one run, with one in the next', () => {
    const engine = new KernelEngine(kernel, wiring);
    const first = spikesOf(engine.simulate(inputEvents, { durationSteps: 200 }));
    engine.simulate(
      eventsOf(
        [0, 1, 2],
        [
          [0, 1],
          [0, 2],
        ],
      ),
      { durationSteps: 200 },
    );
    expect(spikesOf(engine.simulate(inputEvents, { durationSteps: 200 }))).toEqual(first);
  });

  it('copies no spikes: the next trial overwrites them, but not a copy', () => {
    const engine = new KernelEngine(kernel, wiring);
    const trial = engine.simulate(inputEvents, { durationSteps: 200 });
    const spikes = spikesOf(trial);
    const copy = copyOf(trial);
    engine.simulate(eventsOf([2], [[0, 2]]), { durationSteps: 200 });
    expect(spikesOf(trial)).not.toEqual(spikes);
    expect(spikesOf(copy)).toEqual(spikes);
    expect(copy.neurons.buffer.byteLength).toBe(4 * spikes.length);
  });

  it('makes room for more spikes than memory had when the run began', () => {
    const neurons = Array.from({ length: 400 }, (_, i) => i);
    const everyOtherStep = Array.from({ length: 1000 }, (_, k) => 2 * k).flatMap((step) =>
      neurons.map((i): Event => [step, i]),
    );
    const { steps } = new KernelEngine(kernel, wiringOf(400, [])).simulate(
      eventsOf(neurons, everyOtherStep),
      { durationSteps: 2000 },
    );
    // An input event in step 2k is a spike in step 2k + 1.
    expect(steps).toHaveLength(400 * 1000);
    expect(steps.every((step, q) => step === 2 * Math.floor(q / 400) + 1)).toBe(true);
  });

  it('finds all spikes if more neurons become candidates than the list holds', () => {
    // In step 39, four neurons excite four others each, one inhibits neuron 9, and neuron 9 gets an input event.
    const sources = [0, 1, 2, 3];
    const targets = [4, 5, 6, 7];
    const crowded = wiringOf(10, [
      ...sources.flatMap((source) => targets.map((target): Connection => [source, target, 300])),
      [8, 9, -8191],
    ]);
    const events = eventsOf(
      [...sources, 8, 9],
      [...sources.map((source): Event => [20, source]), [20, 8], [39, 9]],
    );
    const found = spikesOf(new KernelEngine(kernel, crowded).simulate(events, { durationSteps: 100 }));
    // The event counts before the inhibition does: 68.75 mV in step 39, 57 mV in step 40.
    expect(found).toContainEqual([40, 9]);
    for (const target of targets) expect(found.map(([, neuron]) => neuron)).toContain(target);
    expect(found).toEqual(spikesOf(new ReferenceEngine(crowded).simulate(events, { durationSteps: 100 })));
  });

  it('adds up the input that arrives before and after the state is scaled down', () => {
    // The growth of h reaches 2^512 after 512 ln 2 / 0.02 = 17,745 steps. One of the two spikes does not suffice.
    const pair = wiringOf(2, [[0, 1, 100]]);
    const events = eventsOf(
      [0],
      [17_720, 17_730].map((step): Event => [step, 0]),
    );
    const found = spikesOf(new KernelEngine(kernel, pair).simulate(events, { durationSteps: 18_500 }));
    expect(found.filter(([, neuron]) => neuron === 1)).toHaveLength(1);
    expect(found).toEqual(spikesOf(new ReferenceEngine(pair).simulate(events, { durationSteps: 18_500 })));
  });

  it('visits a neuron again when the numbers of visits start again', () => {
    const engine = new KernelEngine(kernel, wiringOf(1, []));
    const spikesAfterEventIn = (step: number, durationSteps: number): [number, number][] =>
      spikesOf(engine.simulate(eventsOf([0], [[step, 0]]), { durationSteps }));
    expect(spikesAfterEventIn(100, 50_000)).toEqual([[101, 0]]);
    // 65,535 visits later, one in each step, the number is the same.
    expect(spikesAfterEventIn(15_635, 20_000)).toEqual([[15_636, 0]]);
  });

  it.each([0, 50_001, 1.5, NaN])('refuses a trial of %p steps', (steps) => {
    expect(() => new KernelEngine(kernel, wiring).simulate(inputEvents, { durationSteps: steps })).toThrow(
      `a trial has 1 to 50000 steps, not ${steps}`,
    );
  });

  it('refuses numbers that do not fit into a word', () => {
    expect(() => new KernelEngine(kernel, wiringOf(2, [[0, 1, 8192]]))).toThrow(
      'up to 8191 synapses a connection, not 8192',
    );
    expect(() => new KernelEngine(kernel, wiringOf(MAX_NEURONS + 1, []))).toThrow(
      'up to 262143 neurons, not 262144',
    );
  });

  // Host and kernel both define how a connection is packed. This test depends on all bits of it.
  it.each([1, -1])(
    'packs the last neuron and the most synapses as the kernel reads them, sign %p',
    (sign) => {
      const last = MAX_NEURONS - 1;
      const largest = wiringOf(MAX_NEURONS, [
        [0, last, sign * MAX_SYNAPSES_PER_CONNECTION],
        [1, last, 300],
      ]);
      const both = eventsOf(
        [0, 1],
        [
          [0, 1],
          [50, 0],
          [50, 1],
        ],
      );
      const found = spikesOf(new KernelEngine(kernel, largest).simulate(both, { durationSteps: 200 }));
      expect(found).toEqual(spikesOf(new ReferenceEngine(largest).simulate(both, { durationSteps: 200 })));
      expect(found.filter(([, neuron]) => neuron === last)).not.toEqual([]);
    },
  );
});
