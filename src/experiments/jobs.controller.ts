import { Controller, Delete, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiJobDismissal, ApiJobResults, ApiJobStatus } from '../answers/v2/api/jobs.api.js';
import type { ApiVersion } from '../http/api-versions.js';
import { clientOf } from '../http/client-address.js';
import { whenGone } from '../http/client-gone.js';
import { JobsService } from '../jobs/jobs.service.js';
import { Admission } from './admission.js';
import { HELD_BYTES, holdBeginning } from './answer-bytes.js';
import { answerFormat, checkTable } from './answer-format.js';
import { ExperimentsService } from './experiments.service.js';
import { statusOf, type JobStatusInfo } from './job-status.js';
import { ResultsQuery } from './results-query.dto.js';
import { sendAnswer } from './send-answer.js';

/** Experiments that became jobs. */
@ApiTags('Jobs')
@Controller({ path: 'experiments/:job', version: '2' satisfies ApiVersion })
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly experiments: ExperimentsService,
    private readonly admission: Admission,
  ) {}

  @Get()
  @ApiJobStatus()
  async status(
    @Param('job') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JobStatusInfo> {
    const state = await this.jobs.state(id);
    reply.header('cache-control', 'no-store');
    return statusOf(state);
  }

  @Delete()
  @ApiJobDismissal()
  async dismiss(
    @Param('job') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JobStatusInfo> {
    const job = await this.jobs.dismiss(id);
    reply.header('cache-control', 'no-store');
    return statusOf(job);
  }

  @Get('results')
  @ApiJobResults()
  async results(
    @Param('job') id: string,
    @Query() query: ResultsQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const format = answerFormat(query.format, request);
    checkTable(query, format);
    const job = await this.jobs.state(id);
    // Writing results takes as much of this thread as writing an answer.
    const leave = this.admission.admit(clientOf(request));
    // The response of a request that waits behind others on its connection does not close with it.
    const stopListening = whenGone(request, leave);
    const end = () => {
      stopListening();
      leave();
    };
    reply.raw.once('close', end);
    try {
      const bytes = await this.experiments.results(request, job, {
        format,
        from: Number(query.from ?? job.record.from),
        ...(query.table !== undefined && { table: query.table }),
        ...(query.names !== undefined && { names: query.names }),
      });
      const held = await holdBeginning(bytes, HELD_BYTES);
      reply.header('job-status', job.progress.status);
      await sendAnswer(held, format, request, reply);
    } catch (error) {
      end();
      throw error;
    }
  }
}
