import { eventsOf, spikesOf, type Event } from '../../../../test/support/small-network.js';
import { randomNetwork } from '../../../../test/support/random-network.js';
import { compileKernel, compileRewiringKernel } from '../../../workers/pool/kernel-file.js';
import type { Rewiring } from '../../stimulus/protocol.js';
import { KernelEngine } from '../cpu/kernel-engine.js';
import { ReferenceEngine } from '../reference-engine.js';
import { type Rewirable, rewired } from './rewired.js';
import { RewirableEngine } from './rewirable-engine.js';

const NEURONS = 60;
const { wiring } = randomNetwork(3, NEURONS);
const network: Rewirable = {
  ...wiring,
  neuronId: (i) => String(1000 - i),
  classIndices: Uint16Array.from({ length: NEURONS }, (_, i) => i % 3),
  signProbabilities: new Uint8Array(2 * NEURONS).fill(90),
  metadata: { classes: ['a', 'b', 'c'].map((superClass) => ({ superClass, class: '', subClass: '' })) },
};
const stimulated = [3, 14, 25];
const kicks = stimulated.flatMap((neuron) =>
  [0, 7, 50, 90, 91].map((step): Event => [step + neuron, neuron]),
);
const events = eventsOf(stimulated, kicks);
const overrides = [
  {
    sources: Uint32Array.from([3, 14]),
    targets: Uint32Array.from({ length: NEURONS }, (_, i) => i),
    weight: 1.7,
  },
  { sources: Uint32Array.from([25]), targets: Uint32Array.from({ length: 30 }, (_, i) => i), weight: 0 },
];

function rewirableEngine(): RewirableEngine {
  const simulation = compileKernel();
  const modules = () => ({ simulation, rewiring: compileRewiringKernel() });
  return new RewirableEngine(new KernelEngine(simulation, network), network, modules);
}

describe('RewirableEngine', () => {
  it('simulates each network as an engine of its own would, in any order, with overrides on rewired networks', () => {
    const asked: (Rewiring | undefined)[] = [
      { shuffle: 'weights', seed: 1 },
      undefined,
      { shuffle: 'targets', jitter: 0.3, seed: 7 },
      { shuffle: 'weights', seed: 1 },
      // Twice as strong as the second engine has room for at first.
      { jitter: 2, seed: 4 },
      { minimumSynapses: 40, shuffle: 'targets_within_super_class', seed: 2 },
      { shuffle: 'targets', seed: 7 },
      { signs: 'sampled', seed: 3 },
      { shuffle: 'targets', jitter: 0.2, counts: 'resampled', seed: 5 },
      { shuffle: 'weights', signs: 'sampled', seed: 3 },
    ];
    const engine = rewirableEngine();
    const found = new Set<string>();
    for (const each of asked) {
      const reference = new ReferenceEngine(each === undefined ? network : rewired(network, each));
      for (const options of [{}, { overrides }, {}]) {
        const expected = reference.simulate(events, { durationSteps: 400, ...options });
        const trial = engine.simulate(events, {
          durationSteps: 400,
          ...options,
          ...(each && { wiring: each }),
        });
        expect(spikesOf(trial)).toEqual(spikesOf(expected));
        expect(trial.deliveredEvents).toBe(expected.deliveredEvents);
        found.add(JSON.stringify(spikesOf(trial)));
      }
    }
    // Each network with and without overrides; two of them twice.
    expect(found.size).toBe(18);
  });

  it('has the spikes of the network itself if nothing is changed', () => {
    const engine = rewirableEngine();
    const plain = spikesOf(engine.simulate(events, { durationSteps: 400 }));
    for (const unchanged of [{ seed: 5 }, { minimumSynapses: 1, jitter: 0, seed: 1 }]) {
      expect(spikesOf(engine.simulate(events, { durationSteps: 400, wiring: unchanged }))).toEqual(plain);
    }
  });
});
