/** The contract between protocols, engines and readouts: what goes into a simulation and what comes out of it. */
import type { InputEvents } from '../stimulus/input-events.js';
import { MAXIMUM_TRIAL_STEPS, type Protocol } from '../stimulus/protocol.js';
import type { ConnectionFactors } from './connection-factors.js';

/** Every spike of a trial, ordered by step, then by neuron. */
export interface SpikeRaster {
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
}

/** Neurons whose outputs are cut integrate and spike as all others do. */
export type SimulationOptions = Omit<Protocol, 'inputs' | 'silenced'> &
  Partial<Pick<Protocol, 'silenced'>> & {
    /** In place of overrides. */
    readonly connectionFactors?: ConnectionFactors;
    readonly recordings?: readonly MembraneRecording[];
  };

/** Membrane potentials to be recorded, at the end of steps that are multiples of everySteps, but for step 0. */
export interface MembraneRecording {
  readonly neurons: Uint32Array;
  readonly everySteps: number;
  /** Samples are taken from this step up to, not including, endStep. */
  readonly startStep: number;
  readonly endStep: number;
}

/** A part of a trial: its duration is that of the part, all other steps count from the start of the trial. */
export interface PartOptions extends SimulationOptions {
  /** The first step of the part. */
  readonly startStep: number;
}

export interface Trial extends SpikeRaster {
  /**
   * Synaptic events, counted in the step of their delivery: each connection of a neuron that is not silenced is one
   * for each spike that arrives through it, whether its target takes it in or not.
   */
  readonly deliveredEvents: number;
  /** The last step that was simulated, where the trial ended because it was the first step above the event budget. */
  readonly stoppedAtStep?: number;
  /**
   * Potentials in mV of each recording: sample s of its neuron n at s * neurons + n. Where the event budget ended the
   * trial, samples of later steps are absent.
   */
  readonly membranes?: readonly Float64Array[];
}

/** Simulates one network again and again. Trials share no state: equal input events give equal spikes. */
export interface SimulationEngine {
  /**
   * @returns arrays that hold until the next trial of this engine, which may overwrite them: who keeps a trial longer
   *   takes a `copyOf` it. As a rule spikes are read at once, and copying them took 4 % of a run.
   * @throws RangeError for a duration that is not 1 to MAXIMUM_TRIAL_STEPS
   */
  simulate(events: InputEvents, options: SimulationOptions): Trial;
}

/** The most synaptic events that a trial may have delivered in so many steps. */
export function eventBudgetAfter(
  steps: number,
  { eventBudget = Infinity, eventBudgetPerStep }: Pick<Protocol, 'eventBudget' | 'eventBudgetPerStep'>,
): number {
  return eventBudgetPerStep === undefined ? eventBudget : Math.max(eventBudget, steps * eventBudgetPerStep);
}

/** A trial with arrays of its own, for who keeps it beyond the engine's next one. */
export function copyOf(trial: Trial): Trial {
  return { ...trial, steps: trial.steps.slice(), neurons: trial.neurons.slice() };
}

/** The steps of a trial, or of a part of it, in which a recording takes samples, ascending. */
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
export function checkDuration(durationSteps: number, maximum = MAXIMUM_TRIAL_STEPS): void {
  if (!(Number.isInteger(durationSteps) && durationSteps >= 1 && durationSteps <= maximum)) {
    throw new RangeError(`a trial has 1 to ${maximum} steps, not ${durationSteps}`);
  }
}
