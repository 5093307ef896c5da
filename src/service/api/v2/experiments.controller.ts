import { Controller, HttpCode, HttpStatus, Post, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiOperationOf } from './operations.js';
import { invalid } from '../../../engine/schema/json-path.js';
import { apiPath } from '../../http/api-versions.js';
import { ModelHealth } from '../../health/model-health.js';
import { piecesWithoutIdleLimit, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { DOCUMENT_ROUTE } from '../../http/request-body.js';
import { publicPrefix } from '../../http/public-address.js';
import { prefersAsync } from '../../http/request-headers.js';
import { HELD_BYTES, holdBeginning, sendAnswer, serverTiming } from './answer-bytes.js';
import { ALL_FORMATS, answerRequest, headersOf } from '../../../experiments/formats/queries.js';
import { answerFormat, ExperimentQuery } from './queries.js';
import { openExperimentReport } from './experiment-report.js';
import { ExperimentsService } from './experiments.service.js';
import { statusOf } from './job-status.js';

@ApiTags('Open experiments')
@Controller({ path: 'experiments', version: '2' })
export class ExperimentsController {
  constructor(
    private readonly experiments: ExperimentsService,
    private readonly health: ModelHealth,
  ) {}

  @Post()
  @ApiOperationOf('runOpenExperiment')
  @HttpCode(200)
  @RouteConfig(DOCUMENT_ROUTE)
  async run(@Query() query: ExperimentQuery, @Res() reply: FastifyReply): Promise<void> {
    const { request } = reply;
    // Shutdown waits for a request from its arrival, even while it waits to be planned.
    whenEnded(request, this.health.beginTask());
    const report = openExperimentReport(request);
    const isDryRun = query.dry_run === 'true';
    const format = answerFormat(query.format, request, isDryRun ? ['json'] : ALL_FORMATS);
    report.format = format;
    const isJob = prefersAsync(request);
    const beginsJob = isJob && !isDryRun;
    if (beginsJob) checkJobQuery(query);
    const wanted = answerRequest(query, format, 0);
    if (beginsJob) {
      const job = await this.experiments.beginJob(wanted.from, report, reply);
      const prefix = publicPrefix(request);
      reply
        .code(HttpStatus.ACCEPTED)
        .headers({
          location: `${prefix}${apiPath('2', 'experiments')}/${job.record.id}`,
          'preference-applied': 'respond-async',
          'cache-control': 'no-store',
        })
        .send(statusOf(job, prefix));
      return;
    }
    if (isDryRun) {
      const { id, json } = await this.experiments.dryRun(request, wanted, isJob);
      report.id = id;
      report.outcome = 'dry_run';
      reply.headers(serverTiming(reply));
      await sendAnswer({ whole: Buffer.from(json.buffer) }, 'json', reply);
      return;
    }
    const prepared = await this.experiments.prepare(request, wanted);
    report.id = prepared.planned.id;
    const begun = await this.experiments.begin(prepared, report, reply);
    if ('bytes' in begun) {
      reply.headers({ ...serverTiming(reply), ...headersOf(begun.head, query, format) });
      await sendAnswer({ whole: begun.bytes }, format, reply);
      return;
    }
    try {
      // Lines are sent as soon as they exist.
      const heldBytes = format === 'ndjson' ? 0 : HELD_BYTES;
      const answer = await withoutIdleLimit(request, () => begun.answer());
      const held = await holdBeginning(piecesWithoutIdleLimit(request, answer.bytes), heldBytes);
      reply.headers({ ...serverTiming(reply), ...headersOf(answer, query, format) });
      await sendAnswer(held, format, reply);
    } catch (error) {
      await begun.end();
      throw error;
    }
  }
}

/** Refuses members of a query that only results have. */
function checkJobQuery({ page, format, table, names, truncate }: ExperimentQuery): void {
  if (page !== undefined) {
    throw invalid([], 'page must not be given for a job: its results have pages. A job begins at from.');
  }
  for (const [name, value] of Object.entries({ format, table, names, truncate })) {
    if (value === undefined) continue;
    throw invalid([], `${name} must not be given for a job, only for its results, got ${value}.`);
  }
}
