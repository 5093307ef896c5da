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
  const raster = rasterOf(response);
  return { response, raster, counts: spikeCountsOf(raster) };
}

function rasterOf({ frames }: Pick<FullRun, 'frames'>): Raster {
  return {
    steps: Uint16Array.from(frames.flatMap(({ steps }) => steps)),
    neurons: Uint32Array.from(frames.flatMap(({ spikes }) => spikes)),
  };
}

function spikeCountsOf({ neurons }: Raster): SpikeCounts {
  const counts = new Map<number, number>();
  for (const neuron of neurons) counts.set(neuron, (counts.get(neuron) ?? 0) + 1);
  return counts;
}
