import type { Experiment } from './experiment.js';

/** The body of POST /api/v1/run. */
export interface RunResponse extends Experiment {
  readonly id: string;
  readonly model: string;
  readonly spikes: {
    readonly total: number;
    readonly stimulated_neurons: number;
    readonly responding_neurons: number;
    readonly mean_rate_hz: number;
    readonly digest: string;
  };
  readonly channels: Readonly<Record<string, number>>;
  readonly drive: Readonly<Record<string, number>>;
  readonly frames: readonly RunFrame[];
  readonly top_types: readonly TopType[];
}

export interface RunFrame {
  readonly t_ms: number;
  readonly total: number;
  readonly channels: Readonly<Record<string, number>>;
  readonly steps: readonly number[];
  readonly neurons: readonly number[];
}

export interface TopType {
  readonly type: string;
  readonly super_class: string;
  readonly neurons: number;
  readonly responding: number;
  readonly spikes: number;
  readonly rate_hz: number;
  readonly stimulated: number;
}

/** Every spike of a run, ordered by step: the frames end to end. */
export interface Raster {
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
}

export function rasterOf({ frames }: Pick<RunResponse, 'frames'>): Raster {
  const total = frames.reduce((sum, { steps }) => sum + steps.length, 0);
  const steps = new Uint16Array(total);
  const neurons = new Uint32Array(total);
  let at = 0;
  for (const frame of frames) {
    steps.set(frame.steps, at);
    neurons.set(frame.neurons, at);
    at += frame.steps.length;
  }
  return { steps, neurons };
}

/** A run as the page shows it. */
export interface Run {
  readonly response: RunResponse;
  readonly raster: Raster;
}
