import type { Wiring } from '../../src/engine/connectome/connectome.js';
import type { SimulationOptions } from '../../src/engine/simulation/simulation.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import type { Event } from '../support/small-network.js';

export interface DenseTrial {
  readonly spikes: Event[];
  /** v of every neuron at the end of each step, in mV. */
  readonly membranes: number[][];
  /** The total of synaptic events at the end of each step. */
  readonly deliveredUpTo: number[];
  readonly stoppedAtStep: number | undefined;
}

/**
 * The network model as a loop over all neurons and steps, in the order of Brian 2. It has no shortcuts and shares no
 * code with the engines, so tests compare the reference engine with it.
 */
export function simulateDensely(
  wiring: Wiring,
  inputEvents: InputEvents,
  options: SimulationOptions,
): DenseTrial {
  const { durationSteps, silenced = new Uint32Array(0), eventBudget = Infinity } = options;
  const { overrides = [], silencedWindows = [] } = options;
  const synapseMv = options.constants?.synapseMv ?? 0.275;
  const inputEventMv = options.constants?.inputEventMv ?? 68.75;
  const thresholdMv = options.constants?.thresholdMv ?? -45;
  const delay = options.constants?.delaySteps ?? 18;
  const refractory = Math.max(1, options.constants?.refractorySteps ?? 22);
  const scaleOf = (sign: number) =>
    (sign > 0 ? options.constants?.excitatoryScale : options.constants?.inhibitoryScale) ?? 1;
  const factorOf = (pre: number, post: number) =>
    overrides.reduce(
      (factor, { sources, targets, weight }) =>
        sources.includes(pre) && targets.includes(post) ? factor * weight : factor,
      1,
    );
  const isSilentIn = (neuron: number, step: number) =>
    silencedWindows.some(
      ({ neurons, startStep, endStep }) => neurons.includes(neuron) && step >= startStep && step < endStep,
    );
  const membranes: number[][] = [];
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
  let nextBackground = 0;
  const { background } = inputEvents;
  for (let k = 0; k < durationSteps; k++) {
    const available = v.map((_, i) => k - lastSpike[i]! >= (isStimulated.has(i) ? 1 : refractory));
    const spiking: number[] = [];
    for (let i = 0; i < n; i++) {
      if (!available[i]) continue;
      v[i] = v[i]! * membrane + (g[i]! * (membrane - synapse)) / 3;
      g[i] = g[i]! * synapse;
      if (v[i]! > thresholdMv + 52) {
        spiking.push(i);
        available[i] = false;
        lastSpike[i] = k;
        spikes.push([k, i]);
      }
    }
    spikesAt.push(spiking);
    for (const pre of spikesAt[k - delay] ?? []) {
      if (isSilenced.has(pre) || isSilentIn(pre, k - delay) || wiring.signs[pre] === 0) continue;
      for (let c = wiring.rowStart[pre]!; c < wiring.rowStart[pre + 1]!; c++) {
        const post = wiring.targets[c]!;
        const factor = factorOf(pre, post);
        if (factor === 0) continue;
        deliveredEvents++;
        const synapses = wiring.signs[pre]! * wiring.synapseCounts[c]! * factor * scaleOf(wiring.signs[pre]!);
        if (available[post]) g[post] = g[post]! + synapseMv * synapses;
      }
    }
    for (; inputEvents.steps[nextEvent] === k; nextEvent++) {
      const i = inputEvents.neurons[nextEvent]!;
      if (available[i]) v[i] = v[i]! + inputEventMv;
    }
    for (; background !== undefined && background.steps[nextBackground] === k; nextBackground++) {
      const i = background.neurons[nextBackground]!;
      if (available[i]) v[i] = v[i]! + background.eventMv;
    }
    for (const i of spiking) v[i] = g[i] = 0;
    membranes.push(v.map((each) => each - 52));
    deliveredUpTo.push(deliveredEvents);
    if (deliveredEvents > Math.max(eventBudget, (k + 1) * (options.eventBudgetPerStep ?? -Infinity)))
      return { spikes, membranes, deliveredUpTo, stoppedAtStep: k };
  }
  return { spikes, membranes, deliveredUpTo, stoppedAtStep: undefined };
}
