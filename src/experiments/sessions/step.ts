/** Requests to a session and its answers, as schemas. Checks, types and OpenAPI are derived from them. */
import { MAX_SILENCES } from '../kinds/edits/silence.js';
import { CodedError } from '../../engine/errors.js';
import { SELECTOR_DEFINITIONS } from '../../engine/connectome/selector-schema.js';
import {
  MAX_TRIAL_STEPS,
  MAX_SEGMENT_STEPS,
  MAX_RATE_HZ,
  STEPS_PER_MS,
} from '../../engine/stimulus/protocol.js';
import { INPUT_NAME, NODE_SET } from '../kinds/fields.js';
import { RESULT_SCHEMAS } from '../document/result.js';
import { checked, checkOf } from '../../engine/schema/check.js';
import {
  count,
  integer,
  listOf,
  mapOf,
  number,
  object,
  type Schema,
  type SchemaOf,
  type Static,
  text,
} from '../../engine/schema/json-schema.js';

/** A step is one segment of the trial. */
export const MAX_STEP_MS = MAX_SEGMENT_STEPS / STEPS_PER_MS;
export const MAX_SESSION_MS = MAX_TRIAL_STEPS / STEPS_PER_MS;

const SESSION_TIME = { minimum: 0, maximum: MAX_SESSION_MS };
const CHANGES = {
  'rates_hz?': mapOf(
    'Rates from here on, in Hz, of inputs of module poisson, by their names. Those that are not named stay.',
    number(undefined, { minimum: 0, maximum: MAX_RATE_HZ }),
    { propertyNames: INPUT_NAME, examples: [{ sugar: 80 }] },
  ),
  'silence?': listOf('Neurons whose outputs are cut from here on, in place of those that were.', NODE_SET, {
    maxItems: MAX_SILENCES,
    examples: [['PVLP122b']],
  }),
};

const STEP = object('A step of a session.', {
  t_ms: integer('The time of the session in ms from its start: the step begins then.', {
    ...SESSION_TIME,
    examples: [40],
  }),
  duration_ms: integer('How long the step is, in ms.', {
    minimum: 1,
    maximum: MAX_STEP_MS,
    examples: [20],
  }),
  ...CHANGES,
});
const BRANCH = object('How a session differs from the one that it comes from, from here on.', CHANGES);

const T_MS = integer('The time of the session, in ms from its start.', SESSION_TIME);
const STOPPED = number(
  'The time at which the session exceeded the limit on synaptic events, which stopped it.',
  { minimum: 0 },
);

/** Schemas by their names in OpenAPI. */
export const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  SessionStep: STEP,
  SessionBranch: BRANCH,
  Session: object('A brain that goes on, with its time and rates.', {
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
    idle_s: number('It ends after so many seconds without a step.', { minimum: 0 }),
  }),
  StepAnswer: object('The result of a step.', {
    t_ms: T_MS,
    spikes: count('Spikes of all neurons.'),
    responding_neurons: count('Neurons with at least one spike.'),
    input_events: count('Events of the inputs, also those that meet a refractory period.'),
    synaptic_events: count('Synaptic events delivered.'),
    'stopped_at_ms?': STOPPED,
    'drive?': mapOf(
      'With drive=true: drives of an animated body in the step, as version 1 has them.',
      number(),
    ),
    reports: {
      ...RESULT_SCHEMAS['Condition']!.properties!['reports']!,
      description:
        'The result of each report in the step, by its name, as of one trial. Times count from the start of the session, latencies from the start of the step.',
    },
  }),
};

export type StepRequest = Static<typeof STEP>;
export type Changes = Static<typeof BRANCH>;

/** @returns a function that checks a request. It throws CodedError INVALID_PARAMETER. */
function parserOf<T>(schema: SchemaOf<T>, name: string): (value: unknown) => T {
  const check = checkOf({ ...schema, $defs: SELECTOR_DEFINITIONS }, name);
  return (value) => checked(check, value) as T;
}

export const parseStep = parserOf(STEP, 'The step');
export const parseBranch = parserOf(BRANCH, 'The branch');

export function outOfOrder(message: string, now?: string): CodedError {
  return new CodedError('STEP_OUT_OF_ORDER', message, {
    path: '/t_ms',
    ...(now !== undefined && { suggestions: [now] }),
  });
}

export function stopped(atMs: number): CodedError {
  return new CodedError(
    'SESSION_FULL',
    `The session was stopped at ${atMs} ms, where it exceeded the limit on synaptic events.`,
  );
}

/** The current or last step of a session. A client may ask for it again; a session computes one step at a time. */
export class LastStep {
  #asked: { readonly key: string; readonly answer: Promise<Uint8Array> } | undefined;
  #isUnderWay = false;

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** @returns the answer, as JSON, if the request repeats this step */
  answerTo(request: StepRequest, readsDrives: boolean): Promise<Uint8Array> | undefined {
    return this.#asked?.key === keyOf(request, readsDrives) ? this.#asked.answer : undefined;
  }

  /** @throws CodedError STEP_OUT_OF_ORDER if the step is being computed */
  checkIsOver(): void {
    if (!this.#isUnderWay) return;
    throw outOfOrder('A step is being computed; a session can be stepped or branched between two steps.');
  }

  /** Remembers a step until the next one. If it fails, the step before may be repeated again. */
  async remember(
    request: StepRequest,
    readsDrives: boolean,
    answer: Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const before = this.#asked;
    this.#asked = { key: keyOf(request, readsDrives), answer };
    this.#isUnderWay = true;
    try {
      return await answer;
    } catch (error) {
      this.#asked = before;
      throw error;
    } finally {
      this.#isUnderWay = false;
    }
  }
}

function keyOf(request: StepRequest, readsDrives: boolean): string {
  const { t_ms: tMs, duration_ms: durationMs, rates_hz: rates = {}, silence } = request;
  return JSON.stringify([tMs, durationMs, Object.entries(rates).sort(), silence, readsDrives]);
}
