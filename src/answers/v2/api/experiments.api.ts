import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { FAILURES_OF_ANY_REQUEST } from '../../../http/api-description.js';
import { ApiFailures, type FailureDescription } from '../../../http/api-failures.js';
import { COMMON_HEADERS, NOT_STORED_HEADER, type HeaderDescriptions } from '../../../http/api-headers.js';
import { bodyTooLargeMessage } from '../../../http/error-of.js';
import type { PublicErrorCode } from '../../../http/error-examples.js';
import { IDEMPOTENCY_KEY } from '../../../http/idempotency-key.js';
import { FORMATS } from '../formats/formats.js';
import { JOB_EXAMPLES } from './job-examples.js';
import { EXAMPLES } from './openapi-examples.js';
import { ref } from './schema.js';

const BUDGET_HEADERS: HeaderDescriptions = {
  'RateLimit-Limit': {
    description: 'Brain seconds that a client may have simulated in any 60 seconds.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Remaining': {
    description: 'Brain seconds that this client has left, this experiment at its full price deducted.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': {
    description: 'Seconds until the oldest brain seconds that count leave the 60 seconds.',
    schema: { type: 'integer', minimum: 1 },
  },
};
export const ANSWER_HEADERS: HeaderDescriptions = {
  'Server-Timing': {
    description: 'Milliseconds spent until the answer began.',
    schema: { type: 'string' },
  },
  'X-Backend': {
    description: 'What simulated. It never shows in the body.',
    schema: { type: 'string', enum: ['cpu'] },
  },
  Vary: {
    description: 'The format follows Accept; text is gzipped where the client accepts that.',
    schema: { type: 'string' },
  },
};

/** What an answer is in formats other than JSON. */
export const OTHER_FORMATS: Readonly<Record<string, object>> = {
  [FORMATS.ndjson.mediaType]: {
    schema: {
      description:
        'A line: ExperimentHead comes first, then conditions in order and progress between them, ExperimentTotals ' +
        'last. After a failure the last line is an ErrorResponse.',
      anyOf: ['ExperimentHead', 'Condition', 'ExperimentProgress', 'ExperimentTotals', 'ErrorResponse'].map(
        (name) => ref(name),
      ),
    } as object,
    examples: Object.fromEntries(
      EXAMPLES.lines.map((value, at) => [
        `line${at + 1}`,
        { summary: `Line ${at + 1} of the answer to the first example`, value },
      ]),
    ),
  },
  [FORMATS.csv.mediaType]: {
    schema: {
      type: 'string',
      description:
        'One table with a header. `rates` has a row for each condition, report and group: condition, the swept ' +
        'parameters, report, its groups, neurons, responding, rate_hz_mean, rate_hz_sd, trials.',
    },
    examples: { rates: { summary: 'Of the first example', value: EXAMPLES.csv } },
  },
  [FORMATS.arrow.mediaType]: {
    schema: {
      type: 'string',
      contentMediaType: FORMATS.arrow.mediaType,
      description: 'One table as an Arrow IPC stream.',
    } as object,
  },
  [FORMATS.parquet.mediaType]: {
    schema: {
      type: 'string',
      contentMediaType: FORMATS.parquet.mediaType,
      description: 'One table as a Parquet file.',
    } as object,
  },
};

/** By default; the environment may say otherwise. */
const BODY_LIMIT_KIB = 256;

/** Where version 2 says more than the table of errors, which also speaks of runs. */
export const FAILURES_OF_V2: Partial<Record<PublicErrorCode, FailureDescription>> = {
  ...Object.fromEntries(Object.entries(EXAMPLES.failures).map(([code, example]) => [code, { example }])),
  MALFORMED_REQUEST: { example: { error: 'The body is not valid JSON: "{\\"trials\\": ten}".', path: '' } },
  BODY_TOO_LARGE: {
    meaning: `The request body is larger than ${BODY_LIMIT_KIB} KiB.`,
    example: { error: bodyTooLargeMessage(BODY_LIMIT_KIB * 1024), path: '' },
  },
  UNSUPPORTED_MEDIA_TYPE: { example: { path: '' } },
  NOT_ACCEPTABLE: { example: { path: '' } },
  RATE_LIMITED: {
    meaning:
      'The client has had more brain seconds simulated in a minute than allowed; Retry-After says when to try again.',
    example: {
      error:
        'At most 600 brain seconds a minute are allowed for each client; this experiment needs 300 and 100 are left; try again in 42 s.',
      path: '',
    },
  },
  QUEUE_FULL: {
    meaning:
      'Too many experiments or jobs are under way, or too many documents are waiting, of all clients or of this one.',
    example: { error: 'The queue is full: 4 experiments of this client are under way; try again shortly.' },
  },
};

export function ApiAcceptedFormats(): MethodDecorator {
  return ApiHeader({
    name: 'Accept',
    required: false,
    description:
      'Media types of the formats, with weights; JSON where nothing is preferred. `format` overrides it.',
    schema: { type: 'string' },
  });
}

/** Documents POST /api/v2/experiments. */
export function ApiExperiments(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'runOpenExperiment',
      summary: 'Runs an open experiment.',
      description:
        'Stimulates any neurons, silences any, repeats trials, sweeps parameters and reads any neurons. Every field is ' +
        'optional. With dry_run=true nothing is simulated: the answer says which neurons the selectors stand for and ' +
        'what the experiment costs. An NDJSON answer comes line by line as conditions finish, in order. With ' +
        'Prefer: respond-async the experiment becomes a job, which goes on when the client has disconnected.',
    }),
    ApiAcceptedFormats(),
    ApiHeader({
      name: 'Prefer',
      required: false,
      description:
        'respond-async (RFC 7240) makes the experiment a job: it is answered with 202 at once, and has larger limits.',
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'With Prefer: respond-async: a string chosen by the client, such as a random UUID. A request that is repeated ' +
        'with the same key and document begins no second job; it is answered with the state of the first. Keys are kept ' +
        'for each client, by default for a day.',
      schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
    }),
    ApiBody({
      required: false,
      description: 'The experiment, in JSON of at most 256 KiB, not compressed.',
      schema: ref('Experiment') as { $ref: string },
      examples: EXAMPLES.requests,
    }),
    ApiResponse({
      status: 200,
      description: 'The results, or with dry_run=true what is known without them.',
      headers: { ...COMMON_HEADERS, ...NOT_STORED_HEADER, ...BUDGET_HEADERS, ...ANSWER_HEADERS },
      content: {
        [FORMATS.json.mediaType]: {
          schema: { anyOf: [ref('ExperimentAnswer'), ref('DryRunAnswer')] },
          examples: {
            answer: { summary: 'Of the first example', value: EXAMPLES.answer },
            dryRun: { summary: 'Of the same, with dry_run=true', value: EXAMPLES.dryRun },
          },
        },
        ...OTHER_FORMATS,
      },
    }),
    ApiResponse({
      status: 202,
      description: 'With Prefer: respond-async: the experiment is a job, and this is its state.',
      headers: {
        ...COMMON_HEADERS,
        ...NOT_STORED_HEADER,
        Location: {
          description: 'Where the job is. Its name is random: only those who were told can follow or end it.',
          schema: { type: 'string', pattern: '^/api/v2/experiments/[\\w-]{24}$' } as object,
        },
        'Preference-Applied': {
          description: 'The preference that was followed.',
          schema: { type: 'string', const: 'respond-async' } as object,
        },
      },
      content: {
        [FORMATS.json.mediaType]: {
          schema: ref('JobStatus') as { $ref: string },
          examples: { accepted: { summary: 'Of the first example', value: JOB_EXAMPLES.accepted } },
        },
      },
    }),
    ApiFailures(
      [
        'INVALID_PARAMETER',
        'UNKNOWN_NEURONS',
        'EMPTY_NODE_SET',
        'NOT_ACCEPTABLE',
        ...FAILURES_OF_ANY_REQUEST,
        'BODY_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
        'TOO_EXPENSIVE',
        'IDEMPOTENCY_KEY_REUSED',
        'RATE_LIMITED',
        'MODEL_LOADING',
        'MODEL_FAILED',
        'QUEUE_FULL',
        'JOBS_UNAVAILABLE',
        'DEADLINE_PASSED',
        'DRAINING',
        'WORKER_LOST',
      ],
      {},
      FAILURES_OF_V2,
    ),
  );
}
