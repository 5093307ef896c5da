import type { Wiring } from '../../src/engine/connectome/connectome.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import { wiringOf, type Connection } from './small-network.js';

export interface CutOut {
  readonly wiring: Wiring;
  /** A train on the whole, in the indices of the cut-out; its neurons must all be in it. */
  eventsOf(inputEvents: InputEvents): InputEvents;
}

/** The neurons that are reached first from the given ones, with every connection between them. */
export function cutOut(whole: Wiring, from: Uint32Array, neuronCount: number): CutOut {
  const indexOf = new Map<number, number>();
  const queue: number[] = [];
  const take = (neuron: number) => {
    if (!indexOf.has(neuron) && indexOf.size < neuronCount) {
      indexOf.set(neuron, 0);
      queue.push(neuron);
    }
  };
  from.forEach(take);
  for (let at = 0; at < queue.length; at++) {
    const pre = queue[at]!;
    whole.targets.subarray(whole.rowStart[pre]!, whole.rowStart[pre + 1]!).forEach(take);
  }
  const chosen = queue.sort((a, b) => a - b);
  chosen.forEach((neuron, i) => indexOf.set(neuron, i));
  const connections: Connection[] = [];
  for (const pre of chosen) {
    for (let c = whole.rowStart[pre]!; c < whole.rowStart[pre + 1]!; c++) {
      const post = indexOf.get(whole.targets[c]!);
      if (post !== undefined) {
        connections.push([indexOf.get(pre)!, post, whole.signs[pre]! * whole.synapseCounts[c]!]);
      }
    }
  }
  return {
    wiring: wiringOf(chosen.length, connections),
    eventsOf: ({ stimulated, steps, neurons }) => ({
      stimulated: stimulated.map((neuron) => indexOf.get(neuron)!),
      steps,
      neurons: neurons.map((neuron) => indexOf.get(neuron)!),
    }),
  };
}
