import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { FAILURES_OF_ANY_REQUEST } from '../../../http/api-description.js';
import { ApiFailures } from '../../../http/api-failures.js';
import { COMMON_HEADERS, NOT_STORED_HEADER } from '../../../http/api-headers.js';
import { FORMATS } from '../formats/formats.js';
import { ANSWER_HEADERS, ApiAcceptedFormats, FAILURES_OF_V2, OTHER_FORMATS } from './experiments.api.js';
import { JOB_EXAMPLES } from './job-examples.js';
import { EXAMPLES } from './openapi-examples.js';
import { ref } from './schema.js';

/** Where version 2 speaks of a job. */
const FAILURES_OF_JOBS = {
  ...FAILURES_OF_V2,
  NOT_FOUND: {
    meaning:
      'There is no such job: it never existed, it has expired, or the service lost it in a restart. Of results also: ' +
      'the job was dismissed, or its model is no longer served.',
    example: {
      error: `There is no job "${JOB_EXAMPLES.job}": it never existed, it has expired, or the service lost it in a restart.`,
    },
  },
  TOO_EXPENSIVE: {
    meaning: 'The job failed because its results need too many bytes.',
    example: {
      error:
        'The results of the job need more than 67108864 bytes, the maximum. With fewer conditions, groups, trials or ' +
        'spikes they would fit.',
      path: '/reports',
    },
  },
};

function ApiJob(): MethodDecorator {
  return ApiParam({
    name: 'job',
    description: 'Name of the job: the end of the Location that POST answered with.',
    schema: { type: 'string' },
    example: JOB_EXAMPLES.job,
  });
}

function ApiState(description: string, name: string, value: object): MethodDecorator {
  return ApiResponse({
    status: 200,
    description,
    headers: { ...COMMON_HEADERS, ...NOT_STORED_HEADER },
    content: {
      [FORMATS.json.mediaType]: {
        schema: ref('JobStatus') as { $ref: string },
        examples: { [name]: { summary: `A job that is ${name}`, value } },
      },
    },
  });
}

/** Documents GET /api/v2/experiments/{job}. */
export function ApiJobStatus(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'getJob',
      summary: 'Says how far a job is.',
      description:
        'The state of a job as in OGC API - Processes, with the conditions that are done and an estimate of the time ' +
        'left. Asking once a second is often enough.',
    }),
    ApiJob(),
    ApiState('The state of the job.', 'running', JOB_EXAMPLES.running),
    ApiFailures(['NOT_FOUND', ...FAILURES_OF_ANY_REQUEST, 'JOBS_UNAVAILABLE'], {}, FAILURES_OF_JOBS),
  );
}

/** Documents DELETE /api/v2/experiments/{job}. */
export function ApiJobDismissal(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'dismissJob',
      summary: 'Ends a job.',
      description: 'Ends a job that is not finished, and removes its results. May be repeated.',
    }),
    ApiJob(),
    ApiState('The job has ended.', 'dismissed', JOB_EXAMPLES.dismissed),
    ApiFailures(['NOT_FOUND', ...FAILURES_OF_ANY_REQUEST, 'JOBS_UNAVAILABLE'], {}, FAILURES_OF_JOBS),
  );
}

/** Documents GET /api/v2/experiments/{job}/results. */
export function ApiJobResults(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'getJobResults',
      summary: 'Gives the results of a job.',
      description:
        'Once the job has succeeded, exactly the bytes with which the same experiment is answered at once, in any format ' +
        'and from any condition. Until then the conditions that are done, in order: Job-Status is not successful, ' +
        '`partial` is true in JSON and NDJSON, and the totals count these conditions. A job that failed answers with ' +
        'its failure.',
    }),
    ApiJob(),
    ApiAcceptedFormats(),
    ApiResponse({
      status: 200,
      description: 'The results, as far as they are there.',
      headers: {
        ...COMMON_HEADERS,
        ...NOT_STORED_HEADER,
        'Job-Status': {
          description:
            'Status of the job when the answer began. Only results of successful jobs are complete.',
          schema: { type: 'string', enum: ['accepted', 'running', 'successful'] },
        },
        ...ANSWER_HEADERS,
      },
      content: {
        [FORMATS.json.mediaType]: {
          schema: ref('ExperimentAnswer') as { $ref: string },
          examples: { answer: { summary: 'Of the first example', value: EXAMPLES.answer } },
        },
        ...OTHER_FORMATS,
      },
    }),
    ApiFailures(
      [
        'INVALID_PARAMETER',
        'NOT_FOUND',
        'NOT_ACCEPTABLE',
        ...FAILURES_OF_ANY_REQUEST,
        'TOO_EXPENSIVE',
        'MODEL_LOADING',
        'MODEL_FAILED',
        'QUEUE_FULL',
        'JOBS_UNAVAILABLE',
        'DEADLINE_PASSED',
        'WORKER_LOST',
      ],
      {},
      FAILURES_OF_JOBS,
    ),
  );
}
