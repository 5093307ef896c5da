import { ALLOWED_STIMULI, DEFAULT_EXPERIMENT, MAXIMUM_SEED, type Experiment } from '../experiment.js';
import { ALLOWED_DURATIONS_MS, type DurationMs } from '../../../engine/network.js';
import { MAXIMUM_INTENSITY } from '../../../engine/stimulus.js';
import { VIEWS, type View } from '../run-body.js';
import { integerFrom, numberFrom, oneOf, OptionalField } from '../../../http/optional-field.js';

export const DEFAULT_VIEW: View = 'full';

/** The body of POST /api/v1/run. What is left out takes its default. */
export class RunRequest {
  @OptionalField(oneOf(ALLOWED_STIMULI), {
    type: String,
    enum: ALLOWED_STIMULI,
    default: DEFAULT_EXPERIMENT.stimulus,
    description: 'The stimulus; with none the fly receives nothing. GET /api/v1/model describes the others.',
    example: 'loom',
  })
  readonly stimulus?: Experiment['stimulus'];

  @OptionalField(oneOf(ALLOWED_DURATIONS_MS), {
    type: 'integer',
    enum: [...ALLOWED_DURATIONS_MS],
    default: DEFAULT_EXPERIMENT.durationMs,
    description: 'Simulated time in milliseconds.',
    example: 100,
  })
  readonly duration_ms?: DurationMs;

  @OptionalField(numberFrom(0, MAXIMUM_INTENSITY), {
    type: Number,
    minimum: 0,
    maximum: MAXIMUM_INTENSITY,
    default: DEFAULT_EXPERIMENT.intensity,
    description: 'Strength of the stimulus; 1 is its nominal rate, 0 is silence. Without unit.',
    example: 1,
  })
  readonly intensity?: number;

  @OptionalField(integerFrom(0, MAXIMUM_SEED), {
    type: 'integer',
    minimum: 0,
    maximum: MAXIMUM_SEED,
    default: DEFAULT_EXPERIMENT.seed,
    description: 'Seed of the random stimulus train. The same seed gives the same run.',
    example: 42,
  })
  readonly seed?: number;
}

/** The query of POST /api/v1/run. */
export class RunQuery {
  @OptionalField(oneOf(VIEWS), {
    type: String,
    enum: VIEWS,
    default: DEFAULT_VIEW,
    description: 'full is everything; drive is the same run without frames and top_types.',
    example: 'drive',
  })
  readonly view?: View;
}

/** The experiment that a request stands for, complete. */
export function experimentOf(request: RunRequest): Experiment {
  return {
    stimulus: request.stimulus ?? DEFAULT_EXPERIMENT.stimulus,
    durationMs: request.duration_ms ?? DEFAULT_EXPERIMENT.durationMs,
    // Adding 0 turns -0 into 0, so that equal requests have equal ids.
    intensity: (request.intensity ?? DEFAULT_EXPERIMENT.intensity) + 0,
    seed: (request.seed ?? DEFAULT_EXPERIMENT.seed) + 0,
  };
}
