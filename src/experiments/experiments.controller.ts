import { Controller, HttpCode, HttpStatus, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiExperiments } from '../answers/v2/api/experiments.api.js';
import { apiPath, type ApiVersion } from '../http/api-versions.js';
import { ModelHealth } from '../health/model-health.js';
import { clientOf } from '../http/client-address.js';
import { whenGone } from '../http/client-gone.js';
import { DOCUMENT_ROUTE } from '../http/document-route.js';
import { piecesWithoutIdleLimit } from '../http/idle-limit.js';
import { idempotencyKeyOf } from '../http/idempotency-key.js';
import { prefersAsync } from '../http/preferences.js';
import { JobsService } from '../jobs/jobs.service.js';
import { BrainBudget, type Charge } from '../rate-limit/brain-budget.js';
import { Admission } from './admission.js';
import { HELD_BYTES, holdBeginning } from './answer-bytes.js';
import { answerFormat, checkTable } from './answer-format.js';
import { ExperimentQuery } from './experiment-query.dto.js';
import { openExperimentReport, type ExperimentReport } from './experiment-report.js';
import { ExperimentsService, type PreparedExperiment } from './experiments.service.js';
import { statusOf } from './job-status.js';
import { sendAnswer } from './send-answer.js';

@ApiTags('Open experiments')
@Controller({ path: 'experiments', version: '2' satisfies ApiVersion })
export class ExperimentsController {
  constructor(
    private readonly experiments: ExperimentsService,
    private readonly admission: Admission,
    private readonly budget: BrainBudget,
    private readonly jobs: JobsService,
    private readonly health: ModelHealth,
  ) {}

  @Post()
  @ApiExperiments()
  @HttpCode(200)
  @RouteConfig(DOCUMENT_ROUTE)
  async run(
    @Query() query: ExperimentQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const report = openExperimentReport(request);
    // A shutdown waits for what has arrived, also while it waits to be planned.
    const endTask = this.health.beginLongTask();
    try {
      await this.#answer(query, request, reply, report);
    } finally {
      endTask();
    }
  }

  async #answer(
    query: ExperimentQuery,
    request: FastifyRequest,
    reply: FastifyReply,
    report: ExperimentReport,
  ): Promise<void> {
    const isDryRun = query.dry_run === 'true';
    const format = answerFormat(query.format, request, isDryRun ? ['json'] : undefined);
    checkTable(query, format);
    report.format = format;
    const isJob = prefersAsync(request);
    const from = Number(query.from ?? 0);
    if (isJob && !isDryRun) {
      await this.#begin(from, request, reply, report);
      return;
    }
    const order = {
      format,
      from,
      ...(query.table !== undefined && { table: query.table }),
      ...(query.names !== undefined && { names: query.names }),
    };
    if (isDryRun) {
      const { id, json } = await this.experiments.dryRun(request, order, isJob);
      report.id = id;
      report.outcome = 'dry_run';
      await sendAnswer({ whole: json }, 'json', request, reply);
      return;
    }
    const prepared = await this.experiments.prepare(request, order);
    report.id = prepared.plan.head.id;
    await this.#run(prepared, request, reply, report);
  }

  /** Makes the experiment a job. */
  async #begin(
    from: number,
    request: FastifyRequest,
    reply: FastifyReply,
    report: ExperimentReport,
  ): Promise<void> {
    const order = await this.experiments.prepareJob(request, from);
    report.id = order.plan.head.id;
    const job = await this.jobs.begin({
      ...order,
      client: clientOf(request),
      requestKey: idempotencyKeyOf(request),
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
    request: FastifyRequest,
    reply: FastifyReply,
    report: ExperimentReport,
  ): Promise<void> {
    const client = clientOf(request);
    const { brainMs, order } = prepared;
    const leave = this.admission.admit(client);
    let charge: Charge;
    try {
      charge = await this.budget.charge(client, brainMs, reply);
    } catch (error) {
      leave();
      throw error;
    }
    const run = this.experiments.start(prepared, client, report);
    let stopListening = (): void => undefined;
    let isOver = false;
    const end = async () => {
      if (isOver) return;
      isOver = true;
      stopListening();
      run.end();
      leave();
      await charge.giveBack(brainMs - Math.ceil(report.brainSeconds * 1000));
    };
    // The client may have gone while it was charged.
    stopListening = whenGone(request, () => void end());
    // Also where the connection breaks while nobody asks for more of the answer.
    reply.raw.once('close', () => void end());
    try {
      // A line is sent when it is there.
      const heldBytes = order.format === 'ndjson' ? 0 : HELD_BYTES;
      const bytes = piecesWithoutIdleLimit(request, await run.bytes());
      const held = await holdBeginning(bytes, heldBytes);
      await sendAnswer(held, order.format, request, reply);
    } catch (error) {
      await end();
      throw error;
    }
  }
}
