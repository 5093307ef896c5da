/** The sizes of a trial's state between two segments; trial-state.ts explains the content. */
import type { NetworkConstants } from '../../stimulus/protocol.js';
import { DEFAULT_CONSTANTS } from '../network.js';

/** Room for the doubles at the head of a state. */
export const HEAD_BYTES = 128;
/** See StepSpikes in kernel/memory.ts. */
export const STEP_SPIKES_WORDS = 3;

/**
 * @returns the number of steps after which a spike has arrived and its neuron is no longer refractory; at least 1,
 *   because the kernel treats a refractory period of 0 as 1
 */
export function historyStepsOf(constants: Partial<NetworkConstants> = {}): number {
  const { delaySteps, refractorySteps } = { ...DEFAULT_CONSTANTS, ...constants };
  return Math.max(delaySteps, refractorySteps, 1);
}

export function fixedBytesOf(historySteps: number): number {
  return HEAD_BYTES + 4 * STEP_SPIKES_WORDS * (historySteps + 1);
}

export function maxBytes(neuronCount: number, historySteps: number): number {
  // The words of a neuron: 4 for u and h, 1 in the list of reached neurons, up to 3 as a candidate, 1 in the list of
  // waiting neurons, and a spike in every other step.
  const words = neuronCount * (4 + 1 + 3 + 1 + Math.ceil((historySteps + 1) / 2));
  return fixedBytesOf(historySteps) + 4 * words;
}

/** The interval between spikes at the highest rate that the default refractory period allows. */
const STEPS_OF_SPIKE = 22;
/** A small network may be more active than any brain. */
const LEAST_STATE_BYTES = 2 ** 20;

/**
 * The bytes of a very active state. Each neuron has u and h, entries in two lists and its spikes. Each train causes up
 * to twice as many spikes as at 500 Hz. The most active states measured in a whole brain take two thirds of this.
 */
export function stateBytes(neuronCount: number, trains: number, historySteps: number): number {
  const spikes = Math.ceil(historySteps / STEPS_OF_SPIKE);
  const words = neuronCount * (4 + 1 + 1 + spikes) + trains * 2 * spikes;
  const bytes = Math.max(LEAST_STATE_BYTES, fixedBytesOf(historySteps) + 4 * words);
  return Math.min(bytes, maxBytes(neuronCount, historySteps));
}
