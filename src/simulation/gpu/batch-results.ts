/** Makes trials with their certificates from what a pipeline reads back. No GPU is needed: another thread may do it. */
import type { Wiring } from '../../connectome/connectome.js';
import { firstNotBelow } from '../../connectome/sorted-array.js';
import { CodedError } from '../../errors.js';
import { DELAY_STEPS } from '../network.js';
import { eventBudgetAfter, type SimulationOptions, type SpikeRaster, type Trial } from '../simulation.js';
import { WINDOW_STEPS } from './number-format.js';
import { STEP_BITS } from './pipeline-shape.js';

/** The numbers that are read back of a batch. */
export interface BatchLists {
  /** Trials side by side. */
  readonly width: number;
  /** For a trial in a window: a slot for the number of spikes, then one for each spike. */
  readonly slots: number;
  /** For each window [trial][slot], see `spikes` in kernels.ts */
  readonly windows: readonly Float32Array<ArrayBuffer>[];
  /** [chunk of neurons][trial]: neurons without a flag */
  readonly unflagged: Float32Array<ArrayBuffer>;
}

export interface GpuResult {
  readonly trial: Trial;
  /** True when the trial is the one that the CPU engines compute. */
  readonly certified: boolean;
}

/** @returns for each neuron the number of its connections */
export function outDegreesOf({ neuronCount, rowStart }: Wiring): Uint32Array {
  return Uint32Array.from({ length: neuronCount }, (_, i) => rowStart[i + 1]! - rowStart[i]!);
}

/**
 * @param trials the options of each, in the order of the batch
 * @returns results whose arrays are views of two buffers that all of them share
 * @throws CodedError GPU_FAILED as rastersOf
 */
export function resultsOf(
  lists: BatchLists,
  trials: readonly SimulationOptions[],
  outDegree: Uint32Array,
): GpuResult[] {
  const { unflagged, width } = lists;
  const durations = trials.map(({ durationSteps }) => durationSteps);
  return rastersOf(lists, durations).map((raster, trial) => {
    // Counted and not taken for granted: the zeros of a failed GPU must not pass for a trial without a flag.
    let neurons = 0;
    for (let at = trial; at < unflagged.length; at += width) neurons += unflagged[at]!;
    return {
      trial: withDeliveredEvents(raster, outDegree, trials[trial]!),
      certified: neurons === outDegree.length,
    };
  });
}

type Lists = Pick<BatchLists, 'width' | 'slots' | 'windows'>;

/**
 * @returns the most spikes that a trial has in a window; where they are not below `slots`, some had no slot
 * @throws CodedError GPU_FAILED where a number is 0: gpu.js logs what the device refuses, for want of memory say, and
 *   hands out the zeros of an empty buffer
 */
export function maxSpikesOf({ width, slots, windows }: Lists): number {
  let max = 0;
  for (const lists of windows) {
    for (let trial = 0; trial < width; trial++) max = Math.max(max, countIn(lists, trial * slots));
  }
  return max;
}

/**
 * The rasters of a batch, by step, then by neuron: views of two buffers that all of them share.
 * @param lists with a slot for every spike
 * @param durationsSteps of the trials; what the last window has behind the end of a trial is not part of it
 * @throws CodedError GPU_FAILED as maxSpikesOf
 */
export function rastersOf({ slots, windows }: Lists, durationsSteps: readonly number[]): SpikeRaster[] {
  const batch = durationsSteps.map((durationSteps, trial) => {
    const ofTrial = windows.slice(0, Math.ceil(durationSteps / WINDOW_STEPS));
    const first = trial * slots;
    const count = ofTrial.reduce((sum, lists) => sum + countIn(lists, first), 0);
    return { ofTrial, first, count, durationSteps };
  });
  const total = batch.reduce((sum, { count }) => sum + count, 0);
  const all = { steps: new Uint16Array(total), neurons: new Uint32Array(total) };
  let at = 0;
  return batch.map(({ ofTrial, first, count, durationSteps }) => {
    const [from, to] = [at, (at += count)];
    const raster = { steps: all.steps.subarray(from, to), neurons: all.neurons.subarray(from, to) };
    sortInto(raster, ofTrial, first);
    const length = firstNotBelow(raster.steps, durationSteps);
    return { steps: raster.steps.subarray(0, length), neurons: raster.neurons.subarray(0, length) };
  });
}

const STEP_MASK = 2 ** STEP_BITS - 1;

/**
 * Writes the spikes of one trial, window after window, by a counting sort by step. A batch has nearly a million spikes, so
 * nothing is allocated for a single one.
 */
function sortInto({ steps, neurons }: SpikeRaster, windows: readonly Float32Array[], first: number): void {
  const nextOfStep = new Uint32Array(2 ** STEP_BITS);
  let next = 0;
  for (const [window, lists] of windows.entries()) {
    const end = first + 1 + countIn(lists, first);
    nextOfStep.fill(0);
    for (let at = first + 1; at < end; at++) {
      const spike = lists[at]!;
      if (spike === 0) throw refused();
      nextOfStep[(spike - 1) & STEP_MASK]!++;
    }
    for (let step = 0; step < WINDOW_STEPS; step++) {
      const endOfStep = next + nextOfStep[step]!;
      nextOfStep[step] = next;
      for (; next < endOfStep; next++) steps[next] = window * WINDOW_STEPS + step;
    }
    for (let at = first + 1; at < end; at++) {
      const spike = lists[at]! - 1;
      neurons[nextOfStep[spike & STEP_MASK]!++] = spike >> STEP_BITS;
    }
  }
}

function countIn(lists: Float32Array, at: number): number {
  const countAndOne = lists[at]!;
  if (countAndOne === 0) throw refused();
  return countAndOne - 1;
}

function refused(): CodedError {
  return new CodedError('GPU_FAILED', 'The GPU refused a batch, perhaps for want of memory.');
}

/**
 * Counts the synaptic events of a trial from its spikes, which are all that they depend on, and ends the trial where
 * the CPU engines end it: after the first step with more events in all than the budget.
 * @param raster with all spikes of the first `durationSteps` steps, and no others
 * @returns a trial whose arrays are views of the raster's
 */
function withDeliveredEvents(raster: SpikeRaster, outDegree: Uint32Array, options: SimulationOptions): Trial {
  const { durationSteps, silenced = new Uint32Array(0) } = options;
  const { steps, neurons } = raster;
  const events = silenced.length === 0 ? outDegree : outDegree.slice();
  for (const neuron of silenced) events[neuron] = 0;
  const arriving = firstNotBelow(steps, durationSteps - DELAY_STEPS);
  let deliveredEvents = 0;
  for (let spike = 0; spike < arriving; spike++) {
    deliveredEvents += events[neurons[spike]!]!;
    const isLastOfStep = steps[spike + 1] !== steps[spike];
    const step = steps[spike]! + DELAY_STEPS;
    if (isLastOfStep && deliveredEvents > eventBudgetAfter(step + 1, options)) {
      const end = firstNotBelow(steps, step + 1);
      return {
        steps: steps.subarray(0, end),
        neurons: neurons.subarray(0, end),
        deliveredEvents,
        stoppedAtStep: step,
      };
    }
  }
  return { ...raster, deliveredEvents };
}
