import { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip as gzipCallback } from 'node:zlib';
import { Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { dryRunJson } from '../answers/v2/answer-json.js';
import { ApiExperiments } from '../answers/v2/api/experiments.api.js';
import { FORMATS, TABLE_FORMATS, type Format } from '../answers/v2/formats/formats.js';
import { CodedError } from '../errors.js';
import { ModelHealth } from '../health/model-health.js';
import type { ApiVersion } from '../http/api-versions.js';
import { clientOf } from '../http/client-address.js';
import { whenGone } from '../http/client-gone.js';
import { acceptsGzip } from '../http/content-encoding.js';
import { DOCUMENT_ROUTE } from '../http/error.filter.js';
import { BrainBudget } from '../rate-limit/brain-budget.js';
import { Admission } from './admission.js';
import { holdBeginning, type Bytes } from './answer-bytes.js';
import { answerFormat } from './answer-format.js';
import { ExperimentQuery } from './experiment-query.dto.js';
import { openExperimentReport, type ExperimentReport } from './experiment-report.js';
import { ExperimentsService, type PreparedExperiment } from './experiments.service.js';

const gzip = promisify(gzipCallback);
/** As for runs: further levels take much longer and save little. */
const GZIP_LEVEL = 3;
/** An answer up to this length has a Content-Length, and its failure a status. */
const HELD_BYTES = 1024 * 1024;
const TEXT_FORMATS: readonly Format[] = ['json', 'ndjson', 'csv'];

@ApiTags('Open experiments')
@Controller({ path: 'experiments', version: '2' satisfies ApiVersion })
export class ExperimentsController {
  constructor(
    private readonly experiments: ExperimentsService,
    private readonly admission: Admission,
    private readonly budget: BrainBudget,
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
    const isDryRun = query.dry_run === 'true';
    const format = answerFormat(query.format, request, isDryRun ? ['json'] : undefined);
    checkTable(query, format);
    report.format = format;
    const prepared = this.experiments.prepare({
      document: request.body,
      format,
      from: Number(query.from ?? 0),
      ...(query.table !== undefined && { table: query.table }),
      ...(query.names !== undefined && { names: query.names }),
    });
    report.id = prepared.plan.head.id;
    const planMs = reply.elapsedTime;
    reply.header('cache-control', 'no-store');
    reply.header('vary', 'Accept, Accept-Encoding');
    if (isDryRun) {
      report.outcome = 'dry_run';
      const body = Buffer.from(dryRunJson(prepared.plan.dryRun()));
      await send({ whole: body }, format, request, reply, planMs);
      return;
    }
    await this.#run(prepared, request, reply, report, planMs);
  }

  async #run(
    prepared: PreparedExperiment,
    request: FastifyRequest,
    reply: FastifyReply,
    report: ExperimentReport,
    planMs: number,
  ): Promise<void> {
    const client = clientOf(request);
    const leave = this.admission.admit(client);
    const ends: (() => void)[] = [leave];
    const end = () => {
      for (const each of ends.splice(0)) each();
    };
    try {
      const { brainMs } = prepared;
      const charge = await this.budget.charge(client, brainMs, reply);
      const stop = new AbortController();
      const stopListening = whenGone(request, () => {
        stop.abort(new CodedError('RUN_CANCELLED', 'The client has gone.'));
      });
      const drained = () => stop.abort(this.health.ending.reason);
      this.health.ending.addEventListener('abort', drained);
      const endTask = this.health.beginLongTask();
      ends.push(stopListening, endTask, () => this.health.ending.removeEventListener('abort', drained), () => {
        void charge.giveBack(Math.max(0, brainMs - Math.ceil(report.brainSeconds * 1000)));
      });
      report.outcome = 'failed';
      const bytes = observed(await this.experiments.run(prepared, client, stop.signal, report), report, end);
      const { format } = prepared.order;
      // Of a line that must not wait for others nothing is held back.
      const held = format === 'ndjson' ? { stream: bytes } : await holdBeginning(bytes, HELD_BYTES);
      await send(held, format, request, reply, planMs);
    } catch (error) {
      end();
      throw error;
    }
  }
}
