import type { Wiring } from '../../src/connectome/connectome.js';
import type { KickTrain } from '../../src/engine/simulation.js';
import type { Event } from './small-network.js';

/**
 * The network model as a loop over all neurons and steps, word for word the order of design and Brian 2, with
 * none of an engine's shortcuts and none of its code: what the reference engine itself is tested against.
 */
export function simulateDensely(wiring: Wiring, kicks: KickTrain, durationSteps: number): Event[] {
  const n = wiring.neuronCount;
  const v = new Array<number>(n).fill(0);
  const g = new Array<number>(n).fill(0);
  const lastSpike = new Array<number>(n).fill(-1e9);
  const isStimulated = new Set(kicks.stimulated);
  const membrane = Math.exp(-0.1 / 20);
  const synapse = Math.exp(-0.1 / 5);
  const spikesAt: number[][] = [];
  const events: Event[] = [];
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
        events.push([k, i]);
      }
    }
    spikesAt.push(spiking);
    for (const pre of spikesAt[k - 18] ?? []) {
      for (let c = wiring.rowStart[pre]!; c < wiring.rowStart[pre + 1]!; c++) {
        const post = wiring.targets[c]!;
        if (available[post]) g[post] = g[post]! + 0.275 * wiring.signs[pre]! * wiring.synapseCounts[c]!;
      }
    }
    kicks.steps.forEach((step, q) => {
      const i = kicks.neurons[q]!;
      if (step === k && available[i]) v[i] = v[i]! + 68.75;
    });
    for (const i of spiking) v[i] = g[i] = 0;
  }
  return events;
}
