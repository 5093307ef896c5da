/**
 * The reference engine: the network of network.ts, written to be read. It is the oracle that the fast
 * engines are tested against, and spike for spike what Brian 2 computes.
 *
 * It is driven by events. Between two events v and g of a neuron decay in closed form, so a neuron is brought
 * up to date only when something arrives at it, or while it could cross the threshold ("hot"). Invariants:
 *  - v[i], g[i] hold at the end of step updatedAt[i]; nothing has happened to neuron i since.
 *  - Every neuron that could cross the threshold without further input is in the list of hot neurons.
 *  - arriving[i] is 0 between steps.
 */
import type { Wiring } from '../connectome/connectome.js';
import { firstNotBelow } from '../connectome/sorted-array.js';
import type { InputEvents } from '../stimulus/input-events.js';
import { MAXIMUM_TRIAL_STEPS, type NetworkConstants, type SilencedWindow } from '../stimulus/protocol.js';
import { connectionFactors } from './connection-factors.js';
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

/** Decay over n steps, by n multiplications in this order, for n up to the longest trial. */
const membraneDecay = powers(MEMBRANE_DECAY);
const synapseDecay = powers(SYNAPSE_DECAY);
/** The contribution of g = 1 mV to v after n steps. */
const synapseToMembrane = membraneDecay.map(
  (membrane, n) => SYNAPSE_TO_MEMBRANE * (membrane - synapseDecay[n]!),
);
const largestSynapseToMembrane = synapseToMembrane.reduce((most, each) => Math.max(most, each));
/** Keeps a neuron hot when rounding alone decides whether it could still fire. */
const HOT_SHARE_OF_THRESHOLD = 1 - 1e-9;

export class ReferenceEngine implements SimulationEngine {
  readonly #v: Float64Array;
  readonly #g: Float64Array;
  readonly #updatedAt: Int32Array;
  /** First step in which the neuron is not refractory. */
  readonly #availableFrom: Int32Array;
  readonly #refractorySteps: Uint16Array;
  /** Signed synapses that arrive in the present step, times the factors of their connections and the scale of their neuron. */
  readonly #arriving: Float64Array;
  readonly #isHot: Uint8Array;
  readonly #isSilenced: Uint8Array;
  #constants: NetworkConstants = USUAL_CONSTANTS;
  #thresholdAboveRestMv = 0;
  /** The factor of each connection, where any is overridden. */
  #factors: Float64Array | undefined;

  constructor(private readonly wiring: Wiring) {
    const n = wiring.neuronCount;
    this.#v = new Float64Array(n);
    this.#g = new Float64Array(n);
    this.#updatedAt = new Int32Array(n);
    this.#availableFrom = new Int32Array(n);
    this.#refractorySteps = new Uint16Array(n);
    this.#arriving = new Float64Array(n);
    this.#isHot = new Uint8Array(n);
    this.#isSilenced = new Uint8Array(n);
  }

