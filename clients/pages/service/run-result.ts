import type { FullRun } from './client.js';

/** Every spike of a run, ordered by step; the concatenated frames. */
export interface Raster {
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
}

/** Number of spikes by neuron; silent neurons are left out. */
export type SpikeCounts = ReadonlyMap<number, number>;

/** A run as the page shows it. */
export interface Run {
  readonly response: FullRun;
  readonly raster: Raster;
  readonly counts: SpikeCounts;
}

export function runOf(response: FullRun): Run {
  const { frames } = response;
  const steps = Uint16Array.from(frames.flatMap((frame) => frame.steps));
  const neurons = Uint32Array.from(frames.flatMap(({ spikes }) => spikes));
  return { response, raster: { steps, neurons }, counts: countsOf(neurons) };
}

/** The number of times that each value occurs. */
export function countsOf<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
