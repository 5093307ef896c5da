import type { Wiring } from '../../src/engine/connectome/connectome.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import type { SpikeRaster } from '../../src/engine/simulation/simulation.js';

export type Connection = [pre: number, post: number, signedSynapses: number];
export type Event = [step: number, neuron: number];

/** Wiring from a list of connections; a neuron is inhibitory when its connections carry negative counts. */
export function wiringOf(neuronCount: number, connections: readonly Connection[]): Wiring {
  const sorted = connections.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  const rowStart = new Uint32Array(neuronCount + 1);
  const signs = new Int8Array(neuronCount).fill(1);
  for (const [pre, , synapses] of sorted) {
    rowStart[pre + 1]!++;
    signs[pre] = synapses < 0 ? -1 : 1;
  }
  for (let i = 0; i < neuronCount; i++) rowStart[i + 1]! += rowStart[i]!;
  return {
    neuronCount,
    connectionCount: sorted.length,
    rowStart,
    targets: Uint32Array.from(sorted, ([, post]) => post),
    synapseCounts: Uint16Array.from(sorted, ([, , synapses]) => Math.abs(synapses)),
    signs,
  };
}

/** Kicks from a list of events in any order. */
export function eventsOf(stimulated: readonly number[], events: readonly Event[]): InputEvents {
  const sorted = events.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  return {
    stimulated: Uint32Array.from(stimulated),
    steps: Uint16Array.from(sorted, ([step]) => step),
    neurons: Uint32Array.from(sorted, ([, neuron]) => neuron),
  };
}

export function spikesOf({ steps, neurons }: SpikeRaster): Event[] {
  return Array.from(steps, (step, i) => [step, neurons[i]!]);
}
