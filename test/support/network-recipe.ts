import fc from 'fast-check';
import type { Wiring } from '../../src/engine/connectome/connectome.js';
import { PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import type { SpikeRaster } from '../../src/engine/simulation/simulation.js';

/** Parameters of a drawn network and its stimulus; the drawing itself is Philox, so a seed is a network. */
export interface Recipe {
  readonly seed: number;
  readonly neurons: number;
  readonly connectionsPerNeuron: number;
  readonly largestCount: number;
  /** Share of the neurons that inhibit, in 256ths. */
  readonly inhibitory: number;
  /** Share of the neurons of sign 0, in 256ths. */
  readonly unsigned: number;
  /** Share of the connections that go to one of the first neurons, in 256ths. */
  readonly toHubs: number;
  readonly stimulated: number;
  /** Share of the steps of a stimulated neuron that have an input event, in 256ths. */
  readonly inputEvents: number;
  /** Share of these events that come twice, since two inputs meet, in 256ths. */
  readonly twice: number;
  /** Input events come in only one step of the trial. */
  readonly oneStep: boolean;
  /** Share of the neurons that are silenced, in 256ths. */
  readonly silenced: number;
  readonly silencedHubs: boolean;
  /** Share of the events that the trial delivers without a budget, in 256ths. */
  readonly budget: number;
  readonly steps: number;
}

/** The largest count of the tables is 2,058 synapses; a connectome file can hold up to 8,191. */
export const recipes: fc.Arbitrary<Recipe> = fc.record({
  seed: fc.nat(),
  neurons: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5000 })),
  connectionsPerNeuron: fc.integer({ min: 0, max: 80 }),
  largestCount: fc.constantFrom(8, 60, 400, 2058, 8191),
  inhibitory: fc.constantFrom(0, 60, 110, 180),
  unsigned: fc.constantFrom(0, 10, 60, 128),
  toHubs: fc.constantFrom(0, 0, 40, 200),
  stimulated: fc.integer({ min: 1, max: 40 }),
  inputEvents: fc.constantFrom(0, 1, 4, 4, 30, 256),
  twice: fc.constantFrom(0, 30, 256),
  oneStep: fc.constantFrom(false, false, false, true),
  silenced: fc.constantFrom(0, 0, 20, 256),
  silencedHubs: fc.boolean(),
  budget: fc.nat(256),
  steps: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 2000 })),
});
const MAX_CONNECTIONS = 20_000;
const HUBS = 3;

/** The network of a recipe, its input events and its silenced neurons. */
export function networkOf(recipe: Recipe): {
  wiring: Wiring;
  inputEvents: InputEvents;
  silenced: Uint32Array;
} {
  const random = new PhiloxSequence(recipe.seed, 0, 0);
  const happens = (of256: number): boolean => random.nextBelow(256) < of256;
  const n = recipe.neurons;
  const perNeuron = Math.min(recipe.connectionsPerNeuron, Math.floor(MAX_CONNECTIONS / n));
  const rowStart = new Uint32Array(n + 1);
  const targets: number[] = [];
  const counts: number[] = [];
  for (let i = 0; i < n; i++) {
    const row = new Set<number>();
    const length = random.nextBelow(2 * perNeuron + 1);
    for (let c = 0; c < length; c++) {
      row.add(random.nextBelow(happens(recipe.toHubs) ? Math.min(n, HUBS) : n));
    }
    for (const target of [...row].sort((a, b) => a - b)) {
      targets.push(target);
      counts.push(1 + random.nextBelow(recipe.largestCount));
    }
    rowStart[i + 1] = targets.length;
  }
  const wiring = {
    neuronCount: n,
    connectionCount: targets.length,
    rowStart,
    targets: Uint32Array.from(targets),
    synapseCounts: Uint16Array.from(counts),
    signs: Int8Array.from({ length: n }, () => {
      if (happens(recipe.unsigned)) return 0;
      return happens(recipe.inhibitory) ? -1 : 1;
    }),
  };

  const stimulated = new Set<number>();
  for (let i = 0; i < Math.min(recipe.stimulated, n); i++) stimulated.add(random.nextBelow(n));
  const ordered = [...stimulated].sort((a, b) => a - b);
  const steps: number[] = [];
  const neurons: number[] = [];
  const only = random.nextBelow(recipe.steps);
  for (let step = 0; step < recipe.steps; step++) {
    if (recipe.oneStep && step !== only) continue;
    for (const i of ordered) {
      if (!happens(recipe.oneStep ? 256 : recipe.inputEvents)) continue;
      for (let inputs = happens(recipe.twice) ? 2 : 1; inputs > 0; inputs--) {
        steps.push(step);
        neurons.push(i);
      }
    }
  }
  const inputEvents = {
    stimulated: Uint32Array.from(ordered),
    steps: Uint16Array.from(steps),
    neurons: Uint32Array.from(neurons),
  };
  const silenced = Uint32Array.from({ length: n }, (_, i) => i).filter(
    (i) => happens(recipe.silenced) || (recipe.silencedHubs && i < HUBS),
  );
  return { wiring, inputEvents, silenced };
}

/** The part of a train or raster before a step. */
export function upTo<T extends SpikeRaster>(events: T, end: number): T {
  const at = events.steps.findIndex((step) => step >= end);
  const count = at < 0 ? events.steps.length : at;
  return { ...events, steps: events.steps.slice(0, count), neurons: events.neurons.slice(0, count) };
}
