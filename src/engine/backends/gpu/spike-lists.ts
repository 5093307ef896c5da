import { CodedError } from '../../../errors.js';
import type { SpikeRaster } from '../../simulation.js';
import { STEP_BITS } from './cells.js';
import type { PipelineShape } from './kernels.js';
import { WINDOW_STEPS } from './number-format.js';

/**
 * @param windows of each window what a pipeline reads back, see `spikes` in kernels.ts
 * @returns the most spikes that an experiment has in a window; where they are not below `shape.spikes`, there was no place
 *   for all of them
 * @throws CodedError GPU_FAILED where a number is 0: gpu.js logs what the device refuses, for want of memory say, and
 *   hands out the zeros of an empty buffer
 */
export function mostSpikesOf(
  windows: readonly Float32Array[],
  { width, spikes: places }: Pick<PipelineShape, 'width' | 'spikes'>,
): number {
  let most = 0;
  for (const lists of windows) {
    for (let experiment = 0; experiment < width; experiment++) {
      most = Math.max(most, countIn(lists, experiment * places));
    }
  }
  return most;
}

/**
 * The rasters of a batch, by step, then by neuron.
 * @param windows as above, with a place for every spike
 * @param durationsSteps of the trials; what the last window has behind the end of a trial is not part of it
 * @throws CodedError GPU_FAILED as above
 */
export function rastersOf(
  windows: readonly Float32Array[],
  { spikes: places }: Pick<PipelineShape, 'spikes'>,
  durationsSteps: readonly number[],
): SpikeRaster[] {
  const batch = durationsSteps.map((durationSteps, trial) => {
    const ofTrial = windows.slice(0, Math.ceil(durationSteps / WINDOW_STEPS));
    const first = trial * places;
    const count = ofTrial.reduce((sum, lists) => sum + countIn(lists, first), 0);
    return { ofTrial, first, count };
  });
  const most = batch.reduce((largest, { count }) => Math.max(largest, count), 0);
  const scratch = { steps: new Uint16Array(most), neurons: new Uint32Array(most) };
  return batch.map(({ ofTrial, first }, trial) => {
    let length = sortInto(scratch, ofTrial, first);
    while (length > 0 && scratch.steps[length - 1]! >= durationsSteps[trial]!) length--;
    return { steps: scratch.steps.slice(0, length), neurons: scratch.neurons.slice(0, length) };
  });
}

/**
 * Writes the spikes of one trial, window after window, by a counting sort by step. A batch has nearly a million spikes, so
 * nothing is made for a single one.
 * @returns their number
 */
function sortInto({ steps, neurons }: SpikeRaster, windows: readonly Float32Array[], first: number): number {
  const placeOfStep = new Uint32Array(2 ** STEP_BITS);
  let place = 0;
  for (const [window, lists] of windows.entries()) {
    const end = first + 1 + countIn(lists, first);
    placeOfStep.fill(0);
    for (let at = first + 1; at < end; at++) {
      const spike = lists[at]!;
      if (spike === 0) throw refused();
      placeOfStep[(spike - 1) & STEP_MASK]!++;
    }
    for (let step = 0; step < WINDOW_STEPS; step++) {
      const endOfStep = place + placeOfStep[step]!;
      placeOfStep[step] = place;
      for (; place < endOfStep; place++) steps[place] = window * WINDOW_STEPS + step;
    }
    for (let at = first + 1; at < end; at++) {
      const spike = lists[at]! - 1;
      neurons[placeOfStep[spike & STEP_MASK]!++] = spike >> STEP_BITS;
    }
  }
  return place;
}

const STEP_MASK = 2 ** STEP_BITS - 1;

function countIn(lists: Float32Array, at: number): number {
  const numberAndOne = lists[at]!;
  if (numberAndOne === 0) throw refused();
  return numberAndOne - 1;
}

function refused(): CodedError {
  return new CodedError('GPU_FAILED', 'The GPU refused a batch, perhaps for want of memory.');
}
