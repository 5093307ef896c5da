/** Questions to a session and its answers: schemas, from which checks, types and OpenAPI are made. */
import { SELECTOR_DEFINITIONS } from '../connectome/selector-schema.js';
import {
  LONGEST_TRIAL_STEPS,
  MAXIMUM_PART_STEPS,
  MAXIMUM_RATE_HZ,
  STEPS_PER_MS,
} from '../stimulus/protocol.js';
import { NODE_SET } from '../experiments/document/fields.js';
import { RESULT_SCHEMAS } from '../experiments/run/result.js';
import { checked, checkOf } from '../schema/check.js';
import {
  count,
  integer,
  listOf,
  mapOf,
  number,
  object,
  type Schema,
  type Static,
  text,
} from '../schema/json-schema.js';

/** A step is one part of the trial. */
export const LONGEST_STEP_MS = MAXIMUM_PART_STEPS / STEPS_PER_MS;
export const LONGEST_SESSION_MS = LONGEST_TRIAL_STEPS / STEPS_PER_MS;

const CHANGES = {
  'rates_hz?': mapOf(
    'Rates from here on, in Hz, of inputs of module poisson, by their names. Those that are not named stay.',
    number(undefined, { minimum: 0, maximum: MAXIMUM_RATE_HZ }),
    { examples: [{ sugar: 80 }] },
  ),
  'silence?': listOf('Neurons whose outputs are cut from here on, in place of those that were.', NODE_SET, {
    maxItems: 64,
    examples: [['PVLP122b']],
  }),
};

const STEP = object('A step of a session.', {
  t_ms: integer('Where the session is, in ms from its start: the step begins there.', {
    minimum: 0,
    maximum: LONGEST_SESSION_MS,
    examples: [40],
  }),
  duration_ms: integer('How long the step is, in ms.', {
    minimum: 1,
    maximum: LONGEST_STEP_MS,
    examples: [20],
  }),
  ...CHANGES,
});
const BRANCH = object('How a session differs from the one that it comes from, from here on.', CHANGES);

const T_MS = integer('Where the session is, in ms from its start.', {
  minimum: 0,
  maximum: LONGEST_SESSION_MS,
});
const STOPPED = number('When the session exceeded the limit on synaptic events, which stopped it.', {
  minimum: 0,
});

/** By their names in OpenAPI. */
export const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  SessionStep: STEP,
  SessionBranch: BRANCH,
  Session: object('A brain that goes on, and where it is.', {
    session: text('Its name, which is random: only those who were told can go on with it.', {
      pattern: '^[\\w-]{22}$',
    }),
    model: text('Names the model, as `id` of GET /api/v2/model.'),
    t_ms: T_MS,
    'stopped_at_ms?': STOPPED,
    rates_hz: mapOf(
      'Rates of inputs of module poisson that are one number for all of their neurons.',
      number(),
    ),
    idle_s: number('It ends when it has not been asked for a step for so many seconds.', { minimum: 0 }),
  }),
  StepAnswer: object('What happened in a step.', {
    t_ms: T_MS,
    spikes: count('Spikes of all neurons.'),
    responding_neurons: count('Neurons with at least one spike.'),
    input_events: count('Events that stimulated neurons got.'),
    synaptic_events: count('Synaptic events delivered.'),
    'stopped_at_ms?': STOPPED,
    'drive?': mapOf(
      'With drive=true: drives of an animated body in the step, as version 1 has them.',
      number(),
    ),
    reports: {
      ...RESULT_SCHEMAS['Condition']!.properties!['reports']!,
      description:
        'What each report read of the step, by its name, as of one trial. Times count from the start of the session.',
    },
  }),
};

export type StepRequest = Static<typeof STEP>;
export type Changes = Static<typeof BRANCH>;

const checkStep = checkOf({ ...STEP, $defs: SELECTOR_DEFINITIONS }, 'The step');
const checkBranch = checkOf({ ...BRANCH, $defs: SELECTOR_DEFINITIONS }, 'The branch');

/** @throws CodedError INVALID_PARAMETER */
export function parseStep(value: unknown): StepRequest {
  return checked(checkStep, value) as StepRequest;
}

/** @throws CodedError INVALID_PARAMETER */
export function parseBranch(value: unknown): Changes {
  return checked(checkBranch, value) as Changes;
}
