import type { Wiring } from '../../src/connectome/connectome.js';
import {
  decayed,
  fromLimbs,
  INPUT_EVENT_SYNAPSES,
  LARGEST_TOP_LIMB,
  MARGIN_UNITS,
  MEMBRANE,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  UNITS_PER_SYNAPSE,
} from '../../src/engine/backends/gpu/number-format.js';
import { DELAY_STEPS, REFRACTORY_STEPS } from '../../src/engine/network.js';
import type { InputEvents } from '../../src/experiment/input-events.js';
import type { Event } from './small-network.js';

export interface IntegerSimulation {
  readonly spikes: Event[];
  /** Neurons whose v came within the margin of the threshold, or that left the range. */
  readonly uncertain: Set<number>;
  /** State at the end: u and h of every neuron, in units. */
  readonly u: bigint[];
  readonly h: bigint[];
}

/**
 * The GPU engine's integers in BigInt, as a loop over steps and neurons: no window, no limb, no batch. What its
 * kernels are compared with, bit for bit.
 */
export function simulateInIntegers(
  wiring: Wiring,
  inputEvents: InputEvents,
  durationSteps: number,
): IntegerSimulation {
  const n = wiring.neuronCount;
  const u = new Array<bigint>(n).fill(0n);
  const h = new Array<bigint>(n).fill(0n);
  const availableFrom = new Array<number>(n).fill(0);
  const isStimulated = new Set(inputEvents.stimulated);
  const uncertain = new Set<number>();
  const spikesAt: number[][] = [];
  const spikes: Event[] = [];
  let nextEvent = 0;

  const inRange = (x: bigint, i: number): bigint => {
    const [x0, x1, x2, top] = toLimbs(x);
    const clamped = Math.max(-LARGEST_TOP_LIMB, Math.min(LARGEST_TOP_LIMB, top));
    if (clamped !== top) uncertain.add(i);
    return fromLimbs([x0, x1, x2, clamped]);
  };

  for (let step = 0; step < durationSteps; step++) {
    const spiking = new Set<number>();
    for (let i = 0; i < n; i++) {
      if (step < availableFrom[i]! || (u[i] === 0n && h[i] === 0n)) continue;
      u[i] = decayed(u[i]!, MEMBRANE);
      h[i] = decayed(h[i]!, SYNAPSE);
      const above = u[i]! - h[i]! - THRESHOLD_UNITS;
      if (above < MARGIN_UNITS && above > -MARGIN_UNITS) uncertain.add(i);
      if (above > 0n) {
        spiking.add(i);
        spikes.push([step, i]);
        u[i] = h[i] = 0n;
        availableFrom[i] = step + (isStimulated.has(i) ? 1 : REFRACTORY_STEPS);
      }
    }
    spikesAt.push([...spiking]);

    const arriving = new Map<number, number>();
    for (const pre of spikesAt[step - DELAY_STEPS] ?? []) {
      for (let c = wiring.rowStart[pre]!; c < wiring.rowStart[pre + 1]!; c++) {
        const post = wiring.targets[c]!;
        arriving.set(post, (arriving.get(post) ?? 0) + wiring.signs[pre]! * wiring.synapseCounts[c]!);
      }
    }
    const hit = new Set<number>();
    for (; inputEvents.steps[nextEvent] === step; nextEvent++) hit.add(inputEvents.neurons[nextEvent]!);
    for (const i of new Set([...arriving.keys(), ...hit])) {
      if (spiking.has(i) || step < availableFrom[i]!) continue;
      const synapses = arriving.get(i) ?? 0;
      h[i] = inRange(h[i]! + BigInt(synapses) * UNITS_PER_SYNAPSE, i);
      const withKick = synapses + (hit.has(i) ? INPUT_EVENT_SYNAPSES : 0);
      u[i] = inRange(u[i]! + BigInt(withKick) * UNITS_PER_SYNAPSE, i);
    }
  }
  return { spikes, uncertain, u, h };
}
