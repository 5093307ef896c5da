/** The interface that every engine implements: the input and the result of a simulation. */
import type { InputEvents } from '../stimulus/input-events.js';
import { MAX_WHOLE_TRIAL_STEPS, type Protocol } from '../stimulus/protocol.js';
import type { ConnectionFactors } from './connection-factors.js';

/** Every spike of a trial, ordered by step, then by neuron. */
export interface SpikeRaster {
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
}

/** Options of one trial. Silenced neurons still integrate and spike; only their spikes are not delivered. */
export type SimulationOptions = Omit<Protocol, 'inputs' | 'silenced'> &
  Partial<Pick<Protocol, 'silenced'>> & {
    /** Used instead of the overrides, if given. */
    readonly connectionFactors?: ConnectionFactors;
    readonly recordings?: readonly MembraneRecording[];
  };

/** Membrane potentials to record, at the end of each step that is a multiple of everySteps, except step 0. */
export interface MembraneRecording {
  readonly neurons: Uint32Array;
  readonly everySteps: number;
  /** Samples are taken from this step to endStep - 1. */
  readonly startStep: number;
  readonly endStep: number;
}

/** Options of a segment. durationSteps is the segment's; all other steps count from the start of the trial. */
export interface SegmentOptions extends SimulationOptions {
  /** The first step of the segment. */
  readonly startStep: number;
}

export interface Trial extends SpikeRaster {
  /**
   * The number of synaptic events, counted in the step of their delivery. A spike of a neuron that is not silenced
   * makes one event at each of its connections, even if the target is refractory and ignores it.
   */
  readonly deliveredEvents: number;
  /** The last simulated step, if the event budget ended the trial. In this step the total first exceeded the budget. */
  readonly stoppedAtStep?: number;
  /**
   * Potentials in mV, an array for each recording: sample s of its neuron n is at s * neurons + n. If the event budget
   * ended the trial, samples of later steps are absent.
   */
  readonly membranes?: readonly Float64Array[];
}

/** Simulates trials of one network. Trials share no state: equal input events give equal spikes. */
export interface SimulationEngine {
  /**
   * @returns a trial whose arrays the engine's next trial may overwrite; use `copyOf` to keep it longer. Copying always
   *   would cost 4 % of a run, and most callers read the spikes at once
   * @throws RangeError if the duration is not 1 to MAX_WHOLE_TRIAL_STEPS
   */
  simulate(events: InputEvents, options: SimulationOptions): Trial;
}

/** @returns the highest total of synaptic events at which a trial of this many steps may continue */
export function eventBudgetAfter(
  steps: number,
  { eventBudget = Infinity, eventBudgetPerStep }: Pick<Protocol, 'eventBudget' | 'eventBudgetPerStep'>,
): number {
  return eventBudgetPerStep === undefined ? eventBudget : Math.max(eventBudget, steps * eventBudgetPerStep);
}

/** Copies a trial, so that it outlives the engine's next one. */
export function copyOf(trial: Trial): Trial {
  return { ...trial, steps: trial.steps.slice(), neurons: trial.neurons.slice() };
}

/** @returns the steps from fromStep to untilStep - 1 in which a recording takes samples, ascending */
export function sampledSteps(
  { everySteps, startStep, endStep }: MembraneRecording,
  untilStep: number,
  fromStep = 0,
): Uint32Array<ArrayBuffer> {
  const first = Math.max(1, Math.ceil(Math.max(startStep, fromStep) / everySteps));
  const last = Math.ceil(Math.min(endStep, untilStep) / everySteps) - 1;
  const steps = new Uint32Array(Math.max(0, last - first + 1));
  for (let sample = 0; sample < steps.length; sample++) steps[sample] = (first + sample) * everySteps;
  return steps;
}

/** @throws RangeError */
export function checkDuration(durationSteps: number, maximum = MAX_WHOLE_TRIAL_STEPS): void {
  if (!(Number.isInteger(durationSteps) && durationSteps >= 1 && durationSteps <= maximum)) {
    throw new RangeError(`a trial has 1 to ${maximum} steps, not ${durationSteps}`);
  }
}

/**
 * The memory of a trial between two segments (cpu/trial-state.ts). It is a buffer that can grow, or a piece of a
 * buffer, which keeps its length and begins at a multiple of 8 bytes.
 */
export type StateMemory = SharedArrayBuffer | Uint8Array<SharedArrayBuffer>;
