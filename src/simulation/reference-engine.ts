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
import type { InputEvents } from '../stimulus/input-events.js';
import { MAXIMUM_TRIAL_STEPS } from '../stimulus/protocol.js';
import {
  DELAY_STEPS,
  INPUT_EVENT_MV,
  MEMBRANE_DECAY,
  REFRACTORY_STEPS,
  SYNAPSE_DECAY,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
  THRESHOLD_ABOVE_REST_MV,
} from './network.js';
import {
  checkDuration,
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
const HOT_ABOVE_MV = THRESHOLD_ABOVE_REST_MV * (1 - 1e-9);

export class ReferenceEngine implements SimulationEngine {
  readonly #v: Float64Array;
  readonly #g: Float64Array;
  readonly #updatedAt: Int32Array;
  /** First step in which the neuron is not refractory. */
  readonly #availableFrom: Int32Array;
  readonly #refractorySteps: Uint8Array;
  /** Signed synapses that arrive in the present step. */
  readonly #arriving: Int32Array;
  readonly #isHot: Uint8Array;
  readonly #isSilenced: Uint8Array;

  constructor(private readonly wiring: Wiring) {
    const n = wiring.neuronCount;
    this.#v = new Float64Array(n);
    this.#g = new Float64Array(n);
    this.#updatedAt = new Int32Array(n);
    this.#availableFrom = new Int32Array(n);
    this.#refractorySteps = new Uint8Array(n);
    this.#arriving = new Int32Array(n);
    this.#isHot = new Uint8Array(n);
    this.#isSilenced = new Uint8Array(n);
  }

  simulate(
    events: InputEvents,
    { durationSteps, silenced = new Uint32Array(0), eventBudget = Infinity }: SimulationOptions,
  ): Trial {
    checkDuration(durationSteps);
    this.#reset(events.stimulated, silenced);
    const spikesOfStep: number[][] = [];
    let hot: number[] = [];
    let nextEvent = 0;
    let deliveredEvents = 0;
    for (let step = 0; step < durationSteps; step++) {
      // Thresholds: only a hot neuron can be above.
      const spiking = hot.filter(
        (i) => this.#isAvailable(i, step) && this.#potentialAt(i, step) > THRESHOLD_ABOVE_REST_MV,
      );
      for (const i of spiking) {
        this.#v[i] = 0;
        this.#g[i] = 0;
        this.#updatedAt[i] = step;
        // A neuron that spikes takes nothing in during that very step, stimulated or not.
        this.#availableFrom[i] = step + this.#refractorySteps[i]!;
      }

      // Delivery of the spikes that are now as old as the delay.
      const arriving = (spikesOfStep[step - DELAY_STEPS] ?? []).filter((i) => this.#isSilenced[i] === 0);
      deliveredEvents += this.#connectionsOf(arriving);
      for (const i of this.#gather(arriving)) {
        if (this.#isAvailable(i, step) && this.#arriving[i] !== 0) {
          this.#bringUpTo(i, step);
          this.#g[i] = this.#g[i]! + SYNAPSE_MV * this.#arriving[i]!;
          this.#keepIfHot(i, step, hot);
        }
        this.#arriving[i] = 0;
      }

      // Input events.
      for (; nextEvent < events.steps.length && events.steps[nextEvent] === step; nextEvent++) {
        const i = events.neurons[nextEvent]!;
        if (this.#isAvailable(i, step)) {
          this.#bringUpTo(i, step);
          this.#v[i] = this.#v[i]! + INPUT_EVENT_MV;
          this.#keepIfHot(i, step, hot);
        }
      }

      hot = hot.filter((i) => this.#couldFire(i, step) || this.#cool(i));
      spikesOfStep.push(spiking.sort((a, b) => a - b));
      if (deliveredEvents > eventBudget) {
        return { ...toRaster(spikesOfStep), deliveredEvents, stoppedAtStep: step };
      }
    }
    return { ...toRaster(spikesOfStep), deliveredEvents };
  }

  #reset(stimulated: Uint32Array, silenced: Uint32Array): void {
    this.#v.fill(0);
    this.#g.fill(0);
    this.#updatedAt.fill(-1);
    this.#availableFrom.fill(0);
    this.#refractorySteps.fill(REFRACTORY_STEPS);
    this.#isHot.fill(0);
    for (const i of stimulated) this.#refractorySteps[i] = 1;
    this.#isSilenced.fill(0);
    for (const i of silenced) this.#isSilenced[i] = 1;
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

  #connectionsOf(neurons: readonly number[]): number {
    const { rowStart } = this.wiring;
    return neurons.reduce((sum, i) => sum + rowStart[i + 1]! - rowStart[i]!, 0);
  }

  /** Adds up what arrives at each target; integers, so the order of the spikes cannot matter. */
  #gather(spikes: readonly number[]): Set<number> {
    const { rowStart, targets, synapseCounts, signs } = this.wiring;
    const reached = new Set<number>();
    for (const i of spikes) {
      for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
        const target = targets[c]!;
        this.#arriving[target] = this.#arriving[target]! + signs[i]! * synapseCounts[c]!;
        reached.add(target);
      }
    }
    return reached;
  }

  /** Without input v rises from where it stands at most to v + g * largestSynapseToMembrane. */
  #couldFire(i: number, step: number): boolean {
    const g = this.#g[i]! * synapseDecay[step - this.#updatedAt[i]!]!;
    return Math.max(this.#potentialAt(i, step), 0) + Math.max(g, 0) * largestSynapseToMembrane > HOT_ABOVE_MV;
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
