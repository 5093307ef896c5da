import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip as gzipCallback, type ZlibOptions } from 'node:zlib';
import { Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { dryRunJson } from '../answers/v2/answer-json.js';
import { ApiExperiments } from '../answers/v2/api/experiments.api.js';
import { FORMATS, TABLE_FORMATS, type Format } from '../answers/v2/formats/formats.js';
import { CodedError } from '../errors.js';
import type { ApiVersion } from '../http/api-versions.js';
import { clientOf } from '../http/client-address.js';
import { whenGone } from '../http/client-gone.js';
import { acceptsGzip } from '../http/content-encoding.js';
import { DOCUMENT_ROUTE } from '../http/document-route.js';
import { BrainBudget, type Charge } from '../rate-limit/brain-budget.js';
import { Admission } from './admission.js';
import { holdBeginning, type HeldAnswer } from './answer-bytes.js';
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
    if (isDryRun) {
      report.outcome = 'dry_run';
      await this.#send({ whole: Buffer.from(dryRunJson(prepared.plan.dryRun())) }, format, request, reply);
      return;
    }
    await this.#run(prepared, request, reply, report);
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
    const { socket } = request.raw;
    const idleMs = socket.timeout ?? 0;
    // It is silent until the beginning of the answer is there, however long that takes.
    socket.setTimeout(0);
    try {
      const bytes = await run.bytes();
      // A line is sent when it is there.
      const held = await holdBeginning(bytes, order.format === 'ndjson' ? 0 : HELD_BYTES);
      socket.setTimeout(idleMs);
      await this.#send(held, order.format, request, reply);
    } catch (error) {
      socket.setTimeout(idleMs);
      await end();
      throw error;
    }
  }

  async #send(held: HeldAnswer, format: Format, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { mediaType, parameters } = FORMATS[format];
    const gzipped = TEXT_FORMATS.includes(format) && acceptsGzip(request);
    reply.headers({
      'content-type': mediaType + parameters,
      'cache-control': 'no-store',
      vary: 'Accept, Accept-Encoding',
      'x-backend': 'cpu',
      'server-timing': `total;dur=${reply.elapsedTime.toFixed(2)}`,
      // A proxy that collects lines would take away what they are for.
      ...(format === 'ndjson' && { 'x-accel-buffering': 'no' }),
      ...(gzipped && { 'content-encoding': 'gzip' }),
    });
    if ('whole' in held) {
      reply.send(gzipped ? await gzip(held.whole, { level: GZIP_LEVEL }) : held.whole);
    } else {
      const bytes = Readable.from(held.stream, { objectMode: false });
      // Fastify ends the connection over a stream that fails; the callback is there because pipeline wants one.
      reply.send(gzipped ? pipeline(bytes, createGzip(gzipOptions(format)), () => undefined) : bytes);
    }
  }
}

function gzipOptions(format: Format): ZlibOptions {
  return { level: GZIP_LEVEL, ...(format === 'ndjson' && { flush: constants.Z_SYNC_FLUSH }) };
}

/** @throws CodedError INVALID_PARAMETER */
function checkTable({ table, names }: ExperimentQuery, format: Format): void {
  const [given] = Object.entries({ table, names }).filter(([, value]) => value !== undefined);
  if (given === undefined || (TABLE_FORMATS as readonly Format[]).includes(format)) return;
  throw new CodedError(
    'INVALID_PARAMETER',
    `${given[0]} may be given only with one of the formats ${TABLE_FORMATS.join(', ')}, got ${format}.`,
    { path: '' },
  );
}
