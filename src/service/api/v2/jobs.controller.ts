import { Controller, Delete, Get, Header, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { siteOf } from '../../limits/client-address.js';
import { whenEnded, piecesWithoutIdleLimit } from '../../http/request-watch.js';
import { JobsService } from '../../../jobs/jobs-service.js';
import { Admission } from '../../limits/admission.js';
import { HELD_BYTES, holdBeginning, sendAnswer, serverTiming } from './answer-bytes.js';
import { ALL_FORMATS, answerFormat, answerOrder, headersOf, ResultsQuery } from './results-query.js';
import { ExperimentsService } from './experiments.service.js';
import { statusOf } from './job-status.js';
import { ApiEndpoint, component, type Operation } from '../../http/api-operation.js';
import { FORMATS } from '../../../experiments/formats/formats.js';
import { ACCEPT_HEADER, FAILURES_OF_V2, OTHER_FORMATS, RESULT_HEADERS } from './experiments.api.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import { JOB_STATUSES } from '../../../jobs/job.js';

/** Where version 2 speaks of a job. */
const FAILURES_OF_JOBS = {
  ...FAILURES_OF_V2,
  NOT_FOUND: {
    meaning:
      'There is no such job: it never existed, it has expired, or the service lost it in a restart. Of results also: ' +
      'the job was dismissed, or its model is no longer served.',
    example: {
      error: `There is no job "${EXAMPLES.jobs.job}": it never existed, it has expired, or the service lost it in a restart.`,
    },
  },
  TOO_EXPENSIVE: {
    meaning:
      'The job failed because its results need too many bytes, or a condition has more rows of events than ' +
      'a job keeps; or a single trial has more rows than an answer may have.',
    example: {
      error:
        'The results of the job need more than 67108864 bytes, the maximum. With fewer conditions, groups, trials or ' +
        'spikes they would fit.',
      path: '/reports',
    },
  },
};

/** Documents an operation on a job. */
function ApiJob(operation: Operation): MethodDecorator {
  const parameter = {
    name: 'job',
    description: 'Name of the job: the end of the Location that POST answered with.',
    schema: { type: 'string' as const },
    example: EXAMPLES.jobs.job,
  };
  return ApiEndpoint({ ...operation, parameter, failureDescriptions: FAILURES_OF_JOBS });
}

function stateAnswer(description: string, name: string, value: object): Operation['answers'] {
  const examples = { [name]: { summary: `A job that is ${name}`, value } };
  const content = { [FORMATS.json.mediaType]: { schema: component('JobStatus'), examples } };
  return { 200: { description, content } };
}

/** Experiments that became jobs. */
@ApiTags('Jobs')
@Controller({ path: 'experiments/:job', version: '2' })
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly experiments: ExperimentsService,
    private readonly admission: Admission,
  ) {}

  @Get()
  @ApiJob({
    operationId: 'getJob',
    summary: 'Says how far a job is.',
    description:
      'The state of a job as in OGC API - Processes, with the conditions that are done and an estimate of the time ' +
      'left. Asking once a second is often enough.',
    answers: stateAnswer('The state of the job.', 'running', EXAMPLES.jobs.running),
    failures: ['NOT_FOUND', 'JOBS_UNAVAILABLE'],
  })
  @Header('cache-control', 'no-store')
  async status(@Param('job') id: string): Promise<object> {
    return statusOf(await this.jobs.state(id));
  }

  @Delete()
  @ApiJob({
    operationId: 'dismissJob',
    summary: 'Ends a job.',
    description: 'Ends a job that is not finished, and removes its results. May be repeated.',
    answers: stateAnswer('The job has ended.', 'dismissed', EXAMPLES.jobs.dismissed),
    failures: ['NOT_FOUND', 'JOBS_UNAVAILABLE'],
  })
  @Header('cache-control', 'no-store')
  async dismiss(@Param('job') id: string): Promise<object> {
    return statusOf(await this.jobs.dismiss(id));
  }

  @Get('results')
  @ApiJob({
    operationId: 'getJobResults',
    summary: 'Gives the results of a job.',
    description:
      'Once the job has succeeded, exactly the bytes with which the same experiment is answered at once, in any format, ' +
      'from any condition and on any page. Until then the conditions that are done, in order: Job-Status is not successful, ' +
      '`partial` is true in JSON and NDJSON, and the totals count these conditions. A job that failed answers with ' +
      'its failure.',
    requestHeaders: ACCEPT_HEADER,
    answers: {
      200: {
        description: 'The results, as far as they are there.',
        headers: {
          'Job-Status': {
            description:
              'Status of the job when the answer began. Only results of successful jobs are complete.',
            schema: {
              type: 'string',
              enum: JOB_STATUSES.filter((status) => status !== 'failed' && status !== 'dismissed'),
            },
          },
          ...RESULT_HEADERS,
        },
        content: {
          [FORMATS.json.mediaType]: {
            schema: component('ExperimentAnswer'),
            examples: { answer: { summary: 'Of the first example', value: EXAMPLES.answer } },
          },
          ...OTHER_FORMATS,
        },
      },
    },
    failures: [
      'INVALID_PARAMETER',
      'NOT_FOUND',
      'NOT_ACCEPTABLE',
      'TOO_EXPENSIVE',
      'MODEL_LOADING',
      'MODEL_FAILED',
      'QUEUE_FULL',
      'JOBS_UNAVAILABLE',
      'DEADLINE_PASSED',
      'WORKER_LOST',
    ],
  })
  async results(
    @Param('job') id: string,
    @Query() query: ResultsQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { request } = reply;
    const format = answerFormat(query.format, request, ALL_FORMATS);
    const job = await this.jobs.state(id);
    const order = answerOrder(query, format, job.record.from);
    // Writing results takes as much of this thread as writing an answer.
    const leave = this.admission.admit(siteOf(request));
    whenEnded(request, leave);
    try {
      const answer = await this.experiments.results(request, job, order);
      const held = await holdBeginning(piecesWithoutIdleLimit(request, answer.bytes), HELD_BYTES);
      const status = { 'job-status': job.progress.status };
      reply.headers({ ...status, ...serverTiming(reply), ...headersOf(answer, query, format) });
      await sendAnswer(held, format, reply);
    } catch (error) {
      leave();
      throw error;
    }
  }
}
