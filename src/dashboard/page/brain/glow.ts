/**
 * How bright each neuron is at a moment of a run: every spike lights its neuron up and fades. A pure function
 * of the raster and the time, so scrubbing backwards is the same as playing.
 */
import { STEPS_PER_MS } from '../../../engine/network.js';
import type { Raster } from '../service/run-result.js';

/** Model time after which a spike is half as bright; long enough to be followed at 1/50 of real time. */
const HALF_LIFE_MS = 2.5;
/** Beyond this age a spike is below 1/255. */
const FADED_STEPS = Math.ceil(8 * HALF_LIFE_MS * STEPS_PER_MS);
const SPIKE_BRIGHTNESS = 200;
const FADE = Float32Array.from(
  { length: FADED_STEPS + 1 },
  (_, age) => SPIKE_BRIGHTNESS * 2 ** (-age / (HALF_LIFE_MS * STEPS_PER_MS)),
);

/** The whole run at once: a neuron with one spike is this bright, each doubling of spikes adds the rest. */
const SUMMARY_ONE_SPIKE = 70;
const SUMMARY_PER_DOUBLING = 34;

/**
 * @param light one byte for each neuron at `stride` bytes from the last, from `offset`; other bytes are left
 * @param timeMs of the model
 */
export function glowAt(
  raster: Raster,
  timeMs: number,
  light: Uint8Array,
  offset: number,
  stride: number,
): void {
  const { steps, neurons } = raster;
  const now = Math.floor(timeMs * STEPS_PER_MS);
  for (
    let spike = firstFrom(steps, now - FADED_STEPS);
    spike < steps.length && steps[spike]! <= now;
    spike++
  ) {
    const at = offset + stride * neurons[spike]!;
    light[at] = Math.min(255, light[at]! + FADE[now - steps[spike]!]!);
  }
}

/** Every neuron that responded at all, brighter the more it spiked. */
export function glowOfWholeRun(
  { neurons }: Raster,
  light: Uint8Array,
  offset: number,
  stride: number,
  counts = new Uint16Array(light.length / stride),
): void {
  for (const neuron of neurons) counts[neuron]!++;
  for (const neuron of neurons) {
    light[offset + stride * neuron] = Math.min(
      255,
      SUMMARY_ONE_SPIKE + SUMMARY_PER_DOUBLING * Math.log2(counts[neuron]!),
    );
  }
}

/** Index of the first spike at `step` or later. */
function firstFrom(steps: Uint16Array, step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  return low;
}
