/**
 * The reference engine simulates the network of network.ts and is written to be read. It performs the operations of a
 * step in the order of Brian 2 and gives the same spikes. Tests compare the fast engines with it.
 *
 * v is relative to rest. A refractory neuron has v = g = 0 and ignores input, so integration needs no special case.
 */
import type { Wiring } from '../connectome/connectome.js';
import { firstNotBelow } from '../connectome/sorted-array.js';
import type { InputEvents } from '../stimulus/input-events.js';
import type { NetworkConstants, SilencedWindow } from '../stimulus/protocol.js';
import { factorsOfOverrides, type ConnectionFactors } from './connection-factors.js';
import { MEMBRANE_DECAY, NETWORK, SYNAPSE_DECAY, SYNAPSE_TO_MEMBRANE, DEFAULT_CONSTANTS } from './network.js';
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
    const { durationSteps, recordings } = options;
    checkDuration(durationSteps);
    const trial = new ReferenceTrial(this.wiring, events, options);
    const membranes = recordings?.map((recording) => ({
      neurons: recording.neurons,
      steps: new Set(sampledSteps(recording, durationSteps)),
      samples: [] as number[],
    }));
    let step = 0;
    do {
      trial.simulateStep(step);
      for (const { steps, samples, neurons } of membranes ?? []) {
        if (steps.has(step)) for (const i of neurons) samples.push(NETWORK.restMv.value + trial.v[i]!);
      }
    } while (++step < durationSteps && trial.deliveredEvents <= eventBudgetAfter(step, options));
    const { spikesOfStep, deliveredEvents } = trial;
    return {
      steps: Uint16Array.from(spikesOfStep.flatMap((spikes, fired) => spikes.map(() => fired))),
      neurons: Uint32Array.from(spikesOfStep.flat()),
      deliveredEvents,
      ...(deliveredEvents > eventBudgetAfter(step, options) && { stoppedAtStep: step - 1 }),
      ...(membranes && { membranes: membranes.map(({ samples }) => Float64Array.from(samples)) }),
    };
  }
}

/** The state of all neurons in a trial. */
class ReferenceTrial {
  readonly v: Float64Array;
  readonly g: Float64Array;
  readonly spikesOfStep: number[][] = [];
  deliveredEvents = 0;
  /** First step in which the neuron is not refractory. */
  readonly #availableFrom: Int32Array;
  readonly #refractorySteps: Uint16Array;
  /** The signed synapses that arrive in a step, multiplied by factors of connections and scales. */
  readonly #arriving: Float64Array;
  readonly #constants: NetworkConstants;
  readonly #isSilenced: ReadonlySet<number>;
  readonly #silencedWindows: readonly SilencedWindow[];
  /** The factor of each connection; undefined if all are 1. */
  readonly #factors: Float64Array | undefined;

  constructor(
    private readonly wiring: Wiring,
    private readonly events: InputEvents,
    options: SimulationOptions,
  ) {
    const { constants, silenced, silencedWindows = [], overrides = [], connectionFactors: given } = options;
    const { neuronCount } = wiring;
    this.v = new Float64Array(neuronCount);
    this.g = new Float64Array(neuronCount);
    this.#availableFrom = new Int32Array(neuronCount);
    this.#arriving = new Float64Array(neuronCount);
    this.#constants = { ...DEFAULT_CONSTANTS, ...constants };
    this.#factors = factorsOf(wiring, given ?? factorsOfOverrides(wiring, overrides));
    this.#isSilenced = new Set(silenced ?? []);
    this.#silencedWindows = silencedWindows;
    const refractorySteps = Math.max(1, this.#constants.refractorySteps);
    this.#refractorySteps = new Uint16Array(neuronCount).fill(refractorySteps);
    for (const i of events.stimulated) this.#refractorySteps[i] = 1;
  }

  simulateStep(step: number): void {
    const { v, g } = this;
    const { delaySteps, synapseMv, inputEventMv } = this.#constants;
    const spiking = this.#integrate();
    for (const i of spiking) {
      v[i] = g[i] = 0;
      // A neuron ignores input in the step of its spike, even if it is stimulated.
      this.#availableFrom[i] = step + this.#refractorySteps[i]!;
    }
    this.spikesOfStep.push(spiking);
    for (const i of this.#deliver(step - delaySteps)) {
      if (step >= this.#availableFrom[i]!) g[i]! += synapseMv * this.#arriving[i]!;
      this.#arriving[i] = 0;
    }
    const { background } = this.events;
    this.#addEvents(this.events, step, inputEventMv);
    if (background !== undefined) this.#addEvents(background, step, background.eventMv);
  }

  /** @returns the neurons that spike, ascending */
  #integrate(): number[] {
    const { v, g } = this;
    const thresholdAboveRestMv = this.#constants.thresholdMv - NETWORK.restMv.value;
    const spiking: number[] = [];
    for (let i = 0; i < v.length; i++) {
      // A shortcut: most neurons of a brain are at rest.
      if (v[i] === 0 && g[i] === 0) continue;
      v[i] = v[i]! * MEMBRANE_DECAY + g[i]! * SYNAPSE_TO_MEMBRANE_IN_STEP;
      g[i]! *= SYNAPSE_DECAY;
      if (v[i]! > thresholdAboveRestMv) spiking.push(i);
    }
    return spiking;
  }

  /**
   * Adds up the synapses that arrive. Without factors and scales they are integers, so the order of the sum cannot
   * matter.
   * @returns the targets
   */
  #deliver(firedStep: number): Set<number> {
    const { rowStart, targets, synapseCounts, signs } = this.wiring;
    const { excitatoryScale, inhibitoryScale } = this.#constants;
    const reached = new Set<number>();
    for (const i of this.spikesOfStep[firedStep] ?? []) {
      if (signs[i] === 0 || this.#isSilenced.has(i) || isIn(this.#silencedWindows, i, firedStep)) continue;
      const scale = signs[i]! > 0 ? excitatoryScale : inhibitoryScale;
      for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
        const factor = this.#factors?.[c] ?? 1;
        if (factor === 0) continue;
        this.deliveredEvents++;
        this.#arriving[targets[c]!]! += signs[i]! * synapseCounts[c]! * factor * scale;
        reached.add(targets[c]!);
      }
    }
    return reached;
  }

  #addEvents({ steps, neurons }: SpikeRaster, step: number, eventMv: number): void {
    for (let q = firstNotBelow(steps, step); steps[q] === step; q++) {
      if (step >= this.#availableFrom[neurons[q]!]!) this.v[neurons[q]!]! += eventMv;
    }
  }
}

/** @returns the factor of each connection; undefined if all are 1 */
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
