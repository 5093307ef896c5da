/** Documents the operations on sessions. */
import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { ApiEndpoint, component, type Operation, textHeader } from '../../http/api-operation.js';
import type { PublicErrorCode } from '../../http/error-examples.js';
import { BUDGET_HEADERS, FAILURES_OF_V2 } from './experiments.api.js';
import { Word } from './results-query.js';

const NAME = 'o3hK0cVd6vQmX1yTz8RbLw';
const STATUS = {
  session: NAME,
  t_ms: 60,
  rates_hz: { sugar: 80 },
  model: 'fafb-783-synthetic-corrected-0123456789ab',
  idle_s: 60,
};
const DOCUMENT = {
  inputs: { sugar: { node_set: '@sugar', rate_hz: 0 } },
  reports: { mn9: { node_set: '@MN9' } },
};
const STEP = { t_ms: 40, duration_ms: 20, rates_hz: { sugar: 80 } };
const ANSWER = {
  t_ms: 60,
  spikes: 412,
  responding_neurons: 187,
  input_events: 31,
  synaptic_events: 68021,
  reports: {
    mn9: [
      {
        neurons: 2,
        responding: { mean: 1, sd: 0 },
        responding_any: 1,
        rate_hz: { mean: 25, sd: 0, trials: [25] },
      },
    ],
  },
};
const SO_FAR = {
  inputs: { sugar: { node_set: '@sugar', rate_hz: { times_ms: [0, 40], values: [0, 80] } } },
  duration_ms: 60,
  trials: 1,
  reports: { mn9: { node_set: '@MN9' } },
};

const LOCATION = textHeader(
  'Where the session is. Its name is random: only those who were told can go on with it.',
  '^/api/v2/sessions/[\\w-]{22}$',
);

/** Errors of whatever concerns one session. */
const OF_SESSION: readonly PublicErrorCode[] = ['SESSION_ENDED', 'MODEL_LOADING', 'MODEL_FAILED'];
/** Errors of what simulates. */
const OF_TRIALS: readonly PublicErrorCode[] = [
  'INVALID_PARAMETER',
  'UNKNOWN_NEURONS',
  'EMPTY_NODE_SET',
  'TOO_EXPENSIVE',
  'SESSION_FULL',
  'RATE_LIMITED',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'MODEL_LOADING',
  'MODEL_FAILED',
  'QUEUE_FULL',
  'DEADLINE_PASSED',
  'DRAINING',
  'WORKER_LOST',
];

function json(schema: string, name: string, summary: string, value: object) {
  return { 'application/json': { schema: component(schema), examples: { [name]: { summary, value } } } };
}

function failures(codes: readonly PublicErrorCode[]): Pick<Operation, 'failures' | 'failureDescriptions'> {
  const { BODY_TOO_LARGE: _, ...others } = FAILURES_OF_V2;
  return { failures: [...new Set(codes)], failureDescriptions: others };
}

function ApiOfSession(operation: Operation, body?: { readonly schema: string; readonly example: object }) {
  return applyDecorators(
    ApiParam({
      name: 'session',
      description: 'Name of the session: the end of the Location that POST answered with.',
      schema: { type: 'string' },
      example: NAME,
    }),
    ...(body === undefined
      ? []
      : [
          ApiBody({
            required: body.schema === 'SessionStep',
            schema: component(body.schema),
            examples: { example: { value: body.example } },
          }),
        ]),
    ApiEndpoint(operation),
  );
}

/** The query of POST /api/v2/sessions/{session}/steps. */
export class StepQuery {
  @Word(['true', 'false'], 'true: with the drives of an animated body, as version 1 has them.')
  readonly drive?: 'true' | 'false';
}

