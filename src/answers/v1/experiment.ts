import { STIMULUS_IDS } from '../../connectome/populations.js';
import type { DurationMs } from '../../engine/network.js';

/** none leaves the fly alone. */
export const ALLOWED_STIMULI = [...STIMULUS_IDS, 'none'] as const;

/** What a client asks for, complete and valid. Equal experiments have equal results. */
export interface Experiment {
  readonly stimulus: (typeof ALLOWED_STIMULI)[number];
  readonly durationMs: DurationMs;
  /** 0 to 2; 1 is the nominal rate of the stimulus. Never -0. */
  readonly intensity: number;
  /** 0 to 2^32 - 1. */
  readonly seed: number;
}

export const DEFAULT_EXPERIMENT: Experiment = { stimulus: 'sugar', durationMs: 100, intensity: 1, seed: 42 };
export const MAXIMUM_SEED = 2 ** 32 - 1;

/** Changes whenever any result may change; part of every run's id. */
export const ENGINE_VERSION = '2';
