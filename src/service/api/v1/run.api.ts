import {
  ApiEndpoint,
  component,
  countHeader,
  textHeader,
  VARY_HEADER,
  type HeaderDescriptions,
} from '../../http/api-operation.js';
import { ERROR_CODES_OF_V1 } from '../../http/error-examples.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import { dtoOf } from '../../http/request-fields.js';
import type { Schema } from '../../../schema/json-schema.js';
import type { Experiment, View } from '../../../presets/experiment.js';
import { FIELDS, QUERY_FIELDS } from '../../../presets/fields.js';

/** The body of POST /api/v1/run. What is left out takes its default. */
export class RunRequest extends (dtoOf(FIELDS) as new () => Partial<Experiment>) {}

/** As it is sent, where every field may be left out. */
export const RUN_REQUEST: Schema = { type: 'object', properties: FIELDS, additionalProperties: false };

export class RunQuery extends (dtoOf(QUERY_FIELDS) as new () => { readonly view?: View }) {}

/** Name of this cache in the header Cache-Status. */
export const CACHE_NAME = 'neural-experiment-service';

const RATE_HEADERS: HeaderDescriptions = {
  'RateLimit-Limit': countHeader('Runs that a client may send in any 60 seconds.', 1),
  'RateLimit-Remaining': countHeader('Runs that this client may still send now.', 0),
  'RateLimit-Reset': countHeader(
    'Seconds until the oldest counted run is 60 seconds old, so that one more run is allowed.',
    1,
  ),
};

const RUN_HEADERS: HeaderDescriptions = {
  'Server-Timing': textHeader(
    'Durations in ms: total, and also queue, simulate and serialise if the run was computed for this request.',
  ),
  'Cache-Status': textHeader(
    `Origin of the response (RFC 9211): "${CACHE_NAME}; hit" from the cache; "fwd=miss" with "stored" if it was ` +
      'computed for this request, with "collapsed" if it was computed for an equal request in progress.',
  ),
  'X-Backend': {
    description: 'The processor that ran the simulation. The body does not depend on it.',
    schema: { type: 'string', enum: ['cpu', 'gpu'] },
  },
};

export const ApiRun = ApiEndpoint({
  operationId: 'runExperiment',
  summary: 'Runs an experiment.',
  description:
    'Applies a stimulus, simulates the whole brain and returns its activity. Every field is optional; an empty ' +
    'object, or no body, runs the default experiment.',
  body: {
    schema: component('RunRequest'),
    required: false,
    description: 'The experiment: uncompressed JSON of at most 8 KiB.',
    examples: {
      default: { summary: 'The default experiment', value: {} },
      loom: {
        summary: 'An approaching object',
        value: { stimulus: 'loom', duration_ms: 100, intensity: 1, seed: 42 },
      },
      silence: { summary: 'No stimulus', value: { stimulus: 'none', duration_ms: 50 } },
    },
  },
  answers: {
    200: {
      description: 'The run: FullRun with view=full, DriveRun with view=drive.',
      headers: { ...RATE_HEADERS, ...RUN_HEADERS, ...VARY_HEADER },
      content: {
        'application/json': {
          schema: { oneOf: [component('FullRun'), component('DriveRun')] },
          examples: {
            drive: {
              summary: 'Response to {"stimulus": "loom"} with view=drive',
              value: EXAMPLES.driveRun,
            },
          },
        },
      },
    },
  },
  failures: ERROR_CODES_OF_V1.filter((code) => code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED'),
  failureHeaders: RATE_HEADERS,
  failureDescriptions: {
    BODY_TOO_LARGE: { meaning: 'The request body is larger than 8 KiB.' },
    RATE_LIMITED: {
      meaning: 'The client sent more runs within a minute than it may; Retry-After says when to try again.',
    },
  },
});