/** Documents POST /api/v2/sessions. */
export function ApiSessions(): MethodDecorator {
  return applyDecorators(
    ApiBody({
      required: false,
      description: 'The experiment: one trial, without sweep, whose reports have no window.',
      schema: component('Experiment'),
      examples: { sugar: { summary: 'Sugar, which steps switch on', value: DOCUMENT } },
    }),
    ApiEndpoint({
      operationId: 'openSession',
      summary: 'Opens a session: a brain that goes on.',
      description:
        'The brain is at rest, or where the document ends if it has duration_ms, which is simulated first: so a session is ' +
        'recovered, moved or repeated from its own document.',
      answers: {
        201: {
          description: 'The session is open.',
          headers: { ...BUDGET_HEADERS, Location: LOCATION },
          content: json('Session', 'open', 'A session at its start', { ...STATUS, t_ms: 0 }),
        },
      },
      failures: [...OF_TRIALS, 'NO_CONNECTION'],
      failureDescriptions: FAILURES_OF_V2,
    }),
  );
}

/** Documents GET /api/v2/sessions/{session}. */
export function ApiSessionStatus(): MethodDecorator {
  return ApiOfSession({
    operationId: 'getSession',
    summary: 'Says where a session is.',
    description: 'Its time and its rates. Asking does not keep it open.',
    answers: {
      200: { description: 'Where it is.', content: json('Session', 'status', 'A session at 60 ms', STATUS) },
    },
    ...failures(OF_SESSION),
  });
}

/** Documents DELETE /api/v2/sessions/{session}. */
export function ApiSessionEnd(): MethodDecorator {
  return ApiOfSession({
    operationId: 'endSession',
    summary: 'Ends a session.',
    description: 'Gives its memory back, and what was charged and not used.',
    answers: {
      200: { description: 'Where it was.', content: json('Session', 'status', 'A session at 60 ms', STATUS) },
    },
    ...failures(OF_SESSION),
  });
}

/** Documents GET /api/v2/sessions/{session}/document. */
export function ApiSessionDocument(): MethodDecorator {
  return ApiOfSession({
    operationId: 'getSessionDocument',
    summary: 'Gives the session so far as an experiment.',
    description:
      'A document with the rates as they changed and the silences in their windows. POST /api/v2/experiments answers it with the ' +
      'same spikes, POST /api/v2/sessions goes on where it ends. Of a session at its start it has no duration_ms.',
    answers: {
      200: {
        description: 'The document.',
        content: json('Experiment', 'document', 'A session at 60 ms', SO_FAR),
      },
    },
    ...failures(OF_SESSION),
  });
}

/** Documents POST /api/v2/sessions/{session}/steps. */
export function ApiSessionStep(): MethodDecorator {
  return ApiOfSession(
    {
      operationId: 'stepSession',
      summary: 'Goes on by a step.',
      description:
        'Simulates from t_ms on. Rates and silences that are given hold from there on, others stay as they are. The last step ' +
        'may be sent again: it is answered as before, and not simulated again.',
      answers: {
        200: {
          description: 'What happened in the step.',
          headers: BUDGET_HEADERS,
          content: json('StepAnswer', 'answer', 'Of 20 ms', ANSWER),
        },
      },
      ...failures([...OF_SESSION, ...OF_TRIALS, 'STEP_OUT_OF_ORDER', 'MALFORMED_REQUEST']),
    },
    { schema: 'SessionStep', example: STEP },
  );
}

/** Documents POST /api/v2/sessions/{session}/branches. */
export function ApiSessionBranch(): MethodDecorator {
  return ApiOfSession(
    {
      operationId: 'branchSession',
      summary: 'Opens a second session that goes on from where this one is.',
      description: 'What is given holds in the second one from there on. The first one stays as it is.',
      answers: {
        201: {
          description: 'The second session is open.',
          headers: { Location: LOCATION },
          content: json('Session', 'branch', 'A session at 60 ms', STATUS),
        },
      },
      ...failures([...OF_SESSION, ...OF_TRIALS, 'STEP_OUT_OF_ORDER', 'MALFORMED_REQUEST']),
    },
    { schema: 'SessionBranch', example: { silence: ['PVLP122b'] } },
  );
}
