/** Turns the readback of a pipeline into trials with certificates. This needs no GPU, so another thread may do it. */
import type { Wiring } from '../../connectome/connectome.js';
import { firstNotBelow } from '../../connectome/sorted-array.js';
import { CodedError } from '../../errors.js';
import { DELAY_STEPS } from '../network.js';
import { eventBudgetAfter, type SimulationOptions, type SpikeRaster, type Trial } from '../simulation.js';
import { WINDOW_STEPS } from './number-format.js';
import { STEP_BITS } from './pipeline-shape.js';

/** The numbers that are read back after a batch. */
export interface BatchLists {
  /** The number of trials side by side. */
  readonly width: number;
  /** The slots of a trial in a window: one for the number of spikes, then one for each spike. */
  readonly slots: number;
  /** For each window [trial][slot]; see `spikes` in kernels.ts */
  readonly windows: readonly Float32Array<ArrayBuffer>[];
  /** [chunk of neurons][trial]: the number of neurons without a flag */
  readonly unflagged: Float32Array<ArrayBuffer>;
}

export interface GpuResult {
  readonly trial: Trial;
  /** True if the CPU engines certainly compute the same spikes. */
  readonly certified: boolean;
}

/** @returns for each neuron the number of connections that deliver its spikes: all, or none if its sign is 0 */
export function outDegreesOf({ neuronCount, rowStart, signs }: Wiring): Uint32Array {
  return Uint32Array.from({ length: neuronCount }, (_, i) =>
    signs[i] === 0 ? 0 : rowStart[i + 1]! - rowStart[i]!,
  );
}

/**
 * @param trials the options of each trial, in the order of the batch
 * @returns results whose arrays are views of two shared buffers
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
    // Counts the neurons without a flag, because a failed GPU returns zeros, which must not pass for "no flag".
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
 * @returns the highest number of spikes of a trial in a window. If it is `slots` or more, some spikes had no slot
 * @throws CodedError GPU_FAILED if a number is 0. If the device refuses work, for example for want of memory, gpu.js
 *   only logs it and returns the zeros of an empty buffer
 */
export function maxSpikesOf({ width, slots, windows }: Lists): number {
  let max = 0;
  for (const lists of windows) {
    for (let trial = 0; trial < width; trial++) max = Math.max(max, countIn(lists, trial * slots));
  }
  return max;
}

/**
 * The rasters of a batch, ordered by step, then by neuron. They are views of two shared buffers.
 * @param lists must have a slot for every spike
 * @param durationsSteps the duration of each trial; later spikes of the last window are dropped
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
 * Writes the spikes of one trial, window after window, in a counting sort by step. A batch can have nearly a million
 * spikes, so it allocates nothing for each.
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
 * Counts the synaptic events of a trial, which depend only on its spikes. Ends the trial like the CPU engines, after
 * the step in which the total exceeds the budget.
 * @param raster all spikes of the trial
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
