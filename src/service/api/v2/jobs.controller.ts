import { Controller, Delete, Get, Header, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { siteOf } from '../../limits/client-address.js';
import { publicPrefix } from '../../http/public-address.js';
import { whenEnded, piecesWithoutIdleLimit } from '../../http/request-watch.js';
import { JobsService } from '../../jobs/jobs-service.js';
import { Admission } from '../../limits/admission.js';
import { HELD_BYTES, holdBeginning, sendAnswer, serverTiming } from './answer-bytes.js';
import { ALL_FORMATS, answerRequest, headersOf } from '../../../experiments/formats/queries.js';
import { answerFormat, ResultsQuery } from './queries.js';
import { ExperimentsService } from './experiments.service.js';
import { statusOf } from './job-status.js';
import { ApiOperationOf } from './operations.js';

/** Routes of jobs. */
@ApiTags('Jobs')
@Controller({ path: 'experiments/:job', version: '2' })
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly experiments: ExperimentsService,
    private readonly admission: Admission,
  ) {}

  @Get()
  @ApiOperationOf('getJob')
  @Header('cache-control', 'no-store')
  async status(@Param('job') id: string, @Req() request: FastifyRequest): Promise<object> {
    return statusOf(await this.jobs.state(id), publicPrefix(request));
  }

  @Delete()
  @ApiOperationOf('dismissJob')
  @Header('cache-control', 'no-store')
  async dismiss(@Param('job') id: string, @Req() request: FastifyRequest): Promise<object> {
    return statusOf(await this.jobs.dismiss(id), publicPrefix(request));
  }

  @Get('results')
  @ApiOperationOf('getJobResults')
  async results(
    @Param('job') id: string,
    @Query() query: ResultsQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { request } = reply;
    const format = answerFormat(query.format, request, ALL_FORMATS);
    const job = await this.jobs.state(id);
    const wanted = answerRequest(query, format, job.record.from);
    // Writing results costs as much as writing an answer, so it counts as an experiment.
    const leave = this.admission.admit(siteOf(request));
    whenEnded(request, leave);
    try {
      const answer = await this.experiments.results(request, job, wanted);
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
