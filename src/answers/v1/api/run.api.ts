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
      'Milliseconds spent: total; also queue, simulate and serialise if the run was computed for this request.',
    schema: { type: 'string' },
  },
  'Cache-Status': {
    description:
      `Where the answer comes from (RFC 9211): "${CACHE_NAME}; hit", or "fwd=miss" with "stored" where it was ` +
      'computed for this request and "collapsed" where an equal request was under way.',
    schema: { type: 'string' },
  },
  'X-Backend': {
    description: 'What simulated. It never shows in the body.',
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
        'Gives the fly a stimulus, simulates its whole brain and answers with what it did. Every field is ' +
        'optional; an empty object, or no body at all, runs the default experiment.',
    }),
    ApiBody({
      type: RunRequest,
      required: false,
      description: 'The experiment, in JSON of at most 8 KiB, not compressed.',
      examples: {
        default: { summary: 'The default experiment', value: {} },
        loom: {
          summary: 'A dark shape that grows',
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
            drive: { summary: 'Of {"stimulus": "loom"} with view=drive', value: DRIVE_RUN_EXAMPLE },
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
    ),
  );
}
