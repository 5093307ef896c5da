import { ALLOWED_STIMULI, MAXIMUM_SEED, type Experiment } from '../answers/v1/experiment.js';
import { MAXIMUM_INTENSITY } from '../experiment/trains.js';
import { ALLOWED_DURATIONS_MS, type DurationMs } from '../engine/network.js';
import { shown, type CodedError } from '../errors.js';
import { usage } from './command.js';
import type { Condition } from './experiment-summary.js';

export const COMMAND_NAME = 'experiment';
/** The rasters of all trials are held in memory at once. */
const MAXIMUM_TRIALS = 1000;

/** A condition before it was run. */
export type Arm = Omit<Condition, 'runs'>;

/** The options that say what to run, as they were given. */
export interface ArmOptions {
  readonly stimulus: string;
  readonly duration: string;
  readonly intensity: string;
  readonly seed: string;
  readonly trials: string;
  readonly compare?: string | undefined;
  readonly silence?: readonly string[] | undefined;
}

/**
 * One arm, or two that differ in the stimulus or in the lesion alone.
 * @throws CodedError USAGE
 */
export function armsOf(options: ArmOptions): Arm[] {
  if (options.compare !== undefined && options.silence !== undefined) {
    throw wrong('--compare and --silence are two different comparisons, give one of them');
  }
  const experiment = {
    stimulus: stimulusOf('stimulus', options.stimulus),
    durationMs: durationOf(options.duration),
    intensity: intensityOf(options.intensity),
  };
  const seed = integerOf('seed', options.seed, 0, MAXIMUM_SEED);
  const trials = integerOf('trials', options.trials, 1, MAXIMUM_TRIALS);
  if (seed + trials - 1 > MAXIMUM_SEED) {
    throw wrong(`${trials} trials from seed ${seed} on go beyond the largest seed, ${MAXIMUM_SEED}`);
  }
  const seeds = Array.from({ length: trials }, (_, trial) => seed + trial);
  const first: Arm = { experiment, seeds, silenced: [] };
  if (options.compare !== undefined) {
    const stimulus = stimulusOf('compare', options.compare);
    return [first, { ...first, experiment: { ...experiment, stimulus } }];
  }
  return options.silence === undefined ? [first] : [first, { ...first, silenced: options.silence }];
}

function stimulusOf(option: string, text: string): Experiment['stimulus'] {
  const stimulus = ALLOWED_STIMULI.find((each) => each === text);
  if (stimulus === undefined) {
    throw wrong(`--${option} should be one of ${ALLOWED_STIMULI.join(', ')}, found ${shown(text)}`);
  }
  return stimulus;
}

function durationOf(text: string): DurationMs {
  const duration = ALLOWED_DURATIONS_MS.find((each) => String(each) === text);
  if (duration === undefined) {
    throw wrong(`--duration should be one of ${ALLOWED_DURATIONS_MS.join(', ')}, found ${shown(text)}`);
  }
  return duration;
}

function intensityOf(text: string): number {
  const intensity = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
  if (!(intensity >= 0 && intensity <= MAXIMUM_INTENSITY)) {
    throw wrong(`--intensity should be a number from 0 to ${MAXIMUM_INTENSITY}, found ${shown(text)}`);
  }
  return intensity;
}

function integerOf(option: string, text: string, minimum: number, maximum: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= minimum && value <= maximum)) {
    throw wrong(`--${option} should be an integer from ${minimum} to ${maximum}, found ${shown(text)}`);
  }
  return value;
}

/** A use of the command that cannot be meant. */
export function wrong(what: string): CodedError {
  return usage({ name: COMMAND_NAME }, what);
}
