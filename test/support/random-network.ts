import type { Wiring } from '../../src/engine/connectome/connectome.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import { eventsOf, wiringOf, type Connection, type Event } from './small-network.js';

export interface RandomNetwork {
  readonly wiring: Wiring;
  /** Trains for experiments of different seeds, each with stimulated neurons of its own. */
  inputEvents(experiment: number, durationSteps: number): InputEvents;
}

/** A network in which activity neither dies at once nor takes over: for parity tests. */
export function randomNetwork(
  seed: number,
  neuronCount: number,
  { connections = 12 * neuronCount, largestCount = 120, inhibitory = 0.25, stimulated = 5 } = {},
): RandomNetwork {
  const random = new PhiloxSequence(seed, 0, PHILOX_STREAM.shuffle);
  const signs = Array.from({ length: neuronCount }, () =>
    random.nextBelow(1000) < inhibitory * 1000 ? -1 : 1,
  );
  const pairs = new Map<string, Connection>();
  for (let c = 0; c < connections; c++) {
    const pre = random.nextBelow(neuronCount);
    const post = random.nextBelow(neuronCount);
    pairs.set(`${pre} ${post}`, [pre, post, signs[pre]! * (1 + random.nextBelow(largestCount))]);
  }
  return {
    wiring: wiringOf(neuronCount, [...pairs.values()]),
    inputEvents(experiment, durationSteps) {
      const draw = new PhiloxSequence(seed, 1 + experiment, PHILOX_STREAM.shuffle);
      const chosen = new Set<number>();
      while (chosen.size < Math.min(stimulated, neuronCount)) chosen.add(draw.nextBelow(neuronCount));
      const neurons = [...chosen].sort((a, b) => a - b);
      const events: Event[] = [];
      for (const neuron of neurons) {
        for (let step = draw.nextBelow(60); step < durationSteps; step += 1 + draw.nextBelow(60)) {
          events.push([step, neuron]);
        }
      }
      return eventsOf(neurons, events);
    },
  };
}
