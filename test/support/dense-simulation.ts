import type { Wiring } from '../../src/connectome/connectome.js';
import type { SimulationOptions } from '../../src/simulation/simulation.js';
import type { InputEvents } from '../../src/stimulus/input-events.js';
import type { Event } from './small-network.js';

export interface DenseTrial {
  readonly spikes: Event[];
  /** Synaptic events in all at the end of each step. */
  readonly deliveredUpTo: number[];
  readonly stoppedAtStep: number | undefined;
}

/**
 * The network model as a loop over all neurons and steps, word for word the order of design and Brian 2, with
 * none of an engine's shortcuts and none of its code: the reference engine itself is tested against it.
 */
export function simulateDensely(
  wiring: Wiring,
  inputEvents: InputEvents,
  { durationSteps, silenced = new Uint32Array(0), eventBudget = Infinity }: SimulationOptions,
): DenseTrial {
  const n = wiring.neuronCount;
  const v = new Array<number>(n).fill(0);
  const g = new Array<number>(n).fill(0);
  const lastSpike = new Array<number>(n).fill(-1e9);
  const isStimulated = new Set(inputEvents.stimulated);
  const isSilenced = new Set(silenced);
  const membrane = Math.exp(-0.1 / 20);
  const synapse = Math.exp(-0.1 / 5);
  const spikesAt: number[][] = [];
  const spikes: Event[] = [];
  const deliveredUpTo: number[] = [];
  let deliveredEvents = 0;
  let nextEvent = 0;
  for (let k = 0; k < durationSteps; k++) {
    const available = v.map((_, i) => k - lastSpike[i]! >= (isStimulated.has(i) ? 1 : 22));
    const spiking: number[] = [];
    for (let i = 0; i < n; i++) {
      if (!available[i]) continue;
      v[i] = v[i]! * membrane + (g[i]! * (membrane - synapse)) / 3;
      g[i] = g[i]! * synapse;
      if (v[i]! > 7) {
        spiking.push(i);
        available[i] = false;
        lastSpike[i] = k;
        spikes.push([k, i]);
      }
    }
    spikesAt.push(spiking);
    for (const pre of spikesAt[k - 18] ?? []) {
      if (isSilenced.has(pre)) continue;
      for (let c = wiring.rowStart[pre]!; c < wiring.rowStart[pre + 1]!; c++) {
        const post = wiring.targets[c]!;
        deliveredEvents++;
        if (available[post]) g[post] = g[post]! + 0.275 * wiring.signs[pre]! * wiring.synapseCounts[c]!;
      }
    }
    for (; inputEvents.steps[nextEvent] === k; nextEvent++) {
      const i = inputEvents.neurons[nextEvent]!;
      if (available[i]) v[i] = v[i]! + 68.75;
    }
    for (const i of spiking) v[i] = g[i] = 0;
    deliveredUpTo.push(deliveredEvents);
    if (deliveredEvents > eventBudget) return { spikes, deliveredUpTo, stoppedAtStep: k };
  }
  return { spikes, deliveredUpTo, stoppedAtStep: undefined };
}
