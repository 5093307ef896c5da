/**
 * The reference engine: the network of network.ts, written to be read, in the order in which Brian 2 goes through a step. It
 * is the oracle that the fast engines are tested against, and spike for spike what Brian 2 computes.
 *
 * v is relative to rest. A refractory neuron has v = g = 0 and takes nothing in, so it needs no case of its own.
 */
import type { Wiring } from '../connectome/connectome.js';
import { firstNotBelow } from '../connectome/sorted-array.js';
import type { InputEvents } from '../stimulus/input-events.js';
import type { SilencedWindow } from '../stimulus/protocol.js';
import { connectionFactors, type ConnectionFactors } from './connection-factors.js';
import { MEMBRANE_DECAY, NETWORK, SYNAPSE_DECAY, SYNAPSE_TO_MEMBRANE, USUAL_CONSTANTS } from './network.js';
import {
  checkDuration,
  eventBudgetAfter,
  sampledSteps,
  type SimulationEngine,
  type SimulationOptions,
  type SpikeRaster,
  type Trial,
} from './simulation.js';

/** The contribution of g = 1 mV to v after a step. */
const SYNAPSE_TO_MEMBRANE_IN_STEP = SYNAPSE_TO_MEMBRANE * (MEMBRANE_DECAY - SYNAPSE_DECAY);

export class ReferenceEngine implements SimulationEngine {
  constructor(private readonly wiring: Wiring) {}

  simulate(events: InputEvents, options: SimulationOptions): Trial {
    const { durationSteps, silenced = [], silencedWindows = [], overrides = [], recordings } = options;
    checkDuration(durationSteps);
    const { neuronCount, rowStart, targets, synapseCounts, signs } = this.wiring;
    const constants = { ...USUAL_CONSTANTS, ...options.constants };
    const thresholdAboveRestMv = constants.thresholdMv - NETWORK.restMv.value;
    const factors = factorsOf(
      this.wiring,
      options.connectionFactors ?? connectionFactors(this.wiring, overrides),
    );
    const isSilenced = new Set(silenced);
    const refractorySteps = new Uint16Array(neuronCount).fill(Math.max(1, constants.refractorySteps));
    for (const i of events.stimulated) refractorySteps[i] = 1;

    const v = new Float64Array(neuronCount);
    const g = new Float64Array(neuronCount);
    /** First step in which the neuron is not refractory. */
    const availableFrom = new Int32Array(neuronCount);
    /** Signed synapses that arrive in a step, times the factors of their connections and the scale of their neuron. */
    const arriving = new Float64Array(neuronCount);
    const spikesOfStep: number[][] = [];
    const membranes = recordings?.map((recording) => ({
      neurons: recording.neurons,
      steps: new Set(sampledSteps(recording, durationSteps)),
      samples: [] as number[],
    }));
    let deliveredEvents = 0;

    /** Sums up what arrives: integers where nothing is varied, so that the order of the spikes cannot matter. */
    const deliver = (firedStep: number): Set<number> => {
      const reached = new Set<number>();
      for (const i of spikesOfStep[firedStep] ?? []) {
        if (signs[i] === 0 || isSilenced.has(i) || isIn(silencedWindows, i, firedStep)) continue;
        const scale = signs[i]! > 0 ? constants.excitatoryScale : constants.inhibitoryScale;
        for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
          const factor = factors?.[c] ?? 1;
          if (factor === 0) continue;
          deliveredEvents++;
          arriving[targets[c]!]! += signs[i]! * synapseCounts[c]! * factor * scale;
          reached.add(targets[c]!);
        }
      }
      return reached;
    };
    const addEvents = ({ steps, neurons }: SpikeRaster, step: number, eventMv: number): void => {
      for (let q = firstNotBelow(steps, step); steps[q] === step; q++) {
        if (step >= availableFrom[neurons[q]!]!) v[neurons[q]!]! += eventMv;
      }
    };

    let step = 0;
    do {
      const spiking: number[] = [];
      for (let i = 0; i < neuronCount; i++) {
        // Most neurons of a brain are at rest.
        if (v[i] === 0 && g[i] === 0) continue;
        v[i] = v[i]! * MEMBRANE_DECAY + g[i]! * SYNAPSE_TO_MEMBRANE_IN_STEP;
        g[i]! *= SYNAPSE_DECAY;
        if (v[i]! > thresholdAboveRestMv) spiking.push(i);
      }
      for (const i of spiking) {
        v[i] = g[i] = 0;
        // A neuron that spikes takes nothing in during that very step, stimulated or not.
        availableFrom[i] = step + refractorySteps[i]!;
      }
      spikesOfStep.push(spiking);
      for (const i of deliver(step - constants.delaySteps)) {
        if (step >= availableFrom[i]!) g[i]! += constants.synapseMv * arriving[i]!;
        arriving[i] = 0;
      }
      addEvents(events, step, constants.inputEventMv);
      if (events.background !== undefined) addEvents(events.background, step, events.background.eventMv);
      for (const { steps, samples, neurons } of membranes ?? []) {
        if (steps.has(step)) for (const i of neurons) samples.push(NETWORK.restMv.value + v[i]!);
      }
    } while (++step < durationSteps && deliveredEvents <= eventBudgetAfter(step, options));
    return {
      steps: Uint16Array.from(spikesOfStep.flatMap((spikes, fired) => spikes.map(() => fired))),
      neurons: Uint32Array.from(spikesOfStep.flat()),
      deliveredEvents,
      ...(deliveredEvents > eventBudgetAfter(step, options) && { stoppedAtStep: step - 1 }),
      ...(membranes && { membranes: membranes.map(({ samples }) => Float64Array.from(samples)) }),
    };
  }
}

/** The factor of each connection, where any is changed. */
function factorsOf({ connectionCount }: Wiring, { connections, factors }: ConnectionFactors) {
  if (connections.length === 0) return undefined;
  const all = new Float64Array(connectionCount).fill(1);
  connections.forEach((connection, at) => (all[connection] = factors[at]!));
  return all;
}

function isIn(windows: readonly SilencedWindow[], neuron: number, step: number): boolean {
  return windows.some(
    ({ neurons, startStep, endStep }) => startStep <= step && step < endStep && neurons.includes(neuron),
  );
}
