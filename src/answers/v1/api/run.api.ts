import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { FAILURES_OF_ANY_REQUEST } from '../../../http/api-description.js';
import { ApiFailures } from '../../../http/api-failures.js';
import {
  CACHE_NAME,
  COMMON_HEADERS,
  VARY_HEADER,
  NOT_STORED_HEADER,
  RATE_HEADERS,
  type HeaderDescriptions,
} from '../../../http/api-headers.js';
import { DRIVE_RUN_EXAMPLE } from './openapi-examples.js';
import { RunRequest } from './run-request.dto.js';
import { DriveRun, FullRun } from './run-response.dto.js';

const RUN_HEADERS: HeaderDescriptions = {
  'Server-Timing': {
    description:
      'Durations in ms: total, and also queue, simulate and serialise if the run was computed for this request.',
    schema: { type: 'string' },
  },
  'Cache-Status': {
    description:
      `Origin of the response (RFC 9211): "${CACHE_NAME}; hit" from the cache; "fwd=miss" with "stored" if it was ` +
      'computed for this request, with "collapsed" if it was computed for an equal request in progress.',
    schema: { type: 'string' },
  },
  'X-Backend': {
    description: 'The processor that ran the simulation. The body does not depend on it.',
    schema: { type: 'string', enum: ['cpu', 'gpu'] },
  },
};

/** Documents POST /api/v1/run. */
export function ApiRun(): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(DriveRun, FullRun),
    ApiOperation({
      operationId: 'runExperiment',
      summary: 'Runs an experiment.',
      description:
        'Applies a stimulus, simulates the whole brain and returns its activity. Every field is optional; an empty ' +
        'object, or no body, runs the default experiment.',
    }),
    ApiBody({
      type: RunRequest,
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
    }),
    ApiResponse({
      status: 200,
      description: 'The run: FullRun with view=full, DriveRun with view=drive.',
      headers: {
        ...COMMON_HEADERS,
        ...NOT_STORED_HEADER,
        ...RATE_HEADERS,
        ...RUN_HEADERS,
        ...VARY_HEADER,
      },
      content: {
        'application/json': {
          schema: {
            oneOf: [{ $ref: getSchemaPath(FullRun) }, { $ref: getSchemaPath(DriveRun) }],
          },
          examples: {
            drive: { summary: 'Response to {"stimulus": "loom"} with view=drive', value: DRIVE_RUN_EXAMPLE },
          },
        },
      },
    }),
    ApiFailures(
      [
        'INVALID_PARAMETER',
        'STIMULUS_UNAVAILABLE',
        ...FAILURES_OF_ANY_REQUEST,
        'BODY_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
        'RATE_LIMITED',
        'MODEL_LOADING',
        'MODEL_FAILED',
        'QUEUE_FULL',
        'DEADLINE_PASSED',
        'DRAINING',
        'WORKER_LOST',
      ],
      RATE_HEADERS,
      { BODY_TOO_LARGE: { meaning: 'The request body is larger than 8 KiB.' } },
    ),
  );
}
