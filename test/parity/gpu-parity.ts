/**
 * What the kernels of the GPU engine must do, one body for every way to run them: every bit of the state and
 * every spike as the integers in BigInt have it, and the spikes of the reference engine wherever the run is
 * certified.
 */
import { readFileSync } from 'node:fs';
import type { Wiring } from '../../src/connectome/connectome.js';
import { viewConnectome } from '../../src/connectome/sections.js';
import { GpuEngine, type GpuEngineOptions } from '../../src/engine/backends/gpu/gpu-engine.js';
import { WINDOW_STEPS } from '../../src/engine/backends/gpu/kernels.js';
import { toFloats } from '../../src/engine/backends/gpu/number-format.js';
import { ReferenceEngine } from '../../src/engine/reference-engine.js';
import { drawInputEvents, type InputEvents } from '../../src/experiment/input-events.js';
import { v1Protocol } from '../../src/experiment/protocol.js';
import { connectomeFile } from '../support/connectomes.js';
import { cutOut } from '../support/cut-out.js';
import { simulateInIntegers } from '../support/integer-simulation.js';
import { randomNetwork } from '../support/random-network.js';
import { describeWith } from '../support/requirements.js';
import { eventsOf, spikesOf, wiringOf, type Connection, type Event } from '../support/small-network.js';

/** @param sizes of the random networks and of the cut-outs; as JavaScript the kernels take their time */
export function itEqualsTheOracle(
  mode: GpuEngineOptions['mode'],
  sizes: { random: number; cutOut: number; steps: number },
): void {
  const opened: GpuEngine[] = [];
  const open = (wiring: Wiring, widths: number[]) => {
    const engine = new GpuEngine(wiring, { mode, widths });
    opened.push(engine);
    return engine;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((engine) => engine.destroy()));
  });

  /** Checks spikes, certificate and every bit of the state; returns the number of spikes. */
  const compare = async (
    wiring: Wiring,
    trains: readonly InputEvents[],
    durationSteps: number,
    widths: number[],
  ) => {
    const { runs, stateFloats } = await open(wiring, widths).simulateWithState(trains, durationSteps);
    const reference = new ReferenceEngine(wiring);
    const wholeWindows = Math.ceil(durationSteps / WINDOW_STEPS) * WINDOW_STEPS;
    let total = 0;
    trains.forEach((train, experiment) => {
      const { raster, certified } = runs[experiment]!;
      const oracle = simulateInIntegers(wiring, train, wholeWindows);
      const spikes = oracle.spikes.filter(([step]) => step < durationSteps);
      expect(spikesOf(raster)).toEqual(spikes);
      expect(certified).toBe(oracle.uncertain.size === 0);
      if (certified) expect(spikesOf(reference.simulate(train, { durationSteps }))).toEqual(spikes);
      const differing = Array.from({ length: wiring.neuronCount }, (_, neuron) => neuron).filter(
        (neuron) =>
          stateFloats(experiment, neuron).join() !==
          [...toFloats(oracle.u[neuron]!), ...toFloats(oracle.h[neuron]!)].join(),
      );
      expect(differing).toEqual([]);
      total += spikes.length;
    });
    return total;
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

  it('without inputEvents and without connections', async () => {
    const nothing = eventsOf([], []);
    expect(await compare(wiringOf(3, []), [nothing, eventsOf([1], [[0, 1]])], 36, [2])).toBe(1);
  });

  // 237 synapses in step 19 and 638 in step 24 lift v to 7 mV - 6.4e-9 mV in step 29: closer than the margin.
  it('denies the certificate to a run that comes too close to the threshold, and to that run alone', async () => {
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
    const runs = await engine.simulateBatch([closeCall, oneStepLater], 54);
    expect(runs.map(({ certified }) => certified)).toEqual([false, true]);
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
    const [run] = await open(wiring, [1]).simulateBatch([inputEvents], 90);
    expect(run!.certified).toBe(false);
    await compare(wiring, [inputEvents], 90, [1]);
    const [three] = await open(wiringOf(6, connections.slice(2)), [1]).simulateBatch([inputEvents], 90);
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
