/**
 * Computes the brightness of each neuron at a moment of a run. Every spike lights its neuron and fades. It is a pure
 * function of raster and time, so scrubbing backwards works like playing.
 */
import { STEPS_PER_MS } from '../../../src/engine/simulation/network.js';
import type { Raster, SpikeCounts } from '../service/run-result.js';

/** Half-life of a spike's light in model time, long enough to follow at 1/50 of real time. */
const HALF_LIFE_MS = 2.5;
/** Beyond this age a spike is below 1/255. */
const FADED_STEPS = Math.ceil(8 * HALF_LIFE_MS * STEPS_PER_MS);
const SPIKE_BRIGHTNESS = 200;
const FADE = Float32Array.from(
  { length: FADED_STEPS + 1 },
  (_, age) => SPIKE_BRIGHTNESS * 2 ** (-age / (HALF_LIFE_MS * STEPS_PER_MS)),
);

/** Brightness in the view of a whole run: of a neuron with one spike, and added by each doubling of spikes. */
const SUMMARY_ONE_SPIKE = 70;
const SUMMARY_PER_DOUBLING = 34;
const BRIGHTEST = 255;

/** Bytes of light for each neuron: the run, the kept run, and two for alignment. */
export const LIGHT_STRIDE = 4;
export const RUN_BYTE = 0;
export const KEPT_BYTE = 1;

/**
 * Adds the light of the spikes up to a moment.
 * @param light LIGHT_STRIDE bytes for each neuron; only the byte at `offset` of each is written
 * @param timeMs of the model
 */
export function glowAt({ steps, neurons }: Raster, timeMs: number, light: Uint8Array, offset: number): void {
  const now = Math.floor(timeMs * STEPS_PER_MS);
  steps.forEach((step, spike) => {
    if (step > now || step < now - FADED_STEPS) return;
    const at = offset + LIGHT_STRIDE * neurons[spike]!;
    light[at] = Math.min(BRIGHTEST, light[at]! + FADE[now - step]!);
  });
}

/** Lights every responding neuron, brighter with more spikes. */
export function glowOfWholeRun(counts: SpikeCounts, light: Uint8Array, offset: number): void {
  for (const [neuron, count] of counts) light[offset + LIGHT_STRIDE * neuron] = brightnessOf(count);
}

/**
 * Shows the difference of two runs. A neuron has the colour of the run with more spikes, is brighter with a larger
 * difference, and is dark if both runs agree.
 */
export function glowOfDifference(run: SpikeCounts, kept: SpikeCounts, light: Uint8Array): void {
  for (const neuron of new Set([...run.keys(), ...kept.keys()])) {
    const more = (run.get(neuron) ?? 0) - (kept.get(neuron) ?? 0);
    if (more === 0) continue;
    light[(more > 0 ? RUN_BYTE : KEPT_BYTE) + LIGHT_STRIDE * neuron] = brightnessOf(Math.abs(more));
  }
}

/** Shows the difference of two runs at a moment: subtracts the weaker light of each neuron from the stronger one. */
export function subtractShared(light: Uint8Array, neurons: Iterable<number>): void {
  for (const neuron of neurons) {
    const at = LIGHT_STRIDE * neuron;
    const shared = Math.min(light[at + RUN_BYTE]!, light[at + KEPT_BYTE]!);
    light[at + RUN_BYTE]! -= shared;
    light[at + KEPT_BYTE]! -= shared;
  }
}

function brightnessOf(spikes: number): number {
  return Math.min(BRIGHTEST, SUMMARY_ONE_SPIKE + SUMMARY_PER_DOUBLING * Math.log2(spikes));
}
