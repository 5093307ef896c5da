import { CodedError } from '../../../errors.js';
import type { SpikeRaster } from '../../simulation.js';
import { STEP_BITS } from './cells.js';
import { WINDOW_STEPS } from './number-format.js';

/** What a pipeline reads back of a batch. */
export interface BatchLists {
  /** Experiments side by side. */
  readonly width: number;
  /** Of an experiment in a window: a place for the number of spikes, then one for each spike. */
  readonly places: number;
  /** Of each window [experiment][place], see `spikes` in kernels.ts */
  readonly windows: readonly Float32Array<ArrayBuffer>[];
  /** [chunk of neurons][experiment]: cells without a flag */
  readonly sound: Float32Array<ArrayBuffer>;
}

type Lists = Pick<BatchLists, 'width' | 'places' | 'windows'>;

/**
 * @returns the most spikes that an experiment has in a window; where they are not below `places`, there was no place for
 *   all of them
 * @throws CodedError GPU_FAILED where a number is 0: gpu.js logs what the device refuses, for want of memory say, and
 *   hands out the zeros of an empty buffer
 */
export function mostSpikesOf({ width, places, windows }: Lists): number {
  let most = 0;
  for (const lists of windows) {
    for (let experiment = 0; experiment < width; experiment++) {
      most = Math.max(most, countIn(lists, experiment * places));
    }
  }
  return most;
}

/**
 * The rasters of a batch, by step, then by neuron: views of two buffers that all of them share.
 * @param lists with a place for every spike
 * @param durationsSteps of the trials; what the last window has behind the end of a trial is not part of it
 * @throws CodedError GPU_FAILED as above
 */
export function rastersOf({ places, windows }: Lists, durationsSteps: readonly number[]): SpikeRaster[] {
  const batch = durationsSteps.map((durationSteps, trial) => {
    const ofTrial = windows.slice(0, Math.ceil(durationSteps / WINDOW_STEPS));
    const first = trial * places;
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
    let length = count;
    while (length > 0 && raster.steps[length - 1]! >= durationSteps) length--;
    return { steps: raster.steps.subarray(0, length), neurons: raster.neurons.subarray(0, length) };
  });
}

/**
 * Writes the spikes of one trial, window after window, by a counting sort by step. A batch has nearly a million spikes, so
 * nothing is made for a single one.
 */
function sortInto({ steps, neurons }: SpikeRaster, windows: readonly Float32Array[], first: number): void {
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