  simulate(events: InputEvents, options: SimulationOptions): Trial {
    const { durationSteps, silencedWindows = [], recordings } = options;
    checkDuration(durationSteps);
    this.#reset(events.stimulated, options);
    const { delaySteps, inputEventMv, synapseMv } = this.#constants;
    const membranes = recordings?.map((recording) => ({
      ...recording,
      steps: new Set(sampledSteps(recording, durationSteps)),
      samples: [] as number[],
    }));
    const spikesOfStep: number[][] = [];
    let hot: number[] = [];
    const addEvents = ({ steps, neurons }: SpikeRaster, step: number, eventMv: number): void => {
      for (let q = firstNotBelow(steps, step); steps[q] === step; q++) {
        const i = neurons[q]!;
        if (!this.#isAvailable(i, step)) continue;
        this.#bringUpTo(i, step);
        this.#v[i] = this.#v[i]! + eventMv;
        this.#keepIfHot(i, step, hot);
      }
    };
    let deliveredEvents = 0;
    let step = 0;
    do {
      // Thresholds: only a hot neuron can be above.
      const spiking = hot.filter(
        (i) => this.#isAvailable(i, step) && this.#potentialAt(i, step) > this.#thresholdAboveRestMv,
      );
      for (const i of spiking) {
        this.#v[i] = 0;
        this.#g[i] = 0;
        this.#updatedAt[i] = step;
        // A neuron that spikes takes nothing in during that very step, stimulated or not.
        this.#availableFrom[i] = step + this.#refractorySteps[i]!;
      }

      // Delivery of the spikes that are now as old as the delay.
      const firedStep = step - delaySteps;
      const arriving = (spikesOfStep[firedStep] ?? []).filter(
        (i) => this.#isSilenced[i] === 0 && !isIn(silencedWindows, i, firedStep),
      );
      deliveredEvents += this.#connectionsOf(arriving);
      for (const i of this.#gather(arriving)) {
        if (this.#isAvailable(i, step) && this.#arriving[i] !== 0) {
          this.#bringUpTo(i, step);
          this.#g[i] = this.#g[i]! + synapseMv * this.#arriving[i]!;
          this.#keepIfHot(i, step, hot);
        }
        this.#arriving[i] = 0;
      }

      addEvents(events, step, inputEventMv);
      if (events.background !== undefined) addEvents(events.background, step, events.background.eventMv);

      hot = hot.filter((i) => this.#couldFire(i, step) || this.#cool(i));
      spikesOfStep.push(spiking.sort((a, b) => a - b));
      for (const { steps, samples, neurons } of membranes ?? []) {
        if (!steps.has(step)) continue;
        for (const i of neurons) samples.push(NETWORK.restMv.value + this.#potentialAt(i, step));
      }
    } while (++step < durationSteps && deliveredEvents <= eventBudgetAfter(step, options));
    return {
      ...toRaster(spikesOfStep),
      deliveredEvents,
      ...(deliveredEvents > eventBudgetAfter(step, options) && { stoppedAtStep: step - 1 }),
      ...(membranes && { membranes: membranes.map(({ samples }) => Float64Array.from(samples)) }),
    };
  }

  #reset(
    stimulated: Uint32Array,
    { silenced = new Uint32Array(0), constants, overrides = [], ...given }: SimulationOptions,
  ): void {
    this.#constants = { ...USUAL_CONSTANTS, ...constants };
    this.#thresholdAboveRestMv = this.#constants.thresholdMv - NETWORK.restMv.value;
    this.#v.fill(0);
    this.#g.fill(0);
    this.#updatedAt.fill(-1);
    this.#availableFrom.fill(0);
    this.#refractorySteps.fill(Math.max(1, this.#constants.refractorySteps));
    this.#isHot.fill(0);
    for (const i of stimulated) this.#refractorySteps[i] = 1;
    this.#isSilenced.fill(0);
    for (const i of silenced) this.#isSilenced[i] = 1;
    this.#factors = undefined;
    const changed = given.connectionFactors ?? connectionFactors(this.wiring, overrides);
    if (changed.connections.length === 0) return;
    this.#factors = new Float64Array(this.wiring.targets.length).fill(1);
    changed.connections.forEach((connection, at) => (this.#factors![connection] = changed.factors[at]!));
  }

  #isAvailable(i: number, step: number): boolean {
    return step >= this.#availableFrom[i]!;
  }

  /** v after the state update of a step, from the last time something happened to the neuron. */
  #potentialAt(i: number, step: number): number {
    const elapsed = step - this.#updatedAt[i]!;
    return this.#v[i]! * membraneDecay[elapsed]! + this.#g[i]! * synapseToMembrane[elapsed]!;
  }

  #bringUpTo(i: number, step: number): void {
    const elapsed = step - this.#updatedAt[i]!;
    this.#v[i] = this.#potentialAt(i, step);
    this.#g[i] = this.#g[i]! * synapseDecay[elapsed]!;
    this.#updatedAt[i] = step;
  }

  /** Connections that deliver: those that are cut do not, nor do those of neurons of sign 0. */
  #connectionsOf(neurons: readonly number[]): number {
    const { rowStart, signs } = this.wiring;
    const delivering = neurons.filter((i) => signs[i] !== 0);
    return delivering.reduce((sum, i) => {
      const cut = this.#factors?.subarray(rowStart[i]!, rowStart[i + 1]!).filter((factor) => factor === 0);
      return sum + rowStart[i + 1]! - rowStart[i]! - (cut?.length ?? 0);
    }, 0);
  }

  /** Adds up what arrives at each target; integers where nothing is varied, so that the order of the spikes cannot matter. */
  #gather(spikes: readonly number[]): Set<number> {
    const { rowStart, targets, synapseCounts, signs } = this.wiring;
    const { excitatoryScale, inhibitoryScale } = this.#constants;
    const reached = new Set<number>();
    for (const i of spikes) {
      const scale = signs[i]! > 0 ? excitatoryScale : inhibitoryScale;
      for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
        const target = targets[c]!;
        const synapses = signs[i]! * synapseCounts[c]! * (this.#factors?.[c] ?? 1);
        this.#arriving[target] = this.#arriving[target]! + synapses * scale;
        reached.add(target);
      }
    }
    return reached;
  }

  /** Without input v rises from where it stands at most to v + g * largestSynapseToMembrane. */
  #couldFire(i: number, step: number): boolean {
    const g = this.#g[i]! * synapseDecay[step - this.#updatedAt[i]!]!;
    return (
      Math.max(this.#potentialAt(i, step), 0) + Math.max(g, 0) * largestSynapseToMembrane >
      this.#thresholdAboveRestMv * HOT_SHARE_OF_THRESHOLD
    );
  }

  #keepIfHot(i: number, step: number, hot: number[]): void {
    if (this.#isHot[i] === 0 && this.#couldFire(i, step)) {
      this.#isHot[i] = 1;
      hot.push(i);
    }
  }

  #cool(i: number): false {
    this.#isHot[i] = 0;
    return false;
  }
}

function isIn(windows: readonly SilencedWindow[], neuron: number, step: number): boolean {
  return windows.some(
    ({ neurons, startStep, endStep }) => startStep <= step && step < endStep && neurons.includes(neuron),
  );
}

function powers(factor: number): Float64Array {
  const table = new Float64Array(MAXIMUM_TRIAL_STEPS + 2).fill(1);
  for (let n = 1; n < table.length; n++) table[n] = table[n - 1]! * factor;
  return table;
}

function toRaster(spikesOfStep: readonly number[][]): SpikeRaster {
  return {
    steps: Uint16Array.from(spikesOfStep.flatMap((spikes, step) => spikes.map(() => step))),
    neurons: Uint32Array.from(spikesOfStep.flat()),
  };
}
