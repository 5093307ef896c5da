import { Controller, HttpCode, HttpStatus, Post, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiOperationOf } from './experiments.api.js';
import { invalid } from '../../../schema/json-path.js';
import { priceMs } from '../../../experiments/plan/prices.js';
import { apiPath } from '../../http/api-versions.js';
import { ModelHealth } from '../../health/model-health.js';
import { clientOf, siteOf } from '../../limits/client-address.js';
import { whenEnded, piecesWithoutIdleLimit, withoutIdleLimit } from '../../http/request-watch.js';
import { DOCUMENT_ROUTE } from '../../http/request-body.js';
import { idempotencyKeyOf, prefersAsync } from '../../http/request-headers.js';
import { JobsService } from '../../../jobs/jobs-service.js';
import { BrainBudget, type Charge } from '../../limits/brain-budget.js';
import { Admission } from '../../limits/admission.js';
import { HELD_BYTES, holdBeginning, sendAnswer, serverTiming } from './answer-bytes.js';
import { ALL_FORMATS, answerFormat, answerOrder, headersOf, ExperimentQuery } from './results-query.js';
import { openExperimentReport, type ExperimentReport } from './experiment-report.js';
import { ExperimentsService, RunningExperiment, type PreparedExperiment } from './experiments.service.js';
import { statusOf } from './job-status.js';

@ApiTags('Open experiments')
@Controller({ path: 'experiments', version: '2' })
export class ExperimentsController {
  constructor(
    private readonly experiments: ExperimentsService,
    private readonly admission: Admission,
    private readonly budget: BrainBudget,
    private readonly jobs: JobsService,
    private readonly health: ModelHealth,
  ) {}

  @Post()
  @ApiOperationOf('runOpenExperiment')
  @HttpCode(200)
  @RouteConfig(DOCUMENT_ROUTE)
  async run(@Query() query: ExperimentQuery, @Res() reply: FastifyReply): Promise<void> {
    // A shutdown waits for what has arrived, also while it waits to be planned.
    const endTask = this.health.beginLongTask();
    try {
      await this.#answer(query, reply);
    } finally {
      endTask();
    }
  }

  async #answer(query: ExperimentQuery, reply: FastifyReply): Promise<void> {
    const { request } = reply;
    const report = openExperimentReport(request);
    const isDryRun = query.dry_run === 'true';
    const format = answerFormat(query.format, request, isDryRun ? ['json'] : ALL_FORMATS);
    report.format = format;
    const isJob = prefersAsync(request);
    const order = answerOrder(query, format, 0);
    if (isJob && !isDryRun) {
      if (order.page !== undefined) {
        throw invalid([], 'page must not be given for a job: its results have pages. A job begins at from.');
      }
      await this.#begin(order.from, report, reply);
      return;
    }
    if (isDryRun) {
      const { id, json } = await this.experiments.dryRun(request, order, isJob);
      report.id = id;
      report.outcome = 'dry_run';
      reply.headers(serverTiming(reply));
      await sendAnswer({ whole: Buffer.from(json.buffer) }, 'json', reply);
      return;
    }
    const prepared = await this.experiments.prepare(request, order);
    report.id = prepared.planned.id;
    await this.#run(prepared, query, report, reply);
  }

  /** Makes the experiment a job. */
  async #begin(from: number, report: ExperimentReport, reply: FastifyReply): Promise<void> {
    const { request } = reply;
    const order = await this.experiments.prepareJob(request, from);
    report.id = order.planned.id;
    const requestKey = idempotencyKeyOf(request);
    const job = await this.jobs.begin({
      ...order,
      client: siteOf(request),
      // Two addresses of a site may choose the same key.
      requestKey: requestKey && `${clientOf(request)} ${requestKey}`,
    });
    report.outcome = 'job';
    reply
      .code(HttpStatus.ACCEPTED)
      .headers({
        location: `${apiPath('2', 'experiments')}/${job.record.id}`,
        'preference-applied': 'respond-async',
        'cache-control': 'no-store',
      })
      .send(statusOf(job));
  }

  async #run(
    prepared: PreparedExperiment,
    query: ExperimentQuery,
    report: ExperimentReport,
    reply: FastifyReply,
  ): Promise<void> {
    const { request } = reply;
    const { order, work, planned } = prepared;
    let leave = (): void => undefined;
    let charge: Charge;
    try {
      leave = this.admission.admit(siteOf(request));
      charge = await this.budget.charge(clientOf(request), planned.priceMs, reply);
    } catch (error) {
      leave();
      work.end();
      throw error;
    }
    const run = new RunningExperiment(prepared, siteOf(request), report, this.health, async () => {
      leave();
      await charge.settle(priceMs(report.work));
    });
    // The client may have gone while it was charged.
    whenEnded(request, () => void run.end());
    try {
      // A line is sent when it is there.
      const heldBytes = order.format === 'ndjson' ? 0 : HELD_BYTES;
      const answer = await withoutIdleLimit(request, () => run.answer());
      const held = await holdBeginning(piecesWithoutIdleLimit(request, answer.bytes), heldBytes);
      reply.headers({ ...serverTiming(reply), ...headersOf(answer, query, order.format) });
      await sendAnswer(held, order.format, reply);
    } catch (error) {
      await run.end();
      throw error;
    }
  }
}
