import { CodedError } from '../../../errors.js';
import type { SpikeRaster } from '../../simulation.js';
import { SPIKE_BITS, UNUSED_ROW, type PipelineShape } from './kernels.js';
import { WINDOW_STEPS } from './number-format.js';

/**
 * The rasters of a batch from what a pipeline reads back, see `spikes` in kernels.ts. There are millions of rows and trials:
 * they are gone through once, and the spikes found are then sorted by counting.
 * @param windows of each window its spikes
 * @param durationsSteps of the trials; what the last window has behind the end of a trial is not part of it
 * @returns the rasters by step, then by neuron, and the number of rows that the fullest window used
 * @throws CodedError GPU_FAILED where there is a 0: gpu.js logs what the device refuses, for want of memory say, and hands
 *   out the zeros of an empty buffer
 */
export function rastersOf(
  windows: readonly Float32Array[],
  { width, rows }: Pick<PipelineShape, 'width' | 'rows'>,
  durationsSteps: readonly number[],
): { rasters: SpikeRaster[]; mostActive: number } {
  const trialCount = durationsSteps.length;
  const steps = windows.length * WINDOW_STEPS;
  const names = rows * width;
  // Spikes of each trial and step; and each spike as it is found: trial * steps + step, and the neuron.
  const counts = new Uint32Array(trialCount * steps);
  let places = new Uint32Array(2 ** 12);
  let neurons = new Uint32Array(places.length);
  let found = 0;
  let mostActive = 0;
  windows.forEach((floats, window) => {
    let row = 0;
    for (; row < rows && floats[names + row] !== UNUSED_ROW; row++) {
      const neuron = floats[names + row]! - 1;
      if (neuron < 0) throw refused();
      if (found + trialCount * WINDOW_STEPS > places.length) {
        places = enlarged(places, trialCount * WINDOW_STEPS);
        neurons = enlarged(neurons, trialCount * WINDOW_STEPS);
      }
      const at = row * width;
      for (let trial = 0; trial < trialCount; trial++) {
        const status = floats[at + trial]!;
        if (status === 0) throw refused();
        let bits = Math.abs(status) & SPIKE_BITS;
        while (bits !== 0) {
          const place = trial * steps + window * WINDOW_STEPS + 31 - Math.clz32(bits & -bits);
          bits &= bits - 1;
          counts[place]!++;
          places[found] = place;
          neurons[found++] = neuron;
        }
      }
    }
    mostActive = Math.max(mostActive, row);
  });

  // Where the next spike of each trial and step belongs; those after the end of a trial belong nowhere.
  const rasters = durationsSteps.map((duration, trial): SpikeRaster => {
    const first = trial * steps;
    let count = 0;
    for (let step = 0; step < duration; step++) count += counts[first + step]!;
    const ofSteps = new Uint16Array(count);
    let next = 0;
    for (let step = 0; step < duration; step++) {
      const end = next + counts[first + step]!;
      ofSteps.fill(step, next, end);
      counts[first + step] = next;
      next = end;
    }
    return { steps: ofSteps, neurons: new Uint32Array(count) };
  });
  for (let spike = 0; spike < found; spike++) {
    const place = places[spike]!;
    const trial = Math.floor(place / steps);
    if (place - trial * steps < durationsSteps[trial]!) {
      rasters[trial]!.neurons[counts[place]!++] = neurons[spike]!;
    }
  }
  return { rasters, mostActive };
}

function enlarged(array: Uint32Array<ArrayBuffer>, room: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length + room);
  larger.set(array);
  return larger;
}

function refused(): CodedError {
  return new CodedError('GPU_FAILED', 'The GPU refused a batch, perhaps for want of memory.');
}
