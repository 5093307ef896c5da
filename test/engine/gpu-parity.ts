/**
 * The contract of the GPU engine's kernels, for every way to run them. Every bit of the state and every spike equals
 * that of the oracle in BigInt. If a trial is certified, its spikes, synaptic events and the end of its budget equal
 * those of the reference engine.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Wiring } from '../../src/engine/connectome/connectome.js';
import { viewConnectome } from '../../src/engine/connectome/sections.js';
import type { GpuTrial } from '../../src/engine/simulation/gpu/batch-tables.js';
import type { GpuEngineOptions } from '../../src/engine/simulation/gpu/gpu-engine.js';
import { OneThreadGpu } from '../support/one-thread-gpu.js';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import { drawInputEvents, type InputEvents } from '../../src/engine/stimulus/input-events.js';
import { v1Protocol, type Protocol } from '../../src/engine/stimulus/protocol.js';
import { connectomeFile } from '../support/connectomes.js';
import { cutOut } from '../support/cut-out.js';
import { simulateInIntegers, toFloats } from '../oracle/integer-simulation.js';
import { networkOf, recipes } from '../support/network-recipe.js';
import { randomNetwork } from '../support/random-network.js';
import { describeWith } from '../support/requirements.js';
import { eventsOf, spikesOf, wiringOf, type Connection, type Event } from '../support/small-network.js';

/** @param sizes the sizes of random networks and cut-outs; kernels as JavaScript are slow, so they get small ones */
export function itEqualsTheOracle(
  mode: GpuEngineOptions['mode'],
  sizes: { random: number; cutOut: number; steps: number; recipes: number },
): void {
  const opened: OneThreadGpu[] = [];
  const open = (wiring: Wiring, widths: number[]) => {
    const engine = new OneThreadGpu(wiring, { mode, widths });
    opened.push(engine);
    return engine;
  };
  const closeAll = async () => {
    await Promise.all(opened.splice(0).map((engine) => engine.destroy()));
  };
  afterEach(closeAll);

  /** Checks spikes, events, the certificate and every bit of the state. @returns the numbers of them */
  const compareTrials = async (wiring: Wiring, trials: readonly GpuTrial[], widths: number[]) => {
    const { results, stateSteps, stateFloats } = await open(wiring, widths).simulateWithStates(trials);
    const reference = new ReferenceEngine(wiring);
    const found = { spikes: 0, certified: 0, quietWindows: 0, steppedWindows: 0 };
    trials.forEach(({ events, options }, experiment) => {
      const { trial, certified } = results[experiment]!;
      const oracle = simulateInIntegers(wiring, events, stateSteps, options.silenced);
      const end = trial.stoppedAtStep === undefined ? options.durationSteps : trial.stoppedAtStep + 1;
      const spikes = oracle.spikes.filter(([step]) => step < end);
      expect(spikesOf(trial)).toEqual(spikes);
      expect(certified).toBe(oracle.uncertain.size === 0);
      if (certified) expect(trial).toEqual(reference.simulate(events, options));
      const differing = Array.from({ length: wiring.neuronCount }, (_, neuron) => neuron).filter(
        (neuron) =>
          stateFloats(experiment, neuron).join() !==
          [...toFloats(oracle.u[neuron]!), ...toFloats(oracle.h[neuron]!)].join(),
      );
      expect(differing).toEqual([]);
      found.spikes += spikes.length;
      found.certified += certified ? 1 : 0;
      found.quietWindows += oracle.quietWindows;
      found.steppedWindows += oracle.steppedWindows;
    });
    return found;
  };
  const compare = async (
    wiring: Wiring,
    trains: readonly InputEvents[],
    durationSteps: number,
    widths: number[],
  ) => {
    const trials = trains.map((events) => ({ events, options: { durationSteps } }));
    return (await compareTrials(wiring, trials, widths)).spikes;
  };

  it('on random networks, experiments side by side', async () => {
    const network = randomNetwork(783, sizes.random);
    const trains = [0, 1, 2].map((experiment) => network.inputEvents(experiment, sizes.steps));
    expect(await compare(network.wiring, trains, sizes.steps, [1, 4])).toBeGreaterThan(100);
  });

  it('on a network with strong connections and a duration that ends within a window', async () => {
    const network = randomNetwork(2, 50, { largestCount: 2500, inhibitory: 0.5 });
    expect(await compare(network.wiring, [network.inputEvents(0, 200)], 200, [1])).toBeGreaterThan(50);
  });

  it('on a neuron with more inputs than one segment takes, and neurons without any', async () => {
    const connections = Array.from({ length: 200 }, (_, pre): Connection => [pre, 200, 2 + (pre % 5)]);
    const stimulated = Array.from({ length: 200 }, (_, i) => i);
    const inputEvents = eventsOf(
      stimulated,
      stimulated.flatMap((i): Event[] => [
        [i % 30, i],
        [60 + (i % 7), i],
      ]),
    );
    const spikes = await compare(wiringOf(203, connections), [inputEvents], 180, [1]);
    expect(spikes).toBeGreaterThan(400);
  });

  it('on a hub whose inputs fill several chunks, silenced and not, and quiet as well as driven', async () => {
    const count = 600;
    // So weak that single volleys do not make the hub spike. Then its windows are computed in one formula.
    const connections = Array.from({ length: count }, (_, pre): Connection => [pre, count, pre % 3 ? 1 : -2]);
    connections.push([count, count + 1, 90], [0, count + 1, 3]);
    const all = Array.from({ length: count }, (_, i) => i);
    const few = eventsOf(
      all,
      all.filter((i) => i % 20 === 0).map((i): Event => [(i * 7) % 60, i]),
    );
    const many = eventsOf(
      all,
      all
        .filter((i) => i % 3 !== 0)
        .flatMap((i): Event[] => [
          [i % 12, i],
          [50 + (i % 5), i],
        ]),
    );
    const options = { durationSteps: 108 };
    const found = await compareTrials(
      wiringOf(count + 2, connections),
      [
        { events: few, options },
        { events: many, options },
        { events: many, options: { ...options, silenced: Uint32Array.from([count]) } },
        { events: many, options: { ...options, silenced: Uint32Array.from(all) } },
      ],
      [4],
    );
    expect(found.quietWindows).toBeGreaterThan(3);
    expect(found.spikes).toBeGreaterThan(3 * 700);
  });

  it('with several inputs: rates of 0, windows, two events in one step, other durations side by side', async () => {
    const { wiring } = randomNetwork(11, 120);
    const neurons = (...indices: number[]) => Uint32Array.from(indices);
    const poisson = (name: string, rateHz: number, startStep: number, endStep: number) =>
      ({ kind: 'poisson', name, rateHz, seed: 5, trial: 2, startStep, endStep }) as const;
    const given = { kind: 'spikes', steps: Uint32Array.from([0, 17, 18, 40, 41]) } as const;
    const silenced = neurons(3, 7, 40, 41, 42);
    const protocols: Protocol[] = [
      {
        inputs: [
          { neurons: neurons(1, 2, 3), train: poisson('a', 500, 0, 300) },
          { neurons: neurons(2, 3, 4), train: given },
          { neurons: neurons(3, 9), train: given },
          { neurons: neurons(5, 6), train: poisson('silent', 0, 0, 300) },
        ],
        silenced,
        durationSteps: 300,
      },
      {
        inputs: [{ neurons: neurons(1, 2, 3, 60), train: poisson('a', 400, 100, 150) }],
        silenced: neurons(),
        durationSteps: 163,
        eventBudget: 300,
      },
      { inputs: [], silenced, durationSteps: 1 },
    ];
    const trials = protocols.map((options) => ({ events: drawInputEvents(options, String), options }));
    const { steps, neurons: hit } = trials[0]!.events;
    expect(hit.some((neuron, at) => neuron === hit[at - 1] && steps[at] === steps[at - 1])).toBe(true);
    const found = await compareTrials(wiring, trials, [1, 4]);
    expect(found.spikes).toBeGreaterThan(60);
    expect(found.quietWindows).toBeGreaterThan(100);
  });

  it('on random networks of every kind, silenced hubs and budgets among them', async () => {
    const found = { spikes: 0, certified: 0, quietWindows: 0, steppedWindows: 0, stopped: 0 };
    const drawn = fc.sample(recipes, { seed: 783, numRuns: 500 });
    const fitting = drawn.filter(({ neurons, steps }) => neurons <= sizes.random && steps <= 2 * sizes.steps);
    let left = sizes.recipes;
    for (const recipe of fitting) {
      const { wiring, inputEvents: events, silenced } = networkOf(recipe);
      const options = { durationSteps: recipe.steps, silenced };
      const { deliveredEvents } = new ReferenceEngine(wiring).simulate(events, options);
      // Silent networks would prove nothing.
      if (deliveredEvents < 1000) continue;
      if (left-- === 0) break;
      const eventBudget = Math.floor((deliveredEvents * recipe.budget) / 256);
      const trials = [
        { events, options },
        { events, options: { ...options, eventBudget } },
        { events, options: { durationSteps: recipe.steps } },
      ];
      const { spikes, certified, quietWindows, steppedWindows } = await compareTrials(wiring, trials, [4]);
      found.spikes += spikes;
      found.certified += certified;
      found.quietWindows += quietWindows;
      found.steppedWindows += steppedWindows;
      found.stopped += deliveredEvents > eventBudget ? 1 : 0;
      await closeAll();
    }
    expect(found.certified).toBeGreaterThan(0);
    expect(found.spikes).toBeGreaterThan(100 * sizes.recipes);
    expect(found.quietWindows).toBeGreaterThan(10 * sizes.recipes);
    expect(found.steppedWindows).toBeGreaterThan(10 * sizes.recipes);
    expect(found.stopped).toBeGreaterThan(0);
    // Every network needs new pipelines, and a software adapter takes seconds to compile them.
  }, 300_000);

  it('of batches in flight together, some of which need more places for spikes than there are', async () => {
    const neurons = Array.from({ length: 300 }, (_, i) => i);
    const wiring = wiringOf(
      301,
      neurons.map((pre): Connection => [pre, 300, 3]),
    );
    // All neurons spike in one window.
    const volley = eventsOf(
      neurons,
      neurons.map((i): Event => [20 + (i % 3), i]),
    );
    const few = eventsOf([3, 4], [[0, 3]]);
    const engine = open(wiring, [2]);
    const batches = [
      trialsOf([few, few], 54),
      trialsOf([volley], 54),
      trialsOf([few], 90),
      trialsOf([few, volley], 54),
    ];
    const inFlight = (...some: GpuTrial[][]) => Promise.all(some.map((batch) => engine.simulateBatch(batch)));
    const runs = [
      ...(await inFlight(batches[0]!, batches[1]!)),
      ...(await inFlight(batches[2]!, batches[3]!)),
    ];
    const reference = new ReferenceEngine(wiring);
    batches.forEach((batch, at) =>
      batch.forEach(({ events, options }, trial) =>
        expect(runs[at]![trial]).toEqual({ trial: reference.simulate(events, options), certified: true }),
      ),
    );
  });

  it('without inputEvents and without connections', async () => {
    const nothing = eventsOf([], []);
    expect(await compare(wiringOf(3, []), [nothing, eventsOf([1], [[0, 1]])], 36, [2])).toBe(1);
  });

  // 237 synapses in step 19 and 638 in step 24 lift v to 7 mV - 6.4e-9 mV in step 29: closer than the margin.
  it('denies the certificate only to a run that comes too close to the threshold', async () => {
    const wiring = wiringOf(3, [
      [0, 2, 237],
      [1, 2, 638],
    ]);
    const closeCall = eventsOf(
      [0, 1],
      [
        [0, 0],
        [5, 1],
      ],
    );
    const oneStepLater = eventsOf(
      [0, 1],
      [
        [0, 0],
        [6, 1],
      ],
    );
    const engine = open(wiring, [2]);
    const runs = await engine.simulateBatch(trialsOf([closeCall, oneStepLater], 54));
    expect(runs.map((run) => run!.certified)).toEqual([false, true]);
    expect(await compare(wiring, [closeCall, oneStepLater], 54, [2])).toBeGreaterThan(4);
  });

  // u holds 32,760 synapses: five volleys of 8,191 at once do not fit, three do.
  it.each([1, -1])('denies the certificate to a run that leaves the range (sign %i)', async (sign) => {
    const pre = [0, 1, 2, 3, 4];
    const connections = pre.map((i): Connection => [i, 5, sign * 8191]);
    const inputEvents = eventsOf(
      pre,
      pre.map((i): Event => [0, i]),
    );
    const wiring = wiringOf(6, connections);
    const [run] = await open(wiring, [1]).simulateBatch(trialsOf([inputEvents], 90));
    expect(run!.certified).toBe(false);
    await compare(wiring, [inputEvents], 90, [1]);
    const [three] = await open(wiringOf(6, connections.slice(2)), [1]).simulateBatch(
      trialsOf([inputEvents], 90),
    );
    expect(three!.certified).toBe(true);
  });

  describeWith(['tables'], 'on a cut-out of the real wiring', () => {
    it.each(['food', 'loom'])('%s', async (stimulus) => {
      const file = readFileSync(await connectomeFile('measured-predicted'));
      const brain = viewConnectome(
        file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer,
      );
      const population = brain.stimulusNeurons(stimulus);
      const part = cutOut(brain, population, sizes.cutOut);
      const train = part.eventsOf(
        drawInputEvents(
          v1Protocol(population, { nominalRateHz: 150, intensity: 1, seed: 1 }, sizes.steps),
          String,
        ),
      );
      const spikes = await compare(part.wiring, [train], sizes.steps, [1]);
      expect(spikes).toBeGreaterThan(train.steps.length);
    });
  });
}

function trialsOf(trains: readonly InputEvents[], durationSteps: number): GpuTrial[] {
  return trains.map((events) => ({ events, options: { durationSteps } }));
}
