import { Body, Controller, HttpCode, Post, Query, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { siteOf } from '../../limits/client-address.js';
import { whenEnded } from '../../http/request-watch.js';
import { JSON_TYPE } from '../../http/static-body.js';
import { acceptsGzip } from '../../http/request-headers.js';
import { dtoOf } from '../../http/request-fields.js';
import { ApiOperationOf } from './operations.js';
import { experimentOf, type Experiment, type View } from '../../../experiments/presets/experiment.js';
import { FIELDS, QUERY_FIELDS } from '../../../experiments/presets/fields.js';
import { giveBackUnlessBegun, RunLimitGuard } from '../../limits/run-limit.guard.js';
import { runReports, RunService, type RunAnswer, type RunReport } from './run.service.js';

/** The body of POST /api/v1/run; absent fields take their defaults. */
export class RunRequest extends (dtoOf(FIELDS) as new () => Partial<Experiment>) {}

export class RunQuery extends (dtoOf(QUERY_FIELDS) as new () => { readonly view?: View }) {}

/** Name of this cache in the header Cache-Status. */
export const CACHE_NAME = 'neural-experiment-service';

@ApiTags('Experiments')
@Controller({ path: 'run', version: '1' })
export class RunController {
  constructor(private readonly runs: RunService) {}

  @Post()
  @ApiOperationOf('runExperiment')
  @HttpCode(200)
  @UseGuards(RunLimitGuard)
  async run(
    @Body() body: RunRequest,
    @Query() { view = QUERY_FIELDS.view.default }: RunQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { request } = reply;
    const gzip = acceptsGzip(request);
    const experiment = experimentOf(body);
    const report: RunReport = { experiment, view };
    runReports.set(request, report);
    const run = this.runs.run({
      experiment,
      view,
      gzip,
      client: siteOf(request),
      whenGone: (listener) => whenEnded(request, listener),
    });
    const answer = await run.catch(async (error: unknown) => {
      await giveBackUnlessBegun(error, reply);
      throw error;
    });
    report.answer = answer;
    const bytes = gzip ? await answer.result.gzip() : answer.result.identity;
    reply.headers({
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      vary: 'Accept-Encoding',
      'cache-status': `${CACHE_NAME}; ${answer.cacheStatus}`,
      'x-backend': answer.result.backend,
      'server-timing': serverTiming(answer, reply.elapsedTime),
    });
    if (gzip) reply.header('content-encoding', 'gzip');
    reply.send(bytes);
  }
}

function serverTiming({ timings }: RunAnswer, totalMs: number): string {
  const parts = timings && {
    queue: timings.queueMs,
    simulate: timings.timings.simulateMs,
    serialise: timings.timings.serialiseMs,
  };
  return Object.entries({ ...parts, total: totalMs })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`)
    .join(', ');
}
